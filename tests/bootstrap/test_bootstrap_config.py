"""What the stack file of the bootstrap accepts, and the finding for each mistake."""

from typing import Any

import pytest

from bootstrap.config import parse
from fleet.findings import StackFileError
from tests.bootstrap.bootstrap_samples import REMOVED, body, plan

STAGING = "environments.staging"


def findings(changes: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(StackFileError) as caught:
        plan(changes)
    return {one.path: f"{one.message}; {one.remedy}" for one in caught.value.findings}


def test_the_shipped_file_is_valid() -> None:
    found = plan()
    assert found.aws is not None
    assert found.oci is not None


@pytest.mark.parametrize("cloud", ["aws", "oci"])
def test_either_cloud_may_be_left_out(cloud: str) -> None:
    rest: dict[str, Any] = {
        "aws": {"environments.prod.clusters": REMOVED, STAGING: REMOVED},
        "oci": {"environments.prod.compartment_id": REMOVED},
    }[cloud]
    found = plan({cloud: REMOVED, **rest})
    assert getattr(found, cloud) is None


@pytest.mark.parametrize("issuer", ["github", "gitlab"])
def test_either_of_github_and_gitlab_may_be_left_out(issuer: str) -> None:
    branches = {f"environments.{name}.branch": REMOVED for name in ("staging", "prod")}
    found = plan({issuer: REMOVED, **(branches if issuer == "gitlab" else {})})
    assert found.aws is not None
    assert [one.kind for one in found.aws.providers] == [
        one for one in ("github", "gitlab") if one != issuer
    ]


@pytest.mark.parametrize(
    ("changes", "path", "text"),
    [
        ({"githup": {}}, "githup", "did you mean github"),
        ({"github.owner": "a/b"}, "github.owner", "write it like example-org"),
        ({"github.repository": "a*"}, "github.repository", "write it like infrastructure"),
        ({"github.owner_id": REMOVED}, "github.owner_id", "is missing, but repository_id is set"),
        (
            {"github.repository_id": REMOVED},
            "github.repository_id",
            "is missing, but owner_id is set",
        ),
        ({"github.owner_id": "100001"}, "github.owner_id", "is text, not a whole number"),
        ({"gitlab.project": "*/infrastructure"}, "gitlab.project", "write it like example-group"),
        ({"gitlab.project": "infrastructure"}, "gitlab.project", "write it like example-group"),
        ({"gitlab.url": "http://gitlab.com"}, "gitlab.url", "write it like https://gitlab.com"),
        ({"gitlab.url": "https://gitlab.com/"}, "gitlab.url", "write it like"),
        ({"environments": {}}, "environments", "is empty"),
        ({f"{STAGING}.branch": "*"}, f"{STAGING}.branch", "write it like main"),
        ({f"{STAGING}.branch": REMOVED}, f"{STAGING}.branch", "no GitLab job can deploy"),
        ({f"{STAGING}.clusters": REMOVED}, STAGING, "neither clusters nor compartment_id"),
        ({f"{STAGING}.clusters": ["CI"]}, f"{STAGING}.clusters[0]", "is not a valid name"),
        ({f"{STAGING}.clusters": ["c"] * 5}, f"{STAGING}.clusters", "at most 4"),
        ({f"{STAGING}.compartment_id": "x"}, f"{STAGING}.compartment_id", "like ocid1"),
        ({"aws.account_id": 111122223333}, "aws.account_id", ", not text"),
        ({"aws.account_id": "1111"}, "aws.account_id", 'write it like "111122223333"'),
        ({"aws.region": "west"}, "aws.region", "write it like us-west-2"),
        ({"aws.state.bucket": "State"}, "aws.state.bucket", "write it like example"),
        (
            {"aws.state.keep_versions_days": 0},
            "aws.state.keep_versions_days",
            "is 0, below the minimum of 1",
        ),
        ({"aws.permissions_boundary": "Ops"}, "aws.permissions_boundary", "like arn:aws:iam"),
        ({"oci.domain_url": "https://x.example"}, "oci.domain_url", "write it like https://idcs"),
        ({"oci.region": "ashburn"}, "oci.region", "write it like us-ashburn-1"),
        ({"name": "n" * 25}, "name", "shorten it to 24"),
        ({"tags": None}, "tags", "has no value"),
        ({"aws": None}, "aws", "has no value"),
    ],
)
def test_a_mistake_has_a_finding_with_its_path_and_remedy(
    changes: dict[str, Any], path: str, text: str
) -> None:
    found = findings(changes)
    assert text in found.get(path, ""), found


@pytest.mark.parametrize(
    ("changes", "path", "text"),
    [
        ({"aws": REMOVED}, f"{STAGING}.clusters", "there is no aws"),
        ({"oci": REMOVED}, "environments.prod.compartment_id", "there is no oci"),
        ({"gitlab": REMOVED}, f"{STAGING}.branch", "only GitLab deploys by branch"),
        (
            {"aws.oidc_providers.gitlab": "arn:aws:iam::1:oidc-provider/x", "gitlab": REMOVED},
            "aws.oidc_providers.gitlab",
            "there is no gitlab",
        ),
    ],
)
def test_a_part_without_its_section_is_refused(
    changes: dict[str, Any], path: str, text: str
) -> None:
    assert text in findings(changes).get(path, "")


@pytest.mark.parametrize("other", ["ci-staging", "ci-staging-2"])
def test_no_cluster_name_is_a_prefix_of_another_environments_cluster(other: str) -> None:
    found = findings({"environments.prod.clusters": [other]})
    assert f"environments.prod.clusters contains {other}" in found[f"{STAGING}.clusters"]
    assert plan({"environments.prod.clusters": ["ci-staging2"]}).aws is not None


@pytest.mark.parametrize("cluster", ["gpu", "gpu-runners", "gpu-runners-deploy"])
def test_no_cluster_name_is_a_prefix_of_a_deploy_role(cluster: str) -> None:
    found = findings({f"{STAGING}.clusters": [cluster]})
    assert "could change who may assume that role" in found[f"{STAGING}.clusters"]
    assert plan({f"{STAGING}.clusters": ["gpu-runners2"]}).aws is not None


def test_at_most_twenty_clusters_are_accepted() -> None:
    def environments(count: int) -> dict[str, Any]:
        return {
            f"e{one}": {"clusters": [f"c{one}x{two}" for two in range(4)], "branch": "main"}
            for one in range(count)
        }

    changes = {"oci": REMOVED, "environments": environments(5)}
    assert plan(changes).aws is not None
    found = findings({"oci": REMOVED, "environments": environments(6)})
    assert "have 24 clusters together" in found["environments"]


def test_a_bootstrap_needs_an_issuer_and_a_cloud() -> None:
    found = findings({"github": REMOVED, "gitlab": REMOVED})
    assert "has no github or gitlab" in found[""]
    assert "has no aws or oci" in findings({"aws": REMOVED, "oci": REMOVED})[""]


def test_all_errors_are_reported_at_once() -> None:
    found = findings({"aws.region": "west", "github.owner": "a b", f"{STAGING}.branch": "*"})
    assert set(found) == {"aws.region", "github.owner", f"{STAGING}.branch"}


@pytest.mark.parametrize("data", [None, [], "text", 3])
def test_a_value_that_is_not_a_map_is_refused(data: object) -> None:
    with pytest.raises(StackFileError, match=r"write gpu-runners-bootstrap:bootstrap: with"):
        parse(data, source="test")


def test_no_message_contains_a_value_of_the_file() -> None:
    secret = "a-secret-value"
    data = body({"aws.profile": [secret], "oci.client_id": {"secret": secret}})
    with pytest.raises(StackFileError) as caught:
        parse(data, source="test")
    assert secret not in str(caught.value)
