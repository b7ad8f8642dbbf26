"""The report as data: its keys and values."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from fleet.catalog.cuda import DRIVER_BRANCHES
from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.oke import OKE_VERSIONS
from fleet.load import Fleet, load
from fleet.report import Report, build_report
from fleet.report.model import VERSION, MadeOf, Section, Totals
from tests.fleet.report.reports import markdown_of, report_json
from tests.fleet.samples import SHIPPED, changed, every_key, loaded, shipped_stack

T4 = "clusters.ci.eks.pools.t4"
SOURCES = (*SHIPPED, "every key")


def stack(name: str) -> dict[str, Any]:
    return every_key() if name == "every key" else shipped_stack(name)


def report(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    return report_json(loaded(every_key(changes)))


def sections(value: object) -> Iterator[Section]:
    """Yield a section of a report and all sections in it."""
    if isinstance(value, Section):
        yield value
        for name in type(value).model_fields:
            yield from sections(getattr(value, name))
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from sections(item)


@pytest.mark.parametrize("name", SOURCES)
def test_every_field_is_written_so_that_defaults_are_for_older_reports_only(name: str) -> None:
    for section in sections(build_report(loaded(stack(name)), stack=name)):
        fields = type(section).model_fields.keys()
        assert section.model_fields_set == fields, type(section).__name__


@pytest.mark.parametrize("name", SOURCES)
def test_a_report_is_read_as_it_was_written(name: str) -> None:
    built = build_report(loaded(stack(name)))
    assert Report.model_validate_json(built.model_dump_json()) == built


def test_unknown_keys_are_ignored_and_missing_ones_have_defaults() -> None:
    old = report()
    old["clusters"]["ci"]["pools"]["t4"] |= {"more": {"a": 1}}
    del old["clusters"]["ci"]["pools"]["t4"]["made_of"], old["totals"]
    read = Report.model_validate(old)
    assert read.clusters["ci"].pools["t4"].made_of == MadeOf()
    assert read.totals == Totals()


@pytest.mark.parametrize("name", SOURCES)
def test_every_pool_and_lane_is_listed_under_its_cluster(name: str) -> None:
    fleet = loaded(stack(name))
    found = report_json(fleet)
    for cluster in fleet.plan.clusters:
        body = found["clusters"][cluster.name]
        assert [*body["pools"]] == [pool.name for pool in cluster.pools]
        lanes = [f"github/{lane.name}" for lane in cluster.github.lanes] if cluster.github else []
        lanes += [f"gitlab/{lane.name}" for lane in cluster.gitlab.lanes] if cluster.gitlab else []
        assert [*body["lanes"]] == lanes
    assert found["totals"]["lanes"] == sum(len(one["lanes"]) for one in found["clusters"].values())


def test_the_report_has_the_stack_and_the_day_of_the_checks() -> None:
    day = date(2026, 11, 21)
    fleet = load(shipped_stack("prod"), source="x", has_secret=lambda _: True, today=day)
    assert report_json(fleet, stack="prod")["stack"] == "prod"
    assert report_json(fleet)["stack"] is None
    assert report_json(fleet)["date"] == "2026-11-21"
    assert report_json(fleet)["version"] == VERSION


def test_the_report_has_no_secret_and_no_name_of_one() -> None:
    text = json.dumps(report())
    assert not [one for one in ("githubAppKey", "gitlabApiToken", "runnerToken") if one in text]


def test_a_cluster_has_its_version_and_the_end_of_support() -> None:
    clusters = report()["clusters"]
    end = KUBERNETES_VERSIONS["1.35"].standard_support_end.isoformat()
    assert (clusters["ci"]["version"], clusters["ci"]["support_end"]) == ("1.35", end)
    oke = OKE_VERSIONS[clusters["oci"]["version"]]
    assert oke.minor == "1.35"
    assert clusters["oci"]["support_rule"] == oke.support_end_rule
    assert clusters["oci"]["support_end"] == (oke.support_end and oke.support_end.isoformat())
    assert clusters["honey"]["support_end"] is None, "unknown for an existing cluster"


def test_a_cluster_names_the_version_of_every_chart_that_is_installed_on_it() -> None:
    charts = report()["clusters"]["ci"]["charts"]
    assert {*charts} == {
        *("cluster-autoscaler", "nvidia-device-plugin", "gpu-operator", "gitlab-runner"),
        *("gha-runner-scale-set-controller", "gha-runner-scale-set", "aws-efa-k8s-device-plugin"),
    }
    assert charts["gha-runner-scale-set"] == "0.14.2"
    assert report()["clusters"]["honey"]["charts"].keys() == {
        *("gha-runner-scale-set-controller", "gha-runner-scale-set", "gitlab-runner")
    }


def expected_gpus(fleet: Fleet) -> Counter[str]:
    cards: Counter[str] = Counter()
    for cluster in fleet.plan.clusters:
        for pool in cluster.pools:
            if pool.gpu is not None:
                cards[pool.gpu] += pool.max_size * pool.nodes[0].gpus
    return cards


def test_totals_count_the_cards_of_full_pools_by_model() -> None:
    fleet = loaded(every_key())
    assert report_json(fleet)["totals"]["gpus"] == expected_gpus(fleet)
    paused = report({f"{T4}.paused": True})["totals"]["gpus"]
    assert paused["T4"] == 0, "a paused pool starts no node"


def test_a_fraction_of_a_card_is_not_counted_as_a_card() -> None:
    fraction = {"instance_types": ["g6f.xlarge"], "max_size": 10}
    found = report({"clusters.ci.eks.pools.slice": fraction})
    assert found["totals"]["gpus"]["L4 (3 of 24 GB)"] == 10
    assert "L4" not in found["totals"]["gpus"]
    assert found["clusters"]["ci"]["pools"]["slice"]["gpu_memory_gb"] == 3


def test_the_memory_of_a_card_is_the_vendors_figure() -> None:
    pool = loaded(every_key()).plan.clusters[0].pools[1].nodes[0]
    assert (pool.gpu_memory_gb, pool.gpu_memory_mib) == (16, 15360)
    assert report()["clusters"]["ci"]["pools"]["t4"]["gpu_memory_gb"] == 16


def test_totals_are_sums_of_clusters_and_clusters_are_sums_of_pools() -> None:
    found = report()
    for end in ("floor", "ceiling"):
        clusters = [one["usd_per_month"] for one in found["clusters"].values()]
        whole = sum(one[end] for one in clusters if one is not None)
        assert found["totals"]["usd_per_month"][end] == pytest.approx(whole, abs=0.05)
        for cluster in found["clusters"].values():
            pools = [one["usd_per_month"] for one in cluster["pools"].values()]
            if cluster["usd_per_month"] is not None:
                summed = sum(one[end] for one in pools)
                assert cluster["usd_per_month"][end] == pytest.approx(summed, abs=0.05)
    assert found["clusters"]["honey"]["usd_per_month"] is None


def test_the_dates_of_prices_are_a_range() -> None:
    found = report()
    days = [
        pool["price"]["date"]
        for cluster in found["clusters"].values()
        for pool in cluster["pools"].values()
        if pool["price"] is not None and pool["price"]["date"] is not None
    ]
    assert found["totals"]["price_dates"] == [min(days), max(days)]
    assert min(days) < max(days), "otherwise the test proves nothing"
    only_undated = changed(shipped_stack("staging"), {})
    pools = only_undated["clusters"]["ci-staging"]["eks"]["pools"]
    for name in [name for name in pools if name != "system"]:
        pools[name]["instance_types"] = ["m5.large"]
        pools[name].pop("sharing", None)
    for forge in ("github", "gitlab"):
        only_undated["clusters"]["ci-staging"].pop(forge)
    assert report_json(loaded(only_undated))["totals"]["price_dates"] == []


def test_a_pool_that_waiting_runners_hold_is_not_idle_at_its_minimum() -> None:
    pool = report()["clusters"]["ci"]["pools"]["t4"]
    month = pool["price"]["usd_per_hour"] * 730
    assert (pool["min"], pool["idle"]) == (0, 1)
    assert pool["usd_per_month"]["floor"] == pytest.approx(month, abs=0.01)
    none = report({"clusters.ci.github.lanes.gpu.min_runners": 0})["clusters"]["ci"]["pools"]["t4"]
    assert (none["idle"], none["usd_per_month"]["floor"]) == (0, 0)


def test_findings_and_silenced_findings_are_complete() -> None:
    reason = "the pool is for a test of this sort"
    fleet = loaded(every_key({"silence": {}}))
    assert report_json(fleet)["silenced"] == []
    silencing = loaded(every_key({"silence": {"fits": reason}}))
    (idle,) = [one for one in report_json(silencing)["findings"] if one["rule"] == "silence"]
    assert (idle["severity"], idle["path"]) == ("warning", "silence.fits")
    assert idle["message"]
    assert idle["remedy"]
    starved = {
        "clusters.honey.existing.pools.a100.cpu": 1,
        "silence": {"starved": reason},
        "clusters.honey.gitlab.lanes.ska-gpu-a100.cpu": "1m",
        "clusters.honey.gitlab.lanes.ska-gpu-a100.max_cpu": "1m",
    }
    (silenced,) = report(starved)["silenced"]
    assert (silenced["rule"], silenced["reason"]) == ("starved", reason)
    assert silenced["path"] == "clusters.honey.github.lanes.mig"


def test_a_driver_is_shown_with_the_end_of_its_branch() -> None:
    prod = report_json(loaded(shipped_stack("prod")))
    (driver,) = prod["clusters"]["ci-usw2"]["drivers"]
    year, month = DRIVER_BRANCHES[int(driver.partition(".")[0])].end_of_life
    assert prod["clusters"]["ci-usw2"]["drivers"] == {driver: f"{year}-{month:02}"}
    row = f"| NVIDIA driver, at least | `{driver}` | {year}-{month:02} (its branch) | `ci-usw2` |"
    assert row in markdown_of(prod)
