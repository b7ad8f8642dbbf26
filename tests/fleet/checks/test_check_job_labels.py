"""Labels and tags of jobs, and the lanes on which such jobs may run."""

from typing import Any

import pytest

from fleet.findings import Finding
from tests.fleet.samples import SHIPPED, judged, loaded, refused, shipped_stack

RULES = ("words", "shared-words", "lane-name", "untagged", "one-runner")
GITLAB = "clusters.ci.gitlab.lanes"
GITHUB = "clusters.ci.github.lanes"


def pool(gpu: str | None = None, gpus: int = 1, **more: Any) -> dict[str, Any]:
    size = {"cpu": 64, "memory": "500Gi", "disk": "900Gi", "count": 1}
    return {**size, **({"gpu": gpu, "gpus": gpus, "driver": "580.95"} if gpu else {}), **more}


def fleet(
    *, gitlab: Any = None, github: Any = None, url: str = "https://github.com/example-org"
) -> dict[str, Any]:
    """Return a cluster with CPU nodes and three GPU models, and those lanes."""
    pools = {
        "cpu": pool(),
        "t4": pool("T4"),
        "a100": pool("A100-40GB", 8),
        "sliced": pool(
            "A100-40GB",
            8,
            sharing={"time_slicing": 4},
            labels={"nvidia.com/device-plugin.config": "time-slicing-4"},
        ),
    }
    cluster: dict[str, Any] = {
        "existing": {
            "context": "ci",
            "pools": {
                name: {**one, "labels": {"example.com/pool": name, **one.get("labels", {})}}
                for name, one in pools.items()
            },
        },
        "gpu_stack": {"advertiser": "device_plugin"},
    }
    if gitlab:
        cluster["gitlab"] = {"api_token": {"secret": "gitlabApiToken"}, "lanes": gitlab}
    if github:
        cluster["github"] = {"url": url, "existing_secret": "app", "lanes": github}
    return {"clusters": {"ci": cluster}}


def tagged(where: str, *tags: str, **more: Any) -> dict[str, Any]:
    gpus = more.pop("gpus", 1)
    owner = {} if {"token", "existing_secret"} & more.keys() else {"runner": {"group_id": 42}}
    size = {"gpus": gpus} if where != "cpu" else {"cpu": 1, "memory": "1Gi"}
    return {"pools": [where], **size, "tags": list(tags), **owner, **more}


def labelled(where: str, *labels: str, **more: Any) -> dict[str, Any]:
    size = {"gpus": more.pop("gpus", 1)} if where != "cpu" else {"cpu": 1, "memory": "1Gi"}
    return {"pools": [where], **size, "max_runners": 1, "labels": list(labels), **more}


def reported(data: dict[str, Any]) -> list[Finding]:
    return [finding for finding in judged(data) if finding.rule in RULES]


def test_a_gpu_job_that_may_run_on_another_model_is_an_error() -> None:
    lanes = {"t4": tagged("t4", "gpu"), "big": tagged("a100", "gpu", "a100")}
    (finding,) = reported(fleet(gitlab=lanes))
    assert (finding.rule, finding.severity) == ("words", "error")
    assert finding.path == f"{GITLAB}.t4.tags"
    assert finding.message == (
        "all of these tags (gpu) are also on big (A100-40GB): a job for T4 with them runs there too"
    )
    assert finding.remedy == (
        "give t4 a tag that the other lacks, like t4, or remove one of these from the other"
    )


def test_a_lane_with_a_tag_of_its_own_has_no_finding() -> None:
    lanes = {"t4": tagged("t4", "gpu-t4"), "big": tagged("a100", "gpu-a100", "a100")}
    assert reported(fleet(gitlab=lanes)) == []


