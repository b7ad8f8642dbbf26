"""Components for GitLab: a created or an existing runner, and its manager."""

from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_gitlab as gitlab
import pulumi_kubernetes as kubernetes
import pytest

from components.runners.gitlab_lane import GitLabLane
from tests import fleets
from tests.computed import GITLAB_TOKEN
from tests.engine import Registered, deploy, deploy_both, remembered
from tests.wire import UNKNOWN

TOKEN = "glrt-of-an-existing-runner"
CHART = kubernetes.helm.v4.Chart
SECRET = kubernetes.core.v1.Secret

CREATED: dict[str, Any] = {"runner": {"group_id": 42}}
GIVEN: dict[str, Any] = {"runner": None, "token": {"secret": "t4Token"}}
EXISTING: dict[str, Any] = {"runner": None, "existing_secret": "theirs"}


@remembered
def made(
    lane: dict[str, Any], *, known: bool = True, token: str = TOKEN, url: str = "https://gitlab.com"
) -> Registered:
    plan = fleets.cluster({"gitlab": {"url": url, "lanes": {"t4": lane}}}).gitlab
    assert plan is not None
    (one,) = plan.lanes

    def program() -> None:
        opts = fleets.providers()
        pool = aws.eks.Addon("pool", cluster_name="ci", addon_name="in-place-of-a-pool")
        given = pulumi.Output.secret(token) if one.token_secret is not None else None
        GitLabLane("lane", plan=one, token=given, depends_on=[pool], opts=opts)

    return deploy_both(program) if known else deploy(program, known=False)


def runner(found: Registered) -> dict[str, Any]:
    return found.one(gitlab.UserRunner).inputs


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        ({"group_id": 42}, {"runnerType": "group_type", "groupId": 42}),
        ({"group_id": None, "project_id": 7}, {"runnerType": "project_type", "projectId": 7}),
        ({"group_id": None, "instance": True}, {"runnerType": "instance_type"}),
    ],
    ids=["group", "project", "instance"],
)
def test_a_runner_belongs_to_its_owner(owner: dict[str, Any], expected: dict[str, Any]) -> None:
    # gitlab.com has no instance runners for its users.
    sent = runner(made({"runner": owner}, url="https://gitlab.example"))
    assert {key: sent[key] for key in ("runnerType", "groupId", "projectId") if key in sent} == (
        expected
    )


def test_the_runners_properties_are_code() -> None:
    lane = {**CREATED, "tags": ["gpu", "t4"], "maximum_timeout": 3600, "protected": True}
    sent = runner(made({**lane, "run_untagged": True, "locked": False}))
    assert sent["tagLists"] == ["gpu", "t4"]
    assert sent["maximumTimeout"] == 3600
    assert sent["accessLevel"] == "ref_protected"
    assert sent["untagged"] is True
    assert sent["locked"] is False
    assert sent["paused"] is False
    assert sent["description"] == "t4 on ci"


def test_a_runner_takes_no_more_than_it_must() -> None:
    sent = runner(made(CREATED))
    assert sent["accessLevel"] == "not_protected"
    assert sent["untagged"] is False, "a GPU is not for jobs that did not ask for one"
    assert sent["locked"] is True


def test_a_paused_lane_takes_no_jobs_and_runs_no_manager() -> None:
    found = made({**CREATED, "paused": True})
    assert runner(found)["paused"] is True
    assert found.one(CHART).inputs["values"]["replicas"] == 0


@pytest.mark.parametrize(
    ("lane", "token"), [(CREATED, GITLAB_TOKEN), (GIVEN, TOKEN)], ids=["created", "given"]
)
def test_the_token_lies_in_a_secret_with_both_keys_of_the_chart(
    lane: dict[str, Any], token: str
) -> None:
    found = made(lane)
    secret = found.one(SECRET)
    both = {"runner-token": token, "runner-registration-token": ""}
    assert secret.inputs["stringData"] == both, "the chart projects both keys, also an empty one"
    assert secret.values.is_secret("stringData", "runner-token")
    assert secret.inputs["metadata"]["namespace"] == found.one(CHART).inputs["namespace"]


@pytest.mark.parametrize("lane", [CREATED, GIVEN, EXISTING], ids=["created", "given", "existing"])
def test_the_manager_gets_the_name_of_the_secret_only(lane: dict[str, Any]) -> None:
    found = made(lane)
    release = found.one(CHART)
    secrets = found.find(SECRET)
    expected = secrets[0].inputs["metadata"]["name"] if secrets else "theirs"
    assert release.inputs["values"]["runners"]["secret"] == expected
    assert not release.values.secret_paths
    assert all("glrt-" not in text for _, text in release.values.texts())
    for secret in secrets:
        assert secret.urn in release.depends_on, "the manager reads it when it starts"


def annotation(found: Registered) -> str | None:
    values = found.one(CHART).inputs["values"]
    return values.get("podAnnotations", {}).get("gpu-runners/token")


def test_a_new_token_restarts_the_manager() -> None:
    first, second = (made(GIVEN, token=f"{TOKEN}-{number}") for number in (1, 2))
    assert annotation(first) != annotation(second), "the chart watches no Secret of ours"
    for found in (first, second):
        assert len(annotation(found) or "") == 12, "a token cannot be derived from its annotation"
        assert not found.one(CHART).values.secret_paths
    assert annotation(made(EXISTING)) is None, "the program does not read an existing Secret"


def test_a_token_that_is_still_unknown_hides_only_its_annotation() -> None:
    assert annotation(made(CREATED, known=False)) == UNKNOWN
    assert len(annotation(made(CREATED)) or "") == 12


def test_a_runner_is_created_for_no_token_that_exists() -> None:
    assert made(GIVEN).find(gitlab.UserRunner) == []
    found = made(EXISTING)
    assert found.find(gitlab.UserRunner) == found.find(SECRET) == []


@pytest.mark.parametrize("lane", [CREATED, EXISTING], ids=["created", "existing"])
def test_a_manager_waits_for_its_pools(lane: dict[str, Any]) -> None:
    found = made(lane)
    pool = found.one(aws.eks.Addon)
    for one in (*found.find(CHART), *found.find(SECRET)):
        assert pool.urn in one.depends_on


def test_what_a_manager_needs_for_its_last_job_outlives_it() -> None:
    found = made(CREATED)
    (chart,) = found.find(CHART)
    needed = [
        found.one(kubernetes.core.v1.ServiceAccount),
        found.one(kubernetes.rbac.v1.RoleBinding),
        found.one(SECRET),
    ]
    for one in needed:
        assert one.urn in chart.depends_on, f"{one.name} is removed after the manager"
    values = chart.inputs["values"]
    assert values["serviceAccount"] == {
        "name": needed[0].inputs["metadata"]["name"],
        "create": False,
    }
    assert values["rbac"] == {"create": False}


def test_what_replaces_the_runner_replaces_everything_with_its_token() -> None:
    before, after = made(CREATED), made({"runner": {"group_id": None, "project_id": 7}})
    for kind in (CHART, SECRET, gitlab.UserRunner):
        assert before.one(kind).name != after.one(kind).name, "the old one drains under its own URN"
    same = made({**CREATED, "concurrent": 9, "tags": ["other"]})
    assert {one.urn for one in before.resources} == {one.urn for one in same.resources}


def test_a_lane_outputs_its_tags() -> None:
    found = made(CREATED)
    (outputs,) = found.outputs[found.one("gpu-runners:runners:GitLabLane").urn]
    assert outputs.data == {"tags": ["gpu"]}
