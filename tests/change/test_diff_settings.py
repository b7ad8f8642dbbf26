"""The difference of two stack files."""

import copy
from typing import Any

import pytest

from change.document import Rename
from change.settings import settings

STACK: dict[str, Any] = {
    "protect": True,
    "clusters": {
        "ci": {
            "eks": {"pools": {"t4": {"max_size": 1}, "cpu": {"max_size": 2}}},
            "github": {"lanes": {"gpu": {"pools": ["t4", "cpu"], "gpus": 1}}},
            "gitlab": {
                "lanes": {"gpu": {"pools": ["t4"], "tags": ["gpu"]}, "named": {"pools": ["t4"]}}
            },
        }
    },
}


def changed(change: Any) -> dict[str, Any]:
    stack = copy.deepcopy(STACK)
    change(stack["clusters"])
    return stack


def move(holder: dict[str, Any], old: str, new: str) -> None:
    holder[new] = holder.pop(old)


def test_equal_files_do_not_differ() -> None:
    assert settings(STACK, copy.deepcopy(STACK)) == ()


def test_a_setting_has_its_path_and_both_values() -> None:
    head = changed(lambda clusters: clusters["ci"]["eks"]["pools"]["t4"].update(max_size=3))
    (one,) = settings(STACK, head)
    assert (one.path, one.change, one.old, one.new) == (
        "clusters.ci.eks.pools.t4.max_size",
        "update",
        1,
        3,
    )


def test_an_added_or_removed_map_is_one_setting() -> None:
    head = changed(lambda clusters: clusters["ci"].pop("gitlab"))
    (one,) = settings(STACK, head)
    assert (one.path, one.change, one.new) == ("clusters.ci.gitlab", "delete", None)
    (one,) = settings(head, STACK)
    assert (one.path, one.change, one.old) == ("clusters.ci.gitlab", "add", None)
    assert '"tags": ["gpu"]' in str(one.new)


def test_true_differs_from_one() -> None:
    (one,) = settings({"a": True}, {"a": 1})
    assert (one.old, one.new) == (True, 1)


@pytest.mark.parametrize("forge", ["GitHub", "GitLab"])
def test_a_renamed_lane_shows_only_the_settings_that_also_change(forge: str) -> None:
    def change(clusters: dict[str, Any]) -> None:
        lanes = clusters["ci"][forge.lower()]["lanes"]
        move(lanes, "gpu", "new")
        lanes["new"]["gpus"] = 2

    rename = Rename.model_validate(
        {"kind": f"{forge} lane", "cluster": "ci", "old": "gpu", "new": "new"}
    )
    (one,) = settings(STACK, changed(change), [rename])
    assert one.path == f"clusters.ci.{forge.lower()}.lanes.new.gpus"


def test_a_renamed_pool_is_renamed_in_its_lanes_too() -> None:
    def change(clusters: dict[str, Any]) -> None:
        move(clusters["ci"]["eks"]["pools"], "t4", "tesla")
        for forge in ("github", "gitlab"):
            for lane in clusters["ci"][forge]["lanes"].values():
                lane["pools"] = ["tesla" if pool == "t4" else pool for pool in lane["pools"]]

    rename = Rename(kind="pool", cluster="ci", old="t4", new="tesla")
    assert settings(STACK, changed(change), [rename]) == ()


def test_a_renamed_cluster_shows_what_changes_in_it() -> None:
    def change(clusters: dict[str, Any]) -> None:
        move(clusters, "ci", "ci-2")
        clusters["ci-2"]["eks"]["pools"]["t4"]["max_size"] = 9

    head = changed(change)
    (one,) = settings(STACK, head, [Rename(kind="cluster", old="ci", new="ci-2")])
    assert one.path == "clusters.ci-2.eks.pools.t4.max_size"
    assert {one.path for one in settings(STACK, head)} == {"clusters.ci", "clusters.ci-2"}


def test_comparing_does_not_change_the_files() -> None:
    before = copy.deepcopy(STACK)
    rename = Rename(kind="cluster", old="ci", new="ci-2")
    settings(STACK, changed(lambda clusters: move(clusters, "ci", "ci-2")), [rename])
    assert before == STACK


@pytest.mark.parametrize("odd", [None, 1, [], {"clusters": []}, {"clusters": {"ci": None}}])
def test_files_of_another_shape_are_compared_too(odd: object) -> None:
    assert settings(odd, STACK, [Rename(kind="cluster", old="ci", new="x")])
    assert settings(STACK, odd)