def test_lanes_with_equal_tags_are_reported_once() -> None:
    lanes = {f"l{index}": tagged(("t4", "a100")[index % 2], "gpu") for index in range(40)}
    (finding,) = reported(fleet(gitlab=lanes))
    assert finding.path == f"{GITLAB}.l0.tags"
    assert "also on l1 (A100-40GB), l3 (A100-40GB), l5 (A100-40GB) and 17 more: " in finding.message


def test_lanes_of_one_model_and_size_may_have_equal_tags() -> None:
    lanes = {"one": tagged("a100", "gpu"), "two": tagged("a100", "gpu", "a100")}
    assert reported(fleet(gitlab=lanes)) == []


def test_another_size_of_the_same_model_is_a_warning() -> None:
    lanes = {"whole": tagged("a100", "a100", gpus=8), "one": tagged("a100", "a100", "small")}
    (finding,) = reported(fleet(gitlab=lanes))
    assert (finding.rule, finding.severity) == ("words", "warning")
    assert finding.path == f"{GITLAB}.whole.tags"
    assert "also on one (A100-40GB): a job for 8 x A100-40GB" in finding.message


def test_a_slice_of_a_card_is_another_size() -> None:
    lanes = {"whole": tagged("a100", "a100"), "part": tagged("sliced", "a100", "slice")}
    (finding,) = reported(fleet(gitlab=lanes))
    assert finding.severity == "warning"
    assert "part (1/4 of a A100-40GB)" in finding.message


@pytest.mark.parametrize(
    ("lanes", "path"),
    [
        ({"g": tagged("t4", "x"), "c": tagged("cpu", "x", "y")}, "g"),
        ({"g": tagged("t4", "x", "y"), "c": tagged("cpu", "x")}, "c"),
    ],
    ids=["a GPU job without GPU", "a CPU job on a GPU"],
)
def test_a_lane_without_gpus_beside_one_with_is_a_warning(lanes: Any, path: str) -> None:
    (finding,) = reported(fleet(gitlab=lanes))
    assert (finding.severity, finding.path) == ("warning", f"{GITLAB}.{path}.tags")


def test_a_lane_with_both_models_has_no_finding() -> None:
    lanes = {"any": {**tagged("t4", "gpu"), "pools": ["t4", "a100"]}, "t4": tagged("t4", "gpu")}
    (finding,) = reported(fleet(gitlab=lanes))
    assert finding.severity == "warning", "t4 jobs may get an A100, through a lane that has both"
    assert finding.path == f"{GITLAB}.t4.tags"


@pytest.mark.parametrize(
    ("other", "severities"),
    [
        ({"runner": {"group_id": 42}}, ["error"]),
        ({"runner": {"group_id": 7}}, []),
        ({"runner": {"project_id": 7}}, []),
        ({"runner": {"instance": True}}, ["warning"]),
        ({"existing_secret": "runner-token"}, ["warning"]),
        ({"token": {"secret": "runnerToken"}}, ["warning"]),
    ],
    ids=["same group", "other group", "project", "instance", "secret", "token"],
)
def test_the_owners_decide_the_severity(other: dict[str, Any], severities: list[str]) -> None:
    big = {"pools": ["a100"], "gpus": 1, "tags": ["gpu", "a100"], **other}
    lanes = {"t4": tagged("t4", "gpu"), "big": big}
    assert [one.severity for one in reported(fleet(gitlab=lanes))] == severities


def test_lanes_of_another_gitlab_are_not_compared() -> None:
    data = fleet(gitlab={"t4": tagged("t4", "gpu")})
    other = fleet(gitlab={"big": tagged("a100", "gpu")})["clusters"]["ci"]
    other["existing"]["context"] = "other"
    other["gitlab"]["url"] = "https://gitlab.example.com"
    data["clusters"]["other"] = other
    assert reported(data) == []
    other["gitlab"]["url"] = "https://GitLab.com/"
    (finding,) = reported(data)
    assert finding.severity == "error"
    assert "big of cluster other (A100-40GB)" in finding.message


