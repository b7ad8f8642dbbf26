"""Rights and secrets of jobs and strangers."""

from typing import Any

import pytest

from fleet.findings import StackFileError
from tests.fleet.checks.planted import found, stack_of
from tests.fleet.samples import every_key, loaded, refused

POOLS = {"p": {"instance_types": ["g4dn.xlarge"], "max_size": 1}}
LANE = "clusters.ci.github.lanes.gpu"
API = "clusters.ci.eks.api.allow"


def lane(**more: Any) -> dict[str, Any]:
    return stack_of(POOLS, {"gpu": {"pools": ["p"], "gpus": 1, **more}})


def allowing(*ranges: str) -> dict[str, Any]:
    data = lane()
    data["clusters"]["ci"]["eks"]["api"] = {"allow": list(ranges)}
    return data


@pytest.mark.parametrize("ranges", [["0.0.0.0/0"], ["8.0.0.0/8"], ["0.0.0.0/1", "128.0.0.0/1"]])
def test_a_wide_api_range_is_a_warning_and_an_error_if_strict(ranges: list[str]) -> None:
    (finding,) = found("public-endpoint", allowing(*ranges))
    assert (finding.severity, finding.path) == ("warning", API)
    assert all(one in finding.message for one in ranges)
    (finding,) = found("public-endpoint", {**allowing(*ranges), "strict": True})
    assert finding.severity == "error"


def test_a_narrow_range_has_no_finding() -> None:
    assert found("public-endpoint", allowing("8.8.0.0/16", "9.0.0.0/9")) == []
    assert found("public-endpoint", lane()) == [], "a private endpoint is nobody's"


def test_the_endpoint_of_oke_is_checked_too() -> None:
    (finding,) = found(
        "public-endpoint", every_key({"clusters.oci.oke.api": {"allow": ["0.0.0.0/0"]}})
    )
    assert finding.path == "clusters.oci.oke.api.allow"
    assert "anyone on the internet" in finding.message


def access(**more: Any) -> dict[str, Any]:
    return lane(kubernetes_access={"namespaces": ["ci-jobs"], **more})


@pytest.mark.parametrize("resource", ["secrets", "serviceaccounts/token"])
def test_rights_to_secrets_are_a_warning_and_an_error_if_strict(resource: str) -> None:
    rule = {"resources": ["pods", resource], "verbs": ["get", "create"]}
    (finding,) = found("wide-access", access(permissions=[rule]))
    assert (finding.severity, finding.path) == ("warning", f"{LANE}.kubernetes_access.permissions")
    assert finding.message.startswith(f"lets jobs get, create {resource} in ci-jobs")
    (finding,) = found("wide-access", {**access(permissions=[rule]), "strict": True})
    assert finding.severity == "error"


def test_usual_rights_have_no_finding() -> None:
    assert found("wide-access", access()) == []
    other = {"api_groups": ["example.com"], "resources": ["secrets"], "verbs": ["get"]}
    assert found("wide-access", access(permissions=[other])) == [], "not Kubernetes' own secrets"


@pytest.mark.parametrize("name", ["default", "kube-flannel", "gpu-operator"])
def test_deploying_into_a_shared_namespace_is_a_warning(name: str) -> None:
    (finding,) = found("wide-access", access(existing_namespaces=[name]))
    assert finding.path == f"{LANE}.kubernetes_access.existing_namespaces"
    assert name in finding.message
    assert found("wide-access", access(existing_namespaces=["shared"])) == []


@pytest.mark.parametrize("key", ["verbs", "resources", "api_groups"])
def test_the_stack_file_has_no_wildcard(key: str) -> None:
    rule = {"resources": ["pods"], "verbs": ["get"], key: ["*"]}
    (finding,) = refused(access(permissions=[rule]))
    assert finding.path == f"{LANE}.kubernetes_access.permissions[0].{key}[0]"


_BODY = "abcDEF0123456789ghiJ"


