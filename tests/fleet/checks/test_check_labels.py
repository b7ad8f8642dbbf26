"""Node labels and cloud tags: what clouds refuse, and what GPU feature discovery writes."""

from typing import Any

import pytest

from tests.fleet.checks.planted import CPU, cards, existing_of, found, stack_of
from tests.fleet.samples import every_key, refused

PATH = "clusters.site.existing.pools.gpu.labels"
PRODUCT = "nvidia.com/gpu.product"
OPERATOR: dict[str, Any] = {"gpu_stack": {"advertiser": "operator", "operator": {}}}


def labelled(
    labels: dict[str, str], model: str = "T4", *, operator: bool = True, **pool: Any
) -> dict[str, Any]:
    mine = {"example.com/pool": "gpu", **labels}
    gpu = cards(model, labels=mine, **pool)
    return existing_of(
        {"gpu": gpu, "cpu": CPU},
        {"gpu": {"pools": ["gpu"], "gpus": 1}},
        **(OPERATOR if operator else {}),
    )


def test_a_short_product_is_an_error_with_the_gpu_operator() -> None:
    (finding,) = found("label-owned", labelled({PRODUCT: "T4"}))
    assert (finding.severity, finding.path) == ("error", PATH)
    assert finding.message == (
        "has nvidia.com/gpu.product: T4, but GPU feature discovery writes Tesla-T4 on nodes with "
        "1 x T4: jobs that select T4 would find no node"
    )
    assert finding.remedy.startswith("write Tesla-T4, or select the nodes by your own label")


def test_it_is_a_warning_without_the_gpu_operator() -> None:
    (finding,) = found("label-owned", labelled({PRODUCT: "T4"}, operator=False))
    assert finding.severity == "warning"


def test_labels_of_feature_discovery_and_of_the_user_have_no_finding() -> None:
    labels = {
        PRODUCT: "Tesla-T4",
        "nvidia.com/gpu.count": "1",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu": "true",
        "nvidia.com/mig.config": "all-disabled",
        "accelerator": "T4",
    }
    assert found("label-owned", labelled(labels)) == []


@pytest.mark.parametrize(
    ("model", "value", "severity"),
    [
        ("A100-40GB", "NVIDIA-A100-SXM4-40GB", None),
        ("A100-40GB", "NVIDIA-A100-PCIE-40GB", None),
        ("A100-40GB", "A100-SXM4-40GB", "warning"),
        ("A100-40GB", "A100-40GB", "error"),
        ("A100-40GB", "a100", "error"),
        ("A100-40GB", "Tesla-V100-SXM2-16GB", "error"),
        ("A100-40GB", "NVIDIA-A100-SXM4-40GB-SHARED", "error"),
        ("T4", "NVIDIA-T4", "warning"),
        ("P100", "anything", None),
    ],
)
def test_another_board_of_the_model_is_possible_and_another_model_is_not(
    model: str, value: str, severity: str | None
) -> None:
    findings = found("label-owned", labelled({PRODUCT: value}, model))
    assert [one.severity for one in findings] == ([severity] if severity else [])


def test_a_shared_card_has_a_product_of_its_own() -> None:
    sharing = {"time_slicing": 4}
    data = labelled({PRODUCT: "Tesla-T4"}, sharing=sharing)
    (finding,) = found("label-owned", data)
    assert "writes Tesla-T4-SHARED" in finding.message
    labels = {PRODUCT: "Tesla-T4-SHARED", "nvidia.com/gpu.replicas": "4"}
    assert found("label-owned", labelled(labels, sharing=sharing)) == []


def test_a_partitioned_card_counts_its_instances() -> None:
    sharing = {"mig": "1g.5gb"}
    labels = {
        PRODUCT: "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb",
        "nvidia.com/gpu.count": "7",
        "nvidia.com/mig.strategy": "single",
    }
    data = labelled(labels, "A100-40GB", operator=False, sharing=sharing)
    assert found("label-owned", data) == []
    labels["nvidia.com/gpu.count"] = "1"
    (finding,) = found(
        "label-owned", labelled(labels, "A100-40GB", operator=False, sharing=sharing)
    )
    assert "writes 7" in finding.message