def test_a_paused_lane_counts_and_the_message_has_it() -> None:
    lanes = {"t4": tagged("t4", "gpu"), "big": tagged("a100", "gpu", "a100", paused=True)}
    (finding,) = reported(fleet(gitlab=lanes))
    assert "big (A100-40GB, paused)" in finding.message


def test_case_matters_in_tags_and_not_in_labels() -> None:
    assert reported(fleet(gitlab={"t4": tagged("t4", "GPU"), "big": tagged("a100", "gpu")})) == []
    (finding,) = reported(
        fleet(github={"x": labelled("t4", "GPU"), "y": labelled("a100", "gpu", "z")})
    )
    assert (finding.severity, finding.path) == ("warning", f"{GITHUB}.x.labels")


def test_labels_of_a_scale_set_that_another_model_has_too_are_a_warning_its_name_is_its_own() -> (
    None
):
    lanes = {"x": labelled("t4", "gpu", "linux"), "y": labelled("a100", "gpu", "linux", "a100")}
    (finding,) = reported(fleet(github=lanes))
    assert (finding.rule, finding.severity, finding.path) == (
        "words",
        "warning",
        f"{GITHUB}.x.labels",
    )
    assert "a job for T4 with only them may run there" in finding.message
    assert finding.remedy.startswith("write runs-on: x in workflows")


def test_a_scale_set_without_labels_is_selected_by_its_name() -> None:
    assert reported(fleet(github={"x": labelled("t4"), "y": labelled("a100", "gpu")})) == []


def test_labels_without_hardware_are_a_warning() -> None:
    lanes = {
        "x": labelled("t4", "self-hosted", "linux", "x64"),
        "y": labelled("a100", "self-hosted", "Linux", "X64"),
    }
    (finding,) = reported(fleet(github=lanes))
    assert (finding.rule, finding.severity) == ("words", "warning")
    assert finding.remedy.startswith("write runs-on: x in workflows")


def test_another_runner_group_is_a_warning() -> None:
    lanes = {"x": labelled("t4", "gpu"), "y": labelled("a100", "gpu", "a100", group="Big")}
    (finding,) = reported(fleet(github=lanes))
    assert (finding.rule, finding.severity) == ("words", "warning")


def test_a_label_shared_by_several_models_is_one_warning() -> None:
    lanes = {
        "t4": tagged("t4", "gpu", "cuda", "linux", "t4"),
        "big": tagged("a100", "gpu", "cuda", "linux", "a100"),
        "docker": tagged("cpu", "docker", "linux"),
    }
    (finding,) = reported(fleet(gitlab=lanes))
    assert (finding.rule, finding.severity) == ("shared-words", "warning")
    assert finding.path == f"{GITLAB}.t4.tags"
    assert finding.message == (
        "lanes with different GPUs share cuda, gpu: a job with no other tags runs on any of "
        "t4 (T4), big (A100-40GB)"
    )


def test_a_hardware_label_on_a_lane_without_gpus_is_shared_too() -> None:
    lanes = {"t4": tagged("t4", "cuda", "t4"), "build": tagged("cpu", "cuda", "build")}
    (finding,) = reported(fleet(gitlab=lanes))
    assert finding.rule == "shared-words"
    lanes = {"t4": tagged("t4", "team", "t4"), "build": tagged("cpu", "team", "build")}
    assert reported(fleet(gitlab=lanes)) == []


def test_tags_of_two_owners_are_not_shared() -> None:
    lanes = {"x": tagged("t4", "gpu", "x"), "y": tagged("a100", "gpu", "y", runner={"group_id": 7})}
    assert reported(fleet(gitlab=lanes)) == []


def test_the_name_of_another_lane_as_a_label_is_an_error() -> None:
    lanes = {"gpu-t4": labelled("t4"), "big": labelled("a100", "GPU-T4")}
    (finding,) = reported(fleet(github=lanes))
    assert (finding.rule, finding.severity) == ("lane-name", "error")
    assert finding.path == f"{GITHUB}.big.labels"
    assert finding.message == (
        "has the name of gpu-t4 (T4): a job with runs-on: gpu-t4 may run here, on A100-40GB"
    )
    assert finding.remedy == "remove the label gpu-t4"