@pytest.mark.parametrize(
    "value",
    [
        f"glpat-{_BODY}",
        f"glrt-{_BODY}",
        f"ghp_{_BODY}{_BODY[:16]}",
        f"github_pat_{_BODY}",
        "AKIAIOSFODNN7EXAMPLE",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOY",
        f"https://oauth2:glpat-{_BODY}@gitlab.com/group/project.git",
        f"hf_{_BODY}{_BODY}",
        f"eyJhbGciOiJIUzI1NiJ9.eyJ{_BODY}.sig",
    ],
)
def test_a_token_in_a_variable_is_an_error_that_does_not_repeat_it(value: str) -> None:
    data = lane(env={"SETTING": value})
    (finding,) = found("secret-in-env", data)
    assert (finding.severity, finding.path) == ("error", f"{LANE}.env.SETTING")
    with pytest.raises(StackFileError) as caught:
        loaded(data)
    assert value not in str(caught.value)
    assert _BODY not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_TOKEN", "x9Kq2mPz7Lw4Tn8RvB3c"),
        ("DB_PASSWORD", "4f9d8a7b6c5e4d3c2b1a"),
        ("WANDB_API_KEY", "0123456789abcdef0123456789abcdef01234567"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("secret", "q7Hs9Zx1Vb5Nm3Kd2Lp8"),
        ("GPG_PASSWORD", "q7Hs9Zx1Vb5Nm3Kd2Lp8"),
    ],
)
def test_a_random_value_of_a_variable_that_is_called_a_secret_is_an_error(
    name: str, value: str
) -> None:
    (finding,) = found("secret-in-env", lane(env={name: value}))
    assert finding.path == f"{LANE}.env.{name}"
    assert value not in f"{finding.message} {finding.remedy}"
    assert str(len(value)) in finding.message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_TOKEN", "$CI_JOB_TOKEN"),
        ("API_TOKEN", "${TOKEN_OF_THE_JOB}"),
        ("DB_PASSWORD", "postgres"),
        ("DB_PASSWORD", "not-a-real-password"),
        ("SSH_KEY", "/run/secrets/deploy-2026/Key1"),
        ("CACHE_KEY", "3f2a9b8c7d6e5f4a3b2c1d0e9f8a7b6c"),
        ("PUBLIC_KEY", "x9Kq2mPz7Lw4Tn8RvB3c"),
        ("GPG_KEY", "A035C8C19219BA821ECEA86B64E628F8D684696D"),
        ("OBJECT_KEY", "artifacts/pytorch-2.5.1-cuda12.9/linux-x64"),
        ("VAULT_SECRET", "ci/gpu-runners/registry-credentials"),
        ("TOKEN_FILE", "x9Kq2mPz7Lw4Tn8RvB3c"),
        ("BUILD_ID", "x9Kq2mPz7Lw4Tn8RvB3c"),
        ("PIP_INDEX_URL", "https://pypi-mirror-of-the-company.example.com/simple"),
        ("SCOPE", "gha_runner_cache_for_pytorch"),
        ("HF_HOME", "/cache/hf_home"),
        ("API_KEY", "aaaaaaaaaaaaaaaaaaaaaaaa"),
        ("TORCH_CUDA_ARCH_LIST", "8.0;8.6;9.0+PTX"),
    ],
)
def test_values_that_are_no_secret_have_no_finding(name: str, value: str) -> None:
    assert found("secret-in-env", lane(env={name: value})) == []


def test_gitlab_lanes_are_checked_too() -> None:
    (finding,) = found(
        "secret-in-env", every_key({"clusters.ci.gitlab.lanes.gl.env": {"X": f"glpat-{_BODY}"}})
    )
    assert finding.path == "clusters.ci.gitlab.lanes.gl.env.X"


@pytest.mark.parametrize(
    ("image", "words"),
    [
        ("ghcr.io/example/runner", "without a tag"),
        ("ghcr.io/example/runner:latest", "whose tag moves"),
        ("ghcr.io/example/runner:main", "whose tag moves"),
    ],
)
def test_a_moving_tag_is_a_warning_and_an_error_if_strict(image: str, words: str) -> None:
    (finding,) = found("image-pin", lane(image=image))
    assert (finding.severity, finding.path) == ("warning", f"{LANE}.image")
    assert words in finding.message
    (finding,) = found("image-pin", {**lane(image=image), "strict": True})
    assert finding.severity == "error"


def test_a_version_or_a_digest_is_a_pin() -> None:
    digest = f"ghcr.io/example/runner@sha256:{'0' * 64}"
    for image in (digest, "ghcr.io/example/runner:2.338.0-cuda12.9.1"):
        assert found("image-pin", lane(image=image)) == []
    assert found("image-pin", lane()) == [], "the default is pinned by this program"


@pytest.mark.parametrize(
    ("changes", "key"),
    [({"container_mode": "dind"}, "container_mode"), ({"run_as_root": True}, "run_as_root")],
)
def test_privileges_of_a_github_lane_are_warnings(changes: dict[str, Any], key: str) -> None:
    (finding,) = found("privileged", lane(**changes))
    assert (finding.severity, finding.path) == ("warning", f"{LANE}.{key}")
    assert found("privileged", lane()) == []


def test_privileged_devices_and_gitlab_jobs_are_warnings() -> None:
    changes = {
        "clusters.honey.github.lanes.vulkan.device_access": "privileged",
        "clusters.ci.gitlab.lanes.gl.privileged": True,
    }
    assert {one.path for one in found("privileged", every_key(changes))} == changes.keys()
