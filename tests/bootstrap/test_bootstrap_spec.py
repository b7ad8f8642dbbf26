"""What an administrator may write, and what is said of each slip."""

from __future__ import annotations

from typing import Any

import pytest

from bootstrap.parse import load
from fleet.findings import StackFileError
from tests.bootstrap.bootstraps import GONE, body, plan

STAGING = "environments.staging"


def problems(changes: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(StackFileError) as caught:
        plan(changes)
    return {one.path: f"{one.message}; {one.remedy}" for one in caught.value.findings}


def test_the_shipped_file_is_good() -> None:
    found = plan()
    assert found.aws is not None
    assert found.oci is not None


@pytest.mark.parametrize("cloud", ["aws", "oci"])
def test_either_cloud_may_be_left_out(cloud: str) -> None:
    rest: dict[str, Any] = {
        "aws": {"environments.prod.clusters": GONE, STAGING: GONE},
        "oci": {"environments.prod.compartment_id": GONE},
    }[cloud]
    found = plan({cloud: GONE, **rest})
    assert getattr(found, cloud) is None


@pytest.mark.parametrize("issuer", ["github", "gitlab"])
def test_either_of_github_and_gitlab_may_be_left_out(issuer: str) -> None:
    branches = {f"environments.{name}.branch": GONE for name in ("staging", "prod")}
    found = plan({issuer: GONE, **(branches if issuer == "gitlab" else {})})
    assert found.aws is not None
    assert [one.kind for one in found.aws.providers] == [
        one for one in ("github", "gitlab") if one != issuer
    ]


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"githup": {}}, "githup", "did you mean github"),
        ({"github.owner": "a/b"}, "github.owner", "write it like example-org"),
        ({"github.repository": "a*"}, "github.repository", "write it like infrastructure"),
        ({"github.owner_id": GONE}, "github.owner_id", "is missing beside repository_id"),
        ({"github.repository_id": GONE}, "github.repository_id", "is missing beside owner_id"),
        ({"github.owner_id": "100001"}, "github.owner_id", "is not a whole number"),
        ({"gitlab.project": "*/infrastructure"}, "gitlab.project", "write it like example-group"),
        ({"gitlab.project": "infrastructure"}, "gitlab.project", "write it like example-group"),
        ({"gitlab.url": "http://gitlab.com"}, "gitlab.url", "write it like https://gitlab.com"),
        ({"gitlab.url": "https://gitlab.com/"}, "gitlab.url", "write it like"),
        ({"environments": {}}, "environments", "is empty"),
        ({f"{STAGING}.branch": "*"}, f"{STAGING}.branch", "write it like main"),
        ({f"{STAGING}.branch": GONE}, f"{STAGING}.branch", "no GitLab job could deploy it"),
        ({f"{STAGING}.clusters": GONE}, STAGING, "neither clusters nor compartment_id"),
        ({f"{STAGING}.clusters": ["CI"]}, f"{STAGING}.clusters[0]", "is not a usable name"),
        ({f"{STAGING}.clusters": ["c"] * 5}, f"{STAGING}.clusters", "more than 4"),
        ({f"{STAGING}.compartment_id": "x"}, f"{STAGING}.compartment_id", "like ocid1"),
        ({"aws.account_id": 111122223333}, "aws.account_id", "is not text"),
        ({"aws.account_id": "1111"}, "aws.account_id", "write it like 111122223333"),
        ({"aws.region": "west"}, "aws.region", "write it like us-west-2"),
        ({"aws.state.bucket": "State"}, "aws.state.bucket", "write it like example"),
        ({"aws.state.keep_versions_days": 0}, "aws.state.keep_versions_days", "is below 1"),
        ({"aws.permissions_boundary": "Ops"}, "aws.permissions_boundary", "like arn:aws:iam"),
        ({"oci.domain_url": "https://x.example"}, "oci.domain_url", "write it like https://idcs"),
        ({"oci.region": "ashburn"}, "oci.region", "write it like us-ashburn-1"),
        ({"name": "n" * 25}, "name", "shorten it to 24"),
        ({"tags": None}, "tags", "is present, but has no value"),
        ({"aws": None}, "aws", "is present, but has no value"),
    ],
)
def test_a_slip_is_told_with_its_path_and_remedy(
    changes: dict[str, Any], path: str, words: str
) -> None:
    found = problems(changes)
    assert words in found.get(path, ""), found


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"aws": GONE}, f"{STAGING}.clusters", "there is no aws"),
        ({"oci": GONE}, "environments.prod.compartment_id", "there is no oci"),
        ({"gitlab": GONE}, f"{STAGING}.branch", "only GitLab deploys by branch"),
        (
            {"aws.oidc_providers.gitlab": "arn:aws:iam::1:oidc-provider/x", "gitlab": GONE},
            "aws.oidc_providers.gitlab",
            "there is no gitlab",
        ),
    ],
)
def test_a_part_without_what_it_belongs_to_is_told(
    changes: dict[str, Any], path: str, words: str
) -> None:
    assert words in problems(changes).get(path, "")


@pytest.mark.parametrize("other", ["ci-staging", "ci-staging-2"])
def test_no_environment_reaches_into_anothers_names(other: str) -> None:
    found = problems({"environments.prod.clusters": [other]})
    assert f"environments.prod.clusters {other}" in found[f"{STAGING}.clusters"]
    assert plan({"environments.prod.clusters": ["ci-staging2"]}).aws is not None


@pytest.mark.parametrize("cluster", ["gpu", "gpu-runners", "gpu-runners-deploy"])
def test_no_cluster_is_called_like_the_roles_that_deploy_it(cluster: str) -> None:
    found = problems({f"{STAGING}.clusters": [cluster]})
    assert "could let others become that role" in found[f"{STAGING}.clusters"]
    assert plan({f"{STAGING}.clusters": ["gpu-runners2"]}).aws is not None


def test_there_is_room_for_twenty_clusters() -> None:
    def environments(count: int) -> dict[str, Any]:
        return {
            f"e{one}": {"clusters": [f"c{one}x{two}" for two in range(4)], "branch": "main"}
            for one in range(count)
        }

    changes = {"oci": GONE, "environments": environments(5)}
    assert plan(changes).aws is not None
    found = problems({"oci": GONE, "environments": environments(6)})
    assert "have 24 clusters together" in found["environments"]


def test_somebody_must_be_trusted_with_something() -> None:
    found = problems({"github": GONE, "gitlab": GONE})
    assert "has no github or gitlab" in found[""]
    assert "has no aws or oci" in problems({"aws": GONE, "oci": GONE})[""]


def test_every_problem_is_told_at_once() -> None:
    found = problems({"aws.region": "west", "github.owner": "a b", f"{STAGING}.branch": "*"})
    assert set(found) == {"aws.region", "github.owner", f"{STAGING}.branch"}


@pytest.mark.parametrize("data", [None, [], "text", 3])
def test_what_is_no_map_is_refused_in_words(data: object) -> None:
    with pytest.raises(StackFileError, match=r"write gpu-runners-bootstrap:bootstrap: with"):
        load(data, source="test")


def test_a_message_never_holds_what_was_written() -> None:
    secret = "not-to-be-told"
    data = body({"aws.profile": [secret], "oci.client_id": {"secret": secret}})
    with pytest.raises(StackFileError) as caught:
        load(data, source="test")
    assert secret not in str(caught.value)
