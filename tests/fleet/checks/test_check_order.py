"""The order of a lane's pools, the price of each choice, and pools that no lane uses."""

from pathlib import Path as File
from typing import Any

import pytest

from fleet.checks import __main__ as command
from fleet.checks.judge import CHECKS
from tests.fleet.checks.planted import found, stack_of
from tests.fleet.samples import every_key

PATH = "clusters.ci.github.lanes.gpu.pools"
RULES = ("spot-behind", "dear-first", "dear-fallback")


def pool(kind: str = "g4dn.xlarge", **more: Any) -> dict[str, Any]:
    return {"instance_types": [kind], "max_size": 2, **more}


def fleet(first: dict[str, Any], then: dict[str, Any], **lane: Any) -> dict[str, Any]:
    lanes = {"gpu": {"pools": ["first", "then"], "gpus": 1, **lane}}
    return stack_of({"first": first, "then": then}, lanes)


SPOT = pool(capacity_type="SPOT")


@pytest.mark.parametrize(
    ("first", "then", "rules"),
    [
        (SPOT, pool(), []),
        (pool(), SPOT, ["spot-behind"]),
        (pool("g5.16xlarge"), pool("g5.xlarge"), ["dear-first"]),
        (pool("g5.xlarge"), pool("g5.2xlarge"), []),
        (pool("g4dn.xlarge"), pool("g5.xlarge"), []),
        (pool("g5.xlarge"), pool("g4dn.xlarge"), []),
        (pool("g4dn.xlarge"), pool("p4d.24xlarge"), ["dear-fallback"]),
        (pool("g5.16xlarge"), pool("g5.xlarge", paused=True), []),
        (pool("g5.16xlarge", capacity_type="SPOT"), pool("g5.xlarge"), []),
    ],
)
def test_the_order_of_pools_is_checked_by_capacity_type_and_price(
    first: dict[str, Any], then: dict[str, Any], rules: list[str]
) -> None:
    data = fleet(first, then)
    told = {rule: found(rule, data) for rule in RULES}
    assert [rule for rule in RULES if told[rule]] == rules
    for rule in rules:
        assert [(one.severity, one.path) for one in told[rule]] == [("warning", PATH)]


def test_a_costly_fallback_has_both_prices() -> None:
    (finding,) = found("dear-fallback", fleet(pool("g4dn.xlarge"), pool("p4d.24xlarge")))
    assert "starts a node of 21.96 USD an hour instead of 0.53" in finding.message


def test_the_price_of_a_node_is_shared_by_its_jobs() -> None:
    # Four cards for 3.91 USD an hour, and one card for 1.20.
    data = fleet(pool("g4dn.12xlarge"), pool("g4dn.4xlarge"), cpu=1, memory="4Gi")
    assert not found("dear-first", data)


def test_a_gpu_pool_of_no_lane_is_a_note() -> None:
    pools = {"used": pool(), "spare": pool()}
    data = stack_of(pools, {"gpu": {"pools": ["used"], "gpus": 1}})
    (finding,) = found("unused-pool", data)
    assert (finding.severity, finding.path) == ("note", "clusters.ci.eks.pools.spare")


def test_unused_cpu_nodes_are_a_warning_with_their_price() -> None:
    pools = {"gpu": pool(), "big": {**pool("m6i.4xlarge"), "min_size": 6, "max_size": 6}}
    lanes: dict[str, Any] = {"gpu": {"pools": ["gpu"], "gpus": 1}}
    (finding,) = found("unused-pool", stack_of(pools, lanes))
    assert (finding.severity, finding.path) == ("warning", "clusters.ci.eks.pools.big.min_size")
    assert "3,364 USD a month" in finding.message
    lanes["cpu"] = {"pools": ["big"], "cpu": 4, "memory": "8Gi"}
    assert not found("unused-pool", stack_of(pools, lanes)), "it has jobs"


def test_the_pool_of_the_controllers_has_no_finding() -> None:
    assert not found(
        "unused-pool", stack_of({"gpu": pool()}, {"gpu": {"pools": ["gpu"], "gpus": 1}})
    )