def test_a_pool_without_gpus_may_have_any_label() -> None:
    data = existing_of(
        {"cpu": {"labels": {PRODUCT: "T4"}}}, {"c": {"pools": ["cpu"], "cpu": 1, "memory": "1Gi"}}
    )
    assert found("label-owned", data) == []


def test_an_unknown_model_is_reported_once() -> None:
    data = labelled({PRODUCT: "T4"})
    data["clusters"]["site"]["existing"]["pools"]["gpu"]["gpu"] = "T5"
    assert [one.path for one in refused(data)] == ["clusters.site.existing.pools.gpu.gpu"]


def pool(**labels: str) -> dict[str, Any]:
    gpu = {"instance_types": ["g4dn.xlarge"], "max_size": 1, "labels": labels}
    return stack_of({"p": gpu}, {"gpu": {"pools": ["p"], "gpus": 1}})


def test_a_long_label_key_is_an_error_on_eks() -> None:
    key = f"example.com/{'k' * 52}"
    (finding,) = found("node-label", pool(**{key: "x"}))
    assert (finding.severity, finding.path) == ("error", "clusters.ci.eks.pools.p.labels")
    assert f"has the key {key} of 64 characters, but EKS allows 63" in finding.message
    assert found("node-label", pool(**{key[:-1]: "x"})) == []


def test_a_label_without_a_value_is_an_error_on_eks() -> None:
    (finding,) = found("node-label", pool(**{"example.com/team": ""}))
    assert finding.message == "has example.com/team without a value, which EKS refuses"


def test_each_label_is_a_tag_of_the_auto_scaling_group() -> None:
    several = {f"example.com/l{index}": "x" for index in range(38)}
    assert found("node-label", pool(**several)) == []
    (finding,) = found("node-label", pool(**several, more="x"))
    assert "the Auto Scaling group would have 51 tags" in finding.message
    assert finding.remedy == "remove 1 label"


def tagged(tags: dict[str, str]) -> dict[str, Any]:
    return {**pool(), "tags": tags}


def test_aws_takes_fifty_tags_and_this_program_has_its_own() -> None:
    several = {f"tag{index}": "x" for index in range(47)}
    assert found("cloud-tag", tagged(several)) == []
    (finding,) = found("cloud-tag", tagged({**several, "more": "x"}))
    assert (finding.severity, finding.path) == ("error", "tags")
    assert finding.message == "has 48 tags; this program adds 3, and AWS allows 50 on a resource"


@pytest.mark.parametrize(("key", "value"), [("cost#center", "x"), ("team", "r&d"), ("a*", "")])
def test_a_tag_that_roles_cannot_have_is_an_error(key: str, value: str) -> None:
    (finding,) = found("cloud-tag", tagged({key: value}))
    assert (finding.severity, finding.path) == ("error", f"tags.{key}")
    assert found("cloud-tag", tagged({"Cost Center": "a/b:c@d=+-_.", "équipe": ""})) == []


def test_tags_that_differ_only_by_case_are_an_error() -> None:
    (finding,) = found("cloud-tag", tagged({"Team": "a", "team": "b"}))
    assert finding.path == "tags.team"
    assert finding.message == "differs from Team only by case, and IAM ignores the case of keys"


def test_oci_takes_shorter_keys_than_aws() -> None:
    key = "k" * 101
    (finding,) = found("cloud-tag", every_key({"tags": {key: "x"}}))
    assert finding.path == f"tags.{key}"
    assert "OCI allows 100" in finding.message
    assert found("cloud-tag", tagged({key: "x"})) == [], "a stack without OKE"
