"""Properties of the config models, and values at their limits."""

import json
from typing import Any

import pydantic
import pytest

from fleet.config.eks import Eks, EksNetwork
from fleet.config.pools import EksPool
from fleet.config.stackfile import NotAStackFile, parsed, stack_value
from fleet.gpu_stack.ownership import ownership
from tests.fleet.samples import GONE, every_key, loaded


@pytest.mark.parametrize(
    ("cluster", "advertiser"),
    [
        ("ci", "device_plugin"),
        ("existing", "device_plugin"),
        ("oci", "provider"),
        ("oci-existing", "provider"),
        ("honey", "provider"),
    ],
)
def test_gpus_are_advertised_by_what_the_platform_lacks_or_has(
    cluster: str, advertiser: str
) -> None:
    data = every_key({"clusters.ci.gpu_stack": GONE, "clusters.oci.gpu_stack": GONE})
    del data["clusters"]["oci"]["oke"]["pools"]["a10"]["sharing"]
    spec = loaded(data).stack.clusters[cluster]
    assert ownership(spec.gpu_stack, spec.default_advertiser).advertiser == advertiser


def test_zones_of_a_network_are_those_to_make_or_those_of_the_subnets() -> None:
    def zones(**spec: Any) -> tuple[str, ...]:
        return EksNetwork.model_validate_json(json.dumps(spec)).zone_names

    assert zones(cidr="10.0.0.0/16", zones=["us-west-2b", "us-west-2a"]) == (
        "us-west-2b",
        "us-west-2a",
    )
    subnets = {"us-west-2c": "subnet-0123456789abcdef0", "us-west-2a": "subnet-0123456789abcdef1"}
    assert zones(vpc_id="vpc-0123456789abcdef0", subnet_ids=subnets) == ("us-west-2c", "us-west-2a")


@pytest.mark.parametrize(
    ("kind", "gpus"), [("m6i.large", 0), ("g4dn.12xlarge", 4), ("g6f.large", 1)]
)
def test_a_pool_has_the_gpus_of_its_instance_type(kind: str, gpus: int) -> None:
    pool = EksPool.model_validate_json(json.dumps({"instance_types": [kind], "max_size": 1}))
    assert pool.gpus == gpus


@pytest.mark.parametrize(
    "changes",
    [
        {"clusters.ci.github.lanes.gpu.min_runners": 4},
        {"clusters.ci.eks.pools.t4.min_size": 10},
        {"clusters.oci.oke.pools.a10.labels": {f"{'t' * 18}.example.com/{'n' * 51}": "x"}},
        {"clusters.ci.eks.pools.t4.disk_gib": 20},
        {"clusters.ci.eks.pools.t4.sharing.time_slicing": 48}
        | {
            f"clusters.ci.{lane}": {"pools": ["t4"], "gpus": 1, "cpu": "1m", **more}
            for lane, more in (
                ("github.lanes.gpu", {"max_runners": 1}),
                ("gitlab.lanes.gl", {"runner": {"group_id": 1}}),
            )
        },
    ],
    ids=["all runners wait", "all nodes run", "longest label", "smallest disk", "most slices"],
)
def test_a_value_at_its_limit_is_let_through(changes: dict[str, Any]) -> None:
    loaded(every_key(changes))


def test_the_models_are_frozen() -> None:
    stack = loaded(every_key()).stack
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        stack.protect = False  # type: ignore[misc]
    eks = stack.clusters["ci"].eks
    assert isinstance(eks, Eks)
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        eks.region = "us-east-1"  # type: ignore[misc]


def test_words_that_yaml_takes_for_truth_and_dates_are_text_as_for_the_engine() -> None:
    text = "config: {gpu-runners:stack: {a: yes, b: true, c: 2026-11-21, d: off, e: 1.30}}"
    value = stack_value(text)
    assert value == {"a": "yes", "b": True, "c": "2026-11-21", "d": "off", "e": 1.3}


def test_the_value_of_the_key_is_taken_as_it_is() -> None:
    assert stack_value("config: {gpu-runners:stack: null}") is None
    assert stack_value("config: {gpu-runners:stack: [1]}") == [1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a stack file; add config:"),
        ("- a", "is not a stack file; add config:"),
        ("a: [", "is not YAML: line "),
        ("config: 3", "config has no key gpu-runners:stack"),
        ("config: {other: 1}", "config has no key gpu-runners:stack"),
        ("a: 1", "config has no key gpu-runners:stack"),
        ("config: {b: {c: 1, c: 2}}", "key 'c' is a duplicate, line 1"),
        ("config: [{c: 1, c: 2}]", "key 'c' is a duplicate, line 1"),
        ("config: &x {a: *x}", "line 1: an alias contains itself"),
    ],
)
def test_what_is_no_stack_file_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(NotAStackFile) as refused:
        stack_value(text)
    assert str(refused.value).startswith(said)


def test_an_error_quotes_no_line_of_the_file() -> None:
    with pytest.raises(NotAStackFile) as refused:
        parsed("config:\n  token: 'glrt-hidden\n")
    assert "glrt" not in str(refused.value)
