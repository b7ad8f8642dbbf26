"""The report as Markdown: what people read beside a diff."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet.report import Report
from fleet.report.phrases import code, cpu, hourly, plain, size, span, table
from tests.fleet.report.reports import markdown_of, report_json
from tests.fleet.samples import GONE, ROOT, SHIPPED, every_key, loaded, shipped_stack

T4 = "clusters.ci.eks.pools.t4"
GPU = "clusters.ci.github.lanes.gpu"
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.yaml"))


def page(changes: Mapping[str, Any] | None = None) -> str:
    return markdown_of(report_json(loaded(every_key(changes)), stack="test"))


def row(text: str, *cells: str) -> str:
    """The one row of a table that holds these cells."""
    rows = [
        line
        for line in text.splitlines()
        if line.startswith("|") and {*cells} <= {cell.strip() for cell in line.split("|")}
    ]
    assert len(rows) == 1, f"{cells} are in {len(rows)} rows"
    return rows[0]


def section(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_report_lists_every_pool_and_every_lane_with_its_labels(name: str) -> None:
    fleet = loaded(shipped_stack(name))
    text = markdown_of(report_json(fleet, stack=name))
    assert text.startswith(f"## Fleet `{name}`\n")
    pools, lanes = section(text, "Pools"), section(text, "Lanes")
    several = len(fleet.plan.clusters) > 1
    for cluster in fleet.plan.clusters:
        place = (cluster.name,) if several else ()
        for pool in cluster.pools:
            bounds = span(str(pool.min_size), str(pool.max_size))
            row(pools, *place, f"`{pool.name}`", bounds, ", ".join(pool.kinds))
        assert cluster.github is not None
        assert cluster.gitlab is not None
        for lane in cluster.github.lanes:
            found = row(lanes, *place, f"github/{lane.name}")
            assert f"`runs-on: {lane.name}`" in found
            assert all(f"`{label}`" in found for label in lane.labels[1:])
        for lane in cluster.gitlab.lanes:
            assert f"`tags: [{', '.join(lane.labels)}]`" in row(
                lanes, *place, f"gitlab/{lane.name}"
            )


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_a_report(name: str) -> None:
    stack = yaml.safe_load((ROOT / "examples" / name).read_text())["config"]["gpu-runners:stack"]
    text = markdown_of(report_json(loaded(stack)))
    assert text.startswith("## Fleet\n")
    assert "0 MiB" not in text, "absent amounts are not shown"


def test_cost_picture_and_lanes_come_first() -> None:
    text = page()
    order = [text.index(f"\n{one}") for one in ("| Cost per month", "```mermaid", "## Lanes")]
    order += [text.index(f"\n## {one}") for one in ("Pools", "Quotas at full size", "Versions")]
    assert order == sorted(order)


def test_the_headline_adds_up_what_the_pools_cost() -> None:
    totals = report_json(loaded(every_key()))["totals"]
    floor, ceiling = (totals["usd_per_month"][end] for end in ("floor", "ceiling"))
    first, last = totals["price_dates"]
    assert (
        f"| Cost per month | **{floor:,.0f} USD** idle, **{ceiling:,.0f} USD** at full size. "
        f"Nodes only, at on-demand prices of {first} to {last} (AWS: prices of us-east-1);"
    ) in page()


def test_the_headline_counts_gpus_lanes_and_findings() -> None:
    text = page({f"{GPU}.paused": True, f"{GPU}.min_runners": 0})
    gpus = report_json(loaded(every_key()))["totals"]["gpus"]
    assert gpus["T4"] == 10
    assert f"| GPUs at full size | {', '.join(f'{gpus[one]} x {one}' for one in gpus)} |" in text
    assert f"| Lanes | {len(re.findall(r'[|] git(?:hub|lab)/', text))}, 1 paused |" in text
    report = {**report_json(loaded(every_key())), "silenced": []}
    one = {"rule": "r", "path": "clusters.ci", "message": "is odd", "remedy": "mend it"}
    for severities, counts in (
        ((), "none"),
        (("warning",), "1 warning"),
        (("note", "warning", "note"), "1 warning, 2 notes"),
    ):
        report["findings"] = [{**one, "severity": severity} for severity in severities]
        assert f"| Findings | {counts}, as of {report['date']} |" in markdown_of(report)


def test_pools_of_a_lane_are_numbered_if_there_are_several() -> None:
    assert "| `t4`: 2 a node |" in row(page(), "github/gpu")
    both = row(page({f"{GPU}.pools": ["t4", "a100"], f"{GPU}.disk": "1Gi"}), "github/gpu")
    assert re.search(r"\| 1\. `t4`: 2 a node<br>2\. `a100`: 8 a node \|", both)


def test_a_resource_that_runs_out_before_gpus_is_named() -> None:
    assert "`t4`: 1 a node, limited by CPU |" in row(page({f"{GPU}.cpu": 5}), "github/gpu")


def test_a_lane_without_a_disk_request_shows_no_disk() -> None:
    cells = row(page(), "github/cpu-only")
    assert "| 0.5 CPU, 1 GiB memory |" in cells


def test_a_lane_with_more_jobs_than_its_pools_hold_shows_the_room() -> None:
    assert "| 4, 1 runner waiting |" in row(page(), "github/gpu")
    assert "| 90, room for 20, 2 runners waiting |" in row(
        page({f"{GPU}.max_runners": 90, f"{GPU}.min_runners": 2}), "github/gpu"
    )
    assert "| paused |" in row(page({f"{GPU}.paused": True}), "github/gpu")


def test_a_lane_shows_how_long_a_change_waits_for_its_jobs() -> None:
    assert "| 240 min |" in row(page({f"{GPU}.drain_minutes": 240}), "github/gpu")


def test_the_report_names_cards_and_how_they_are_shared() -> None:
    pools = section(page(), "Pools")
    assert "1 x T4 (16 GB), each time-sliced for 2 jobs" in row(pools, "ci", "`t4`")
    assert "8 x A100-40GB (40 GB) |" in row(pools, "ci", "`a100`")
    assert "8 x A100-40GB, each in 7 MIG instances (5 GB)" in row(pools, "honey", "`a100`")
    assert "| none |" in row(pools, "ci", "`system`")
    assert "/dev/dri for 4 jobs" in row(pools, "honey", "`dri`")


def test_prices_have_a_day_a_source_and_exclusions() -> None:
    pools = section(page(), "Pools")
    for cluster in report_json(loaded(every_key()))["clusters"].values():
        for pool in cluster["pools"].values():
            if (price := pool["price"]) is not None:
                (line,) = {
                    one
                    for one in pools.splitlines()
                    if one.startswith("- ")
                    and plain(price["source"]) in one
                    and re.search(rf"[ ,]{re.escape(price['kind'])}[, :]", one)
                }
                assert price["date"] is None or price["date"] in line
    assert "- `ci/t4`: spot costs less; not counted" in pools
    assert "Disks, traffic, NAT and control planes are not included" in pools
    assert "- `honey`: an existing cluster; its nodes are not part of this cost" in pools
    assert "- `ci/t4`: paused, counted as zero" in page({f"{T4}.paused": True})


def test_unpinned_node_images_are_named() -> None:
    a10 = "clusters.oci.oke.pools.a10"
    pinned = "ocid1.image.oc1.iad.aaaaaaaaexample"

    def moving(changes: dict[str, Any]) -> str:
        lines = [line for line in page(changes).splitlines() if "newest image" in line]
        return " ".join(lines)

    assert "`oci/a10`" in moving({f"{a10}.image_id": GONE, f"{a10}.driver": GONE})
    assert "`oci/a10`" not in moving({f"{a10}.image_id": pinned})


def test_quotas_have_a_code_and_the_default_of_a_new_account() -> None:
    quotas = section(page(), "Quotas at full size")
    assert "| us-west-2, profile `ci` | 80 vCPUs | 0 | `ci/t4` |" in quotas
    assert "(`L-3819A6DF`)" in quotas
    assert "| 4 GPUs | often 0 | `oci/a10` |" in quotas
    assert "| 2 OCPUs |  | `oci-existing/system` |" in quotas
    existing = {f"clusters.{name}": GONE for name in ("ci", "existing", "oci", "oci-existing")}
    assert "## Quotas" not in page(existing), "a title without a table"


def test_versions_have_the_end_of_their_support() -> None:
    versions = section(page(), "Versions")
    assert "| `1.35` | 2027-03-27 (end of standard support) | `ci` |" in versions
    assert "30 days after OKE releases" in versions
    assert "| Chart gitlab-runner | `0.86.0` |  | `ci`, `existing`, `honey` |" in versions


def test_warnings_come_before_folded_notes_and_silenced_findings() -> None:
    report = report_json(loaded(every_key()))
    report["findings"], report["silenced"] = [], []
    assert "## Findings" not in markdown_of(report), "a title without a line"
    one = {"rule": "r", "path": "clusters.ci", "message": "is odd", "remedy": "mend it"}
    report["findings"] = [{**one, "severity": "note"}, {**one, "severity": "warning"}]
    report["silenced"] = [{**one, "severity": "warning", "reason": "known @team"}]
    text = markdown_of(report)
    line = "- `clusters.ci`: is odd; mend it (`r`)"
    assert text.endswith(
        f"## Findings\n\n{line}\n\n<details>\n<summary>1 note</summary>\n\n{line}\n\n</details>\n\n"
        f"<details>\n<summary>1 silenced</summary>\n\n{line}<br>silenced: known @\u200bteam\n\n"
        "</details>\n"
    )
    assert "1 warning, 1 note, 1 silenced" in text


@pytest.mark.parametrize("key", [*Report.model_fields, "nothing"])
def test_a_report_that_lacks_a_key_is_still_rendered(key: str) -> None:
    report = report_json(loaded(every_key()))
    report.pop(key, None)
    assert markdown_of(report).startswith("## Fleet")


def test_a_report_whose_clusters_lack_their_keys_is_still_rendered() -> None:
    report = report_json(loaded(every_key()))
    for cluster in report["clusters"].values():
        for part in ("pools", "lanes"):
            cluster[part] = {name: {} for name in cluster[part]}
    assert "github/gpu" in markdown_of(report)
    assert markdown_of({}).startswith("## Fleet\n")


def test_no_text_of_a_report_ends_its_cell_or_code_span_or_starts_html() -> None:
    report = report_json(loaded(every_key()))
    nasty = "a|b`c``<script>\n## x [y](z) @team"
    report["clusters"]["ci"]["lanes"]["github/gpu"]["write"] = [nasty]
    report["findings"] = [
        {"rule": nasty, "severity": "warning", "path": nasty, "message": nasty, "remedy": nasty}
    ]
    text = markdown_of(report)
    assert "\n## x" not in text
    cells = row(text, "ci", "github/gpu")
    assert len(re.split(r"(?<!\\)\|", cells)) == len(re.split(r"\|", row(text, "ci", "github/big")))
    outside = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text.partition("## Findings")[2])
    assert "<script>" not in outside.replace("\\<", "")
    assert "@team" not in outside


@given(st.text(max_size=30))
def test_a_code_span_holds_any_text(text: str) -> None:
    line = " ".join(text.split())
    span_ = code(text)
    assert "\n" not in span_
    if line:
        fence = re.match(r"`+", span_)
        assert fence is not None
        inside = span_[len(fence[0]) : -len(fence[0])]
        assert inside.strip(" ") == line.strip(" ")
        assert fence[0] not in re.findall(r"`+", inside), "the span would end too early"
    else:
        assert span_ == ""


@given(st.text(max_size=30))
def test_plain_text_shows_as_it_is(text: str) -> None:
    escaped = plain(text).replace("\u200b", "") if "\u200b" not in text else plain(text)
    assert not re.search(r"(?<!\\)(\\\\)*[`*_<\[]", escaped), "every mark is escaped"


@given(st.lists(st.text(alphabet="ab|`\\ ", max_size=6), min_size=2, max_size=4))
def test_a_pipe_ends_no_cell(cells: list[str]) -> None:
    line = table([str(index) for index in range(len(cells))], [cells])[-1]
    assert len(re.findall(r"(?<!\\)\|", line)) == len(cells) + 1


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (size(0), "0 MiB"),
        (size(1023), "1023 MiB"),
        (size(1024), "1 GiB"),
        (size(1535), "1.4 GiB"),
        (size(1536), "1.5 GiB"),
        (cpu(1760), "1.76 CPU"),
        (cpu(2000), "2 CPU"),
        (hourly(0.0264), "0.026"),
        (hourly(21.957642), "21.96"),
        (span("1", "1"), "1"),
        (span("0", "1"), "0 to 1"),
    ],
)
def test_amounts_are_rounded_and_have_a_unit(text: str, wanted: str) -> None:
    assert text == wanted


def test_nodes_of_an_existing_cluster_are_not_called_free() -> None:
    site = report_json(loaded({"clusters": {"honey": every_key()["clusters"]["honey"]}}))
    assert "| Cost per month | no pool has a price |" in markdown_of(site)
