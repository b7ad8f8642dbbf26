"""Settings that GitHub or GitLab ignore, refuse, or read in another way."""

from typing import Any

import pytest

from tests.fleet.checks.planted import cards, existing_of, found, stack_of
from tests.fleet.samples import every_key

SITE = "clusters.site"
OWN = "https://gitlab.example.com"


def github(url: str = "https://github.com/example-org", **lane: Any) -> dict[str, Any]:
    data = existing_of({"a": cards("A100-40GB")}, {"gpu": {"pools": ["a"], "gpus": 1, **lane}})
    data["clusters"]["site"]["github"]["url"] = url
    return data


def gitlab(lane: dict[str, Any], url: str = OWN, model: str = "A100-40GB") -> dict[str, Any]:
    data = existing_of({"a": cards(model), "cpu": {}}, {})
    cluster = data["clusters"]["site"]
    del cluster["github"]
    cluster["gitlab"] = {
        "url": url,
        "api_token": {"secret": "gitlabApiToken"},
        "lanes": {"gl": {"pools": ["a"], "gpus": 1, **lane}},
    }
    return data


MADE = {"runner": {"group_id": 42}}
THEIRS = {"token": {"secret": "runnerToken"}}


@pytest.mark.parametrize(
    ("runner", "url", "told"),
    [
        ({"instance": True}, "https://gitlab.com", True),
        ({"instance": True}, "https://GitLab.com/", True),
        ({"instance": True}, OWN, False),
        ({"group_id": 42}, "https://gitlab.com", False),
    ],
)
def test_an_instance_runner_of_gitlab_com_is_an_error(
    runner: dict[str, Any], url: str, told: bool
) -> None:
    findings = found("instance-runner", gitlab({"runner": runner}, url))
    place = f"{SITE}.gitlab.lanes.gl.runner.instance"
    assert [(one.path, one.severity) for one in findings] == ([(place, "error")] if told else [])


def test_settings_of_an_existing_runner_are_one_finding() -> None:
    lane = {**THEIRS, "tags": ["gpu"], "protected": True, "maximum_timeout": 7200}
    (finding,) = found("kept-at-gitlab", gitlab(lane))
    assert (finding.path, finding.severity) == (f"{SITE}.gitlab.lanes.gl", "warning")
    assert "sets tags, protected, maximum_timeout, but" in finding.message
    assert "with the runner of token" in finding.message
    (finding,) = found("kept-at-gitlab", gitlab({"existing_secret": "app", "locked": True}))
    assert "sets locked, but" in finding.message
    assert "the runner of existing_secret" in finding.message


@pytest.mark.parametrize(
    "key", ["tags", "default_tags", "run_untagged", "protected", "locked", "maximum_timeout"]
)
def test_each_setting_of_an_existing_runner_is_reported(key: str) -> None:
    value = {"tags": ["gpu"], "maximum_timeout": 600}.get(key, False)
    assert found("kept-at-gitlab", gitlab({**THEIRS, key: value}))
    assert not found("kept-at-gitlab", gitlab({**MADE, key: value})), "this program sets it"


def test_a_lane_without_runner_settings_has_no_finding() -> None:
    assert not found("kept-at-gitlab", gitlab({**THEIRS, "concurrent": 2, "services": 1}))


@pytest.mark.parametrize(
    "label",
    [
        *("ubuntu-latest", "Ubuntu-24.04", "ubuntu-22.04-arm", "ubuntu-slim"),
        *("windows-2025", "windows-11-arm", "macos-latest", "macos-15-intel", "macos-15-xlarge"),
    ],
)
def test_a_label_of_github_hosted_runners_is_a_warning(label: str) -> None:
    (finding,) = found("hosted-label", github(labels=["x64", label]))
    assert (finding.path, finding.severity) == (f"{SITE}.github.lanes.gpu.labels", "warning")
    assert label in finding.message
    assert found("hosted-label", github("https://octo.ghe.com/org", labels=[label]))
    assert not found("hosted-label", github("https://ghes.example.com/org", labels=[label]))


@pytest.mark.parametrize("label", ["ubuntu", "linux", "ubuntu-gpu", "ubuntu-latest-gpu", "windows"])
def test_a_label_like_githubs_has_no_finding(label: str) -> None:
    assert not found("hosted-label", github(labels=[label]))


def test_a_lane_with_the_name_of_github_hosted_runners_is_a_warning() -> None:
    data = github()
    lanes = data["clusters"]["site"]["github"]["lanes"]
    lanes["ubuntu-latest"] = lanes.pop("gpu")
    (finding,) = found("hosted-label", data)
    assert finding.path == f"{SITE}.github.lanes.ubuntu-latest"
    assert "has the name ubuntu-latest" in finding.message