def test_the_name_of_a_lane_of_the_same_hardware_is_a_warning() -> None:
    (finding,) = reported(fleet(github={"old": labelled("t4"), "new": labelled("t4", "old")}))
    assert (finding.rule, finding.severity) == ("lane-name", "warning")


def test_one_name_in_two_groups_is_reported_if_the_hardware_differs() -> None:
    other = fleet(github={"gpu": labelled("a100", group="Big")})["clusters"]["ci"]
    other["existing"]["context"] = "other"
    data = fleet(github={"gpu": labelled("t4")})
    data["clusters"]["other"] = other
    (finding,) = reported(data)
    assert (finding.rule, finding.severity) == ("lane-name", "warning")
    assert finding.path == "clusters.other.github.lanes.gpu"
    assert "gpu of cluster ci (T4) of another runner group" in finding.message
    other["github"]["lanes"]["gpu"]["pools"] = ["t4"]
    assert reported(data) == []


def test_one_name_in_one_group_is_reported_as_scale_set_name() -> None:
    other = fleet(github={"gpu": labelled("a100")})["clusters"]["ci"]
    other["existing"]["context"] = "other"
    data = fleet(github={"gpu": labelled("t4")})
    data["clusters"]["other"] = other
    assert reported(data) == []
    assert [one.rule for one in judged(data) if one.severity == "error"] == ["scale-set-name"]


def test_a_gpu_lane_that_takes_jobs_without_tags_is_a_warning() -> None:
    (finding,) = reported(fleet(gitlab={"t4": tagged("t4", "t4", run_untagged=True)}))
    assert (finding.rule, finding.severity) == ("untagged", "warning")
    assert finding.path == f"{GITLAB}.t4.run_untagged"
    assert reported(fleet(gitlab={"cpu": tagged("cpu", "cpu", run_untagged=True)})) == []


@pytest.mark.parametrize("key", ["token", "existing_secret"])
def test_two_lanes_of_one_token_are_one_runner(key: str) -> None:
    value = {"secret": "runnerToken"} if key == "token" else "runner-token"
    lanes = {
        "t4": tagged("t4", "t4", **{key: value}),
        "big": tagged("a100", "a100", **{key: value}),
    }
    (finding,) = reported(fleet(gitlab=lanes))
    assert (finding.rule, finding.severity) == ("one-runner", "warning")
    assert finding.path == f"{GITLAB}.big.{key}"
    assert f"that of {GITLAB}.t4" in finding.message
    lanes["big"] = tagged("t4", "a100", **{key: value})
    assert reported(fleet(gitlab=lanes)) == [], "two managers of one runner, on the same hardware"


def test_one_token_for_jobs_with_and_without_gpus_is_a_warning() -> None:
    token = {"token": {"secret": "runnerToken"}}
    lanes = {"t4": tagged("t4", "t4", **token), "c": tagged("cpu", "cpu", **token)}
    (finding,) = reported(fleet(gitlab=lanes))
    assert (finding.rule, finding.severity) == ("one-runner", "warning")


def test_a_lane_on_a_pool_with_an_error_has_no_finding() -> None:
    data = fleet(gitlab={"t4": tagged("t4", "gpu"), "big": tagged("a100", "gpu", "a100")})
    data["clusters"]["ci"]["existing"]["pools"]["a100"]["gpu"] = "A1000"
    assert [one.path for one in refused(data)] == ["clusters.ci.existing.pools.a100.gpu"]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_stacks_have_no_finding_about_labels(name: str) -> None:
    fleet_ = loaded(shipped_stack(name))
    assert [one for one in fleet_.findings if one.rule == "lane-name"] == []
