"""The difference of two reports: money, GPUs, what is new, gone, changed or called otherwise."""

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest

from fleet.catalog.ec2 import instance_type
from tests.fleet.report.reports import difference_json, is_empty, page_of, report_json
from tests.fleet.samples import GONE, SHIPPED, changed, every_key, loaded, shipped_stack

PROD = "clusters.ci-usw2"
EKS = f"{PROD}.eks"
T4 = f"{EKS}.pools.t4"
LANES = f"{PROD}.github.lanes"
BIG = f"{LANES}.gpu-a100-x8"


def prod(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return report_json(loaded(changed(shipped_stack("prod"), changes or {})), stack="prod")


def difference(changes: Mapping[str, Any]) -> dict[str, Any]:
    return difference_json(prod(), prod(changes))


def renamed(holder: str, old: str, new: str) -> dict[str, Any]:
    """Changes that give something another name."""
    body: Any = shipped_stack("prod")
    for part in (*holder.split("."), old):
        body = body[part]
    return {f"{holder}.{old}": GONE, f"{holder}.{new}": body}


def unchanged(found: dict[str, Any], *but: str) -> None:
    """Nothing differs in what is not named."""
    rest = {name: found[name] for name in ("clusters", "pools", "lanes") if name not in but}
    assert all(not any(one.values()) for one in rest.values()), rest


@pytest.mark.parametrize("name", [*SHIPPED, "every key"])
def test_a_report_does_not_differ_from_itself(name: str) -> None:
    whole = report_json(loaded(every_key() if name == "every key" else shipped_stack(name)))
    found = difference_json(whole, copy.deepcopy(whole))
    assert is_empty(found)
    assert found["base"] is True
    assert page_of(found) == "## Difference\n\nThe reports do not differ.\n"


def test_without_a_base_everything_is_new() -> None:
    whole = prod()
    found = difference_json(None, whole)
    assert found["clusters"]["added"] == ["ci-usw2", "ci-iad"]
    assert len(found["pools"]["added"]) == whole["totals"]["pools"]
    assert len(found["lanes"]["added"]) == whole["totals"]["lanes"]
    assert found["updates"] == [], "no job runs yet"
    assert "There is no base" in page_of(found)


def test_the_difference_survives_json_and_a_base_that_came_from_json() -> None:
    base = json.loads(json.dumps(prod()))
    head = prod({f"{T4}.max_size": 3})
    found = difference_json(base, head)
    assert json.loads(json.dumps(found)) == found == difference_json(prod(), head)


def test_the_reverse_difference_swaps_added_and_removed() -> None:
    lane = {"pools": ["t4"], "gpus": 1, "max_runners": 1, "labels": ["quite", "another"]}
    pool = {"instance_types": ["g5.xlarge"], "max_size": 1}
    head = prod({f"{LANES}.more": lane, f"{EKS}.pools.a10g": pool})
    there, back = difference_json(prod(), head), difference_json(head, prod())
    assert there["lanes"]["added"] == back["lanes"]["removed"] == ["ci-usw2/github/more"]
    assert there["pools"]["added"] == back["pools"]["removed"] == ["ci-usw2/a10g"]
    assert there["lanes"]["removed"] == there["pools"]["removed"] == []
    assert there["gpus"] == {"A10G": {"old": None, "new": 1}}
    assert back["gpus"] == {"A10G": {"old": 1, "new": None}}
    for end in there["money"]:
        assert there["money"][end]["old"] == back["money"][end]["new"]
        assert there["money"][end]["new"] == back["money"][end]["old"]


def test_a_resize_changes_the_pool_the_cost_and_the_gpus() -> None:
    found = difference({f"{T4}.max_size": 14})
    assert found["pools"]["changed"] == {"ci-usw2/t4": {"max": {"old": 10, "new": 14}}}
    assert found["gpus"] == {"T4": {"old": 20, "new": 24}}
    more = found["money"]["ceiling"]["new"] - found["money"]["ceiling"]["old"]
    hour = instance_type("g4dn.xlarge").usd_per_hour
    assert more == pytest.approx(4 * 730 * hour, abs=0.01)
    assert "floor" not in found["money"], "an idle pool costs what it did"
    assert found["lanes"]["changed"] == {}, "what follows from it is no change of a lane"
    assert found["lanes"]["effects"]["ci-usw2/github/gpu-t4-container"] == {
        "jobs_on_full_pools": {"old": 20, "new": 28}
    }


def test_another_instance_type_is_one_change_and_the_rest_are_effects() -> None:
    found = difference({f"{T4}.instance_types": ["g6.xlarge"]})
    types = {"old": ["g4dn.xlarge"], "new": ["g6.xlarge"]}
    assert found["pools"]["changed"] == {"ci-usw2/t4": {"kinds": types}}
    effects = found["pools"]["effects"]["ci-usw2/t4"]
    assert effects["gpu"] == {"old": "T4", "new": "L4"}
    assert effects["price.usd_per_hour"] == {"old": 0.526, "new": 0.8048}
    assert found["lanes"]["changed"] == {}
    assert found["gpus"] == {"T4": {"old": 20, "new": 10}, "L4": {"old": None, "new": 10}}


def test_a_size_that_is_stated_is_a_change_and_a_fair_share_is_an_effect() -> None:
    found = difference({f"{BIG}.cpu": 90})
    lane = found["lanes"]["changed"]["ci-usw2/github/gpu-a100-x8"]
    assert lane == {"cpu": {"old": 95290, "new": 90000}}
    unchanged(found, "lanes")


def test_a_lane_with_a_new_name_is_renamed() -> None:
    found = difference(renamed(LANES, "gpu-a100-x8", "gpu-a100-all"))
    lanes = found["lanes"]
    assert lanes["renamed"] == {"ci-usw2/github/gpu-a100-x8": "ci-usw2/github/gpu-a100-all"}
    assert lanes["added"] == lanes["removed"] == []
    write = {"old": ["gpu-a100-x8"], "new": ["gpu-a100-all"]}
    assert lanes["changed"] == {"ci-usw2/github/gpu-a100-all": {"write": write}}
    unchanged(found, "lanes")


def test_a_renamed_lane_may_have_another_change() -> None:
    change = renamed(LANES, "gpu-a100-x8", "all")
    change[f"{LANES}.all"] |= {"max_runners": 2}
    lanes = difference(change)["lanes"]
    assert lanes["renamed"] == {"ci-usw2/github/gpu-a100-x8": "ci-usw2/github/all"}
    assert lanes["changed"]["ci-usw2/github/all"]["most_jobs"] == {"old": 1, "new": 2}


@pytest.mark.parametrize(
    "other", [{"gpus": 4}, {"pools": ["t4"], "gpus": 1}, {"labels": ["quite", "another"]}]
)
def test_a_lane_with_other_gpus_pools_or_labels_is_not_a_rename(other: dict[str, Any]) -> None:
    lane = {"pools": ["a100"], "gpus": 8, "max_runners": 1, "group": "GPUs", "labels": ["x"]}
    base = prod({BIG: lane})
    head = prod({BIG: GONE, f"{LANES}.else": {**lane, **other}})
    lanes = difference_json(base, head)["lanes"]
    assert lanes["renamed"] == {}
    assert (lanes["added"], lanes["removed"]) == (
        ["ci-usw2/github/else"],
        ["ci-usw2/github/gpu-a100-x8"],
    )


def test_of_two_added_lanes_the_more_similar_one_is_the_rename() -> None:
    lane = {"pools": ["a100"], "gpus": 8, "max_runners": 1, "group": "GPUs"}
    base = prod({BIG: lane})
    near, far = lane, {**lane, "max_runners": 3}
    head = prod({BIG: GONE, f"{LANES}.far": far, f"{LANES}.near": near})
    lanes = difference_json(base, head)["lanes"]
    assert lanes["renamed"] == {"ci-usw2/github/gpu-a100-x8": "ci-usw2/github/near"}
    assert lanes["added"] == ["ci-usw2/github/far"]


def test_a_renamed_pool_does_not_change_its_lanes() -> None:
    lanes = {
        f"{LANES}.gpu-t4.pools": ["t4-spot", "cards"],
        f"{LANES}.gpu-t4-container.pools": ["cards"],
        f"{PROD}.gitlab.lanes.t4.pools": ["t4-spot", "cards"],
    }
    found = difference({**renamed(f"{EKS}.pools", "t4", "cards"), **lanes})
    assert found["pools"]["renamed"] == {"ci-usw2/t4": "ci-usw2/cards"}
    assert found["pools"]["changed"] == {}
    unchanged(found, "pools")


def test_a_renamed_cluster_does_not_change_its_pools_and_lanes() -> None:
    found = difference(renamed("clusters", "ci-usw2", "ci-west"))
    assert found["clusters"]["renamed"] == {"ci-usw2": "ci-west"}
    assert found["clusters"]["added"] == found["clusters"]["removed"] == []
    unchanged(found, "clusters")
    assert [one["what"] for one in found["updates"]] == ["cluster"], "the engine still replaces it"


def test_a_different_cluster_is_not_a_rename() -> None:
    small = {"eks": {**shipped_stack("prod")["clusters"]["ci-usw2"]["eks"], "version": "1.36"}}
    small["eks"]["pools"] = {
        "only": {"instance_types": ["m6i.large"], "min_size": 1, "max_size": 1}
    }
    found = difference({PROD: GONE, "clusters.new": small})
    assert found["clusters"]["renamed"] == {}
    assert (found["clusters"]["added"], found["clusters"]["removed"]) == (["new"], ["ci-usw2"])


def test_versions_tags_and_charts_are_changes_of_the_cluster() -> None:
    found = difference({f"{EKS}.version": "1.36", "tags.team": "ci", "charts": {}})
    cluster = found["clusters"]["changed"]["ci-usw2"]
    assert cluster["version"] == {"old": "1.35", "new": "1.36"}
    assert cluster["tags.team"] == {"old": None, "new": "ci"}
    end = found["clusters"]["effects"]["ci-usw2"]["support_end"]
    assert end["old"] < end["new"]


def test_the_order_of_zones_is_no_difference_and_another_zone_is() -> None:
    three = ["us-west-2c", "us-west-2a", "us-west-2b"]
    assert is_empty(difference_json(prod(), prod({f"{T4}.zones": three})))
    assert "zones" in difference({f"{T4}.zones": three[:2]})["pools"]["changed"]["ci-usw2/t4"]


def test_labels_of_the_stack_file_are_changes_and_derived_ones_are_effects() -> None:
    found = difference({f"{T4}.labels": {"example.com/team": "ci"}, f"{T4}.sharing": GONE})
    pool = found["pools"]["changed"]["ci-usw2/t4"]
    assert pool["labels.example.com/team"] == {"old": None, "new": "ci"}
    assert pool["time_slices"] == {"old": 2, "new": 1}
    assert not [one for one in pool if "nvidia.com" in one]


def test_taints_of_an_existing_cluster_are_changes() -> None:
    taints = [{"key": "nvidia.com/gpu", "value": "", "effect": "NoSchedule"}]
    pool = "clusters.honey.existing.pools.a100"
    head = report_json(loaded(every_key({f"{pool}.taints": taints})))
    found = difference_json(report_json(loaded(every_key())), head)["pools"]["changed"]
    assert found["honey/a100"]["taints"] == {"old": [], "new": ["nvidia.com/gpu=:NoSchedule"]}


def test_a_paused_lane_is_one_change() -> None:
    found = difference({f"{BIG}.paused": True})
    assert found["lanes"]["changed"]["ci-usw2/github/gpu-a100-x8"] == {
        "paused": {"old": False, "new": True}
    }
    assert found["lanes"]["effects"]["ci-usw2/github/gpu-a100-x8"]["most_jobs"] == {
        "old": 1,
        "new": 0,
    }


def test_findings_are_new_or_gone() -> None:
    one = {"rule": "r", "severity": "warning", "path": "a", "message": "is odd", "remedy": "mend"}
    base, head = prod(), prod()
    base["findings"], head["findings"] = [one], [{**one, "severity": "note"}]
    found = difference_json(base, head)["findings"]
    assert found == {"new": [{**one, "severity": "note"}], "gone": [one]}
    head["findings"] = [{**one, "remedy": "whole in other words"}]
    assert difference_json(base, head)["findings"] == {"new": [], "gone": []}


def test_a_finding_with_another_message_is_the_same_and_a_second_one_is_new() -> None:
    one = {"rule": "r", "severity": "note", "path": "a", "message": "2 odd", "remedy": "mend"}
    base, head = prod(), prod()
    base["findings"], head["findings"] = [one], [{**one, "message": "3 odd"}]
    assert difference_json(base, head)["findings"] == {"new": [], "gone": []}
    head["findings"].append({**one, "message": "more"})
    found = difference_json(base, head)["findings"]
    assert [finding["message"] for finding in found["new"]] == ["more"]
    assert found["gone"] == []


def test_of_several_findings_with_one_path_the_new_one_is_shown() -> None:
    one = {"rule": "r", "severity": "note", "path": "a", "message": "known", "remedy": "mend"}
    base, head = prod(), prod()
    base["findings"], head["findings"] = [one], [{**one, "message": "first"}, one]
    assert [new["message"] for new in difference_json(base, head)["findings"]["new"]] == ["first"]


def test_the_finding_of_a_renamed_lane_is_not_new() -> None:
    old, new = "clusters.ci-usw2.github.lanes.gpu-a100", "clusters.ci-usw2.github.lanes.big"
    one = {"rule": "r", "severity": "warning", "path": f"{old}.labels", "message": "", "remedy": ""}
    base = prod()
    head = prod(renamed("clusters.ci-usw2.github.lanes", "gpu-a100", "big"))
    base["findings"], head["findings"] = [one], [{**one, "path": f"{new}.labels"}]
    found = difference_json(base, head)
    assert found["findings"] == {"new": [], "gone": []}
    (update,) = [one for one in found["updates"] if one["what"] == "lane"]
    assert update["effect"] == "renamed"
    assert update["says"].startswith(
        "a new scale set is created with the name big, and the old one is deleted; no runner takes "
        "jobs with runs-on: gpu-a100. The update waits at most 60 minutes for its running jobs"
    )


@pytest.mark.parametrize("where", ["pools", "lanes", "clusters"])
def test_a_key_that_an_older_report_does_not_have_is_no_difference(where: str) -> None:
    whole = prod()
    keys = {"pools": "t4", "lanes": "github/gpu-t4"}

    def bodies(report: dict[str, Any]) -> dict[str, Any]:
        cluster = report["clusters"]["ci-usw2"]
        return cluster if where == "clusters" else cluster[where][keys[where]]

    for key in [key for key in bodies(whole) if key not in ("pools", "lanes", "kind")]:
        old = copy.deepcopy(whole)
        del bodies(old)[key]
        assert is_empty(difference_json(old, whole)), key
    nested = {"pools": "made_of", "lanes": "job"}
    for key in bodies(whole)[nested[where]] if where in nested else ():
        old = copy.deepcopy(whole)
        del bodies(old)[nested[where]][key]
        assert is_empty(difference_json(old, whole)), key


def test_a_base_with_almost_no_keys_is_compared() -> None:
    for odd in ({}, {"clusters": {"ci-usw2": {}}}, {"unknown": 1}):
        assert difference_json(odd, prod())["base"] is True


def test_the_page_folds_effects() -> None:
    changes = {
        **renamed(LANES, "gpu-a100-x8", "gpu-a100-all"),
        f"{T4}.max_size": 14,
        f"{EKS}.pools.t4-spot.instance_types": ["g6.xlarge"],
    }
    text = page_of(difference(changes))
    shown = text.partition("<details>")[0]
    assert "- lane `ci-usw2/github/gpu-a100-x8` is now `ci-usw2/github/gpu-a100-all`" in text
    table = [line for line in shown.splitlines() if line.startswith(("| pool", "| lane", "| clu"))]
    assert table == [
        "| pool `ci-usw2/t4-spot` | instance types | `g4dn.xlarge` | `g6.xlarge` |",
        "| pool `ci-usw2/t4` | maximum nodes | `10` | `14` |",
        "| lane `ci-usw2/github/gpu-a100-all` | labels or tags | `gpu-a100-x8` | `gpu-a100-all` |",
    ]
    assert "| T4 GPUs at full size | 20 | 14 | **-6** |" in shown
    assert shown.index("replaced") < shown.index("Cost per month"), "effects on jobs come first"
    assert "| pool `ci-usw2/t4-spot` | GPU model | `T4` | `L4` |" in text.partition("<details>")[2]


def test_the_page_shows_the_change_of_cost() -> None:
    found = difference({f"{EKS}.pools.system.min_size": 1, f"{EKS}.pools.system.max_size": 5})
    month = 730 * instance_type("m6i.large").usd_per_hour
    floor, ceiling = (found["money"][end] for end in ("floor", "ceiling"))
    assert floor["new"] - floor["old"] == pytest.approx(-month, abs=0.02)
    assert ceiling["new"] - ceiling["old"] == pytest.approx(month, abs=0.02)
    text = page_of(found)
    assert f"| **{-month:+,.0f} USD** |" in text
    assert f"| **{month:+,.0f} USD** |" in text


def test_the_page_lists_added_and_removed_items_and_findings() -> None:
    one = {"rule": "r", "severity": "warning", "path": "a.b", "message": "is odd", "remedy": "mend"}
    base, head = prod(), prod({BIG: GONE})
    base["findings"] = [one]
    head["findings"] = [{**one, "path": "a.c"}]
    text = page_of(difference_json(base, head))
    assert "- removed: lane `ci-usw2/github/gpu-a100-x8`" in text
    assert "**New findings**\n\n- `a.c`: is odd; mend (`r`)\n" in text
    assert "**Resolved findings**\n\n- `a.b`: is odd; mend (`r`)\n" in text