@pytest.mark.parametrize(
    ("model", "tag", "told"),
    [
        ("T4", "gpu-a100", True),
        ("T4", "A100", True),
        ("T4", "a100_40gb", True),
        ("A10G", "a100", True),
        ("A100-40GB", "a10", True),
        ("A100-40GB", "gpu-a100", False),
        ("A100-80GB", "a100", False),
        ("A10G", "a10", False),
        ("L40S", "l40", False),
        ("T4", "xa1000", False),
        ("T4", "cuda-12", False),
        ("RTX PRO 6000", "rtx-pro-6000", False),
        ("T4", "rtx-pro-6000", True),
        ("V100-32GB", "v100", False),
    ],
)
def test_a_label_with_another_gpu_model_is_a_warning(model: str, tag: str, told: bool) -> None:
    findings = found("model-word", gitlab({**MADE, "tags": [tag]}, model=model))
    place = f"{SITE}.gitlab.lanes.gl.tags"
    assert [(one.path, one.severity) for one in findings] == ([(place, "warning")] if told else [])


def test_the_name_of_a_lane_and_its_labels_are_checked_too() -> None:
    data = github(labels=["h100"])
    (finding,) = found("model-word", data)
    assert finding.path == f"{SITE}.github.lanes.gpu.labels"
    assert finding.message == (
        "has h100, but its pools have A100-40GB: jobs get another GPU than the label names"
    )
    lanes = data["clusters"]["site"]["github"]["lanes"]
    lanes["h100-gpu"] = {**lanes.pop("gpu"), "labels": ["a100"]}
    (finding,) = found("model-word", data)
    assert finding.path == f"{SITE}.github.lanes.h100-gpu"
    assert "has the name h100-gpu" in finding.message


def test_a_lane_with_some_pool_of_the_model_or_without_gpus_has_no_finding() -> None:
    data = gitlab({**MADE, "tags": ["t4", "a100"], "pools": ["a", "t"]})
    pools = data["clusters"]["site"]["existing"]["pools"]
    pools["t"] = {**pools["a"], "gpu": "T4", "labels": {"example.com/pool": "t"}}
    assert not found("model-word", data)
    lane = {"gpus": 0, "cpu": 1, "memory": "1Gi", "tags": ["t4"]}
    assert not found("model-word", gitlab({**MADE, **lane, "pools": ["cpu"]}))
    assert not found("model-word", gitlab({**MADE, **lane, "pools": ["a"]})), "it gets no GPU"


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://gitlab.example.com", True),
        ("http://gitlab.example.com/git", True),
        ("https://gitlab.example.com", False),
        ("http://localhost:8080", False),
        ("http://127.0.0.1", False),
        ("http://localhost.example.com", True),
    ],
)
def test_a_url_without_tls_is_a_warning(url: str, told: bool) -> None:
    for place in ("charts.repositories.gitlab-runner", "charts.arc_crds"):
        findings = found("plain-http", every_key({place: url}))
        expected = [(place, "warning")] if told else []
        assert [(one.path, one.severity) for one in findings] == expected


APP = {"id": 1, "installation_id": 2, "private_key": {"secret": "githubAppKey"}}


def test_what_to_make_before_up_is_a_note_with_the_commands() -> None:
    data = github()
    (note,) = found("prepare", data)
    assert (note.path, note.severity) == (f"{SITE}.github", "note")
    assert "the namespace arc-runners with the Secret app, which you make" in note.message
    assert note.remedy == (
        "run once: kubectl create namespace arc-runners && "
        "kubectl -n arc-runners create secret generic app --from-literal=github_app_id=ID "
        "--from-literal=github_app_installation_id=ID --from-file=github_app_private_key=FILE"
    )
    data["clusters"]["site"]["github"] |= {"url": "https://github.com/enterprises/example"}
    (note,) = found("prepare", data)
    assert note.remedy.endswith("generic app --from-file=github_token=FILE")


def test_lanes_of_gitlab_share_one_namespace_to_make() -> None:
    data = gitlab({"existing_secret": "one"})
    lanes = data["clusters"]["site"]["gitlab"]["lanes"]
    lanes["made"] = {"pools": ["a"], "gpus": 1, **MADE}
    lanes["other"] = {"pools": ["a"], "gpus": 1, "privileged": True, "existing_secret": "two"}
    (note,) = found("prepare", data)
    assert note.path == f"{SITE}.gitlab"
    assert "with the Secret one and two" in note.message
    keys = "--from-file=runner-token=FILE --from-literal=runner-registration-token="
    assert note.remedy.split(" && ") == [
        "run once: kubectl create namespace gitlab-runners",
        "kubectl label namespace gitlab-runners pod-security.kubernetes.io/enforce=privileged",
        f"kubectl -n gitlab-runners create secret generic one {keys}",
        f"kubectl -n gitlab-runners create secret generic two {keys}",
    ]


def test_a_namespace_of_its_own_needs_no_secret_and_one_of_this_program_nothing() -> None:
    data = github()
    side = data["clusters"]["site"]["github"]
    del side["existing_secret"]
    side["app"] = APP
    assert found("prepare", data) == []
    side["existing_namespace"] = True
    (note,) = found("prepare", data)
    assert "the namespace arc-runners, which you make" in note.message
    assert note.remedy == "run once: kubectl create namespace arc-runners"


def test_a_new_cluster_is_made_before_its_namespace() -> None:
    lane = {"pools": ["gpu"], "gpus": 1}
    data = stack_of({"gpu": {"instance_types": ["g4dn.xlarge"], "max_size": 1}}, {"gpu": lane})
    (note,) = found("prepare", data)
    assert "the first up makes the cluster and stops there" in note.message