def gpu_lane(*pools: str, **more: Any) -> dict[str, Any]:
    return {"pools": list(pools), "gpus": 1, "max_runners": 1, **more}


def test_lanes_with_opposite_orders_of_pools_are_a_warning() -> None:
    (finding,) = found(
        "preference",
        every_key(
            {
                "clusters.ci.github.lanes.one": gpu_lane("t4", "a100"),
                "clusters.ci.gitlab.lanes.two": {
                    "pools": ["a100", "t4"],
                    "gpus": 1,
                    "runner": {"group_id": 1},
                },
            }
        ),
    )
    assert (finding.rule, finding.path) == ("preference", "clusters.ci")
    assert finding.severity == "warning", "jobs run all the same"
    assert "lanes list the pools" in finding.message
    assert "t4" in finding.message
    assert "a100" in finding.message
    assert finding.remedy == "list these pools in the same order in every lane"


def test_lanes_with_a_cycle_of_three_pools_are_a_warning() -> None:
    pool = {"instance_types": ["g5.xlarge"], "max_size": 1}
    (finding,) = found(
        "preference",
        every_key(
            {
                "clusters.ci.eks.pools.a10": pool,
                "clusters.ci.github.lanes.one": gpu_lane("t4", "a10"),
                "clusters.ci.github.lanes.two": gpu_lane("a10", "a100"),
                "clusters.ci.github.lanes.three": gpu_lane("a100", "t4"),
            }
        ),
    )
    assert finding.rule == "preference"


def test_lanes_of_two_clusters_may_have_opposite_orders() -> None:
    pool = {"instance_types": ["p4d.24xlarge"], "max_size": 1}
    assert not found(
        "preference",
        every_key(
            {
                "clusters.existing.eks.pools.a100": pool,
                "clusters.ci.github.lanes.one": gpu_lane("t4", "a100"),
                "clusters.existing.github.lanes.two": gpu_lane("a100", "t4"),
            }
        ),
    )


SECOND = {
    "shape": "VM.GPU.A10.1",
    "boot_volume_gb": 400,
    "image_id": "ocid1.image.oc1.eu-frankfurt-1.aaaaaaaaexample",
    "max_size": 2,
}


def test_several_pools_of_a_lane_on_oke_are_a_warning() -> None:
    changes = {
        "clusters.oci.oke.pools.a10b": SECOND,
        "clusters.oci.github.lanes.a10.pools": ["a10", "a10b"],
    }
    (finding,) = found("oke-pool-order", every_key(changes))
    assert (finding.path, finding.severity) == ("clusters.oci.github.lanes.a10.pools", "warning")
    assert not found("oke-pool-order", every_key()), "one pool has no order"


def test_the_document_has_the_table_of_the_checks() -> None:
    document = command.FILE.read_text(encoding="utf-8")
    assert document == command.with_table(document), "run: make schema"


def test_every_check_has_one_row() -> None:
    rows = command.table().splitlines()[2:]
    assert len(rows) == len(CHECKS)
    for check in CHECKS:
        (row,) = [row for row in rows if row.startswith(f"| `{check.identifier}` |")]
        assert f"| {check.severity}" in row
        assert ("error if strict" in row) is check.strict
        assert row.endswith(f"| {check.summary} |")


@pytest.mark.parametrize("document", ["", command.BEGIN, f"{command.END}\n{command.BEGIN}"])
def test_a_document_without_its_markers_is_refused(document: str) -> None:
    with pytest.raises(ValueError, match="lacks a line"):
        command.with_table(document)


def test_the_command_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    command.main([])
    assert capsys.readouterr().out == f"{command.table()}\n"


def test_the_command_writes_between_the_markers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: File
) -> None:
    file = tmp_path / "document.md"
    file.write_text(f"before\n{command.BEGIN}\nold\n{command.END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(command, "FILE", file)
    command.main(["--write"])
    text = f"before\n{command.BEGIN}\n{command.table()}\n{command.END}\nafter\n"
    assert file.read_text(encoding="utf-8") == text
