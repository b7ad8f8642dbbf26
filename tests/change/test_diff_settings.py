"""The difference of two stack files."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from change.settings import renames, settings

STACK: dict[str, Any] = {
    "protect": True,
    "clusters": {
        "ci": {
            "eks": {"pools": {"t4": {"max_size": 1}, "cpu": {"max_size": 2}}},
            "github": {"lanes": {"gpu": {"pools": ["t4", "cpu"], "gpus": 1}}},
            "gitlab": {
                "lanes": {
                    "gpu": {"pools": ["t4"], "tags": ["gpu"]},
                    "named": {"pools": ["t4"]},
                }
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


def told(head: object) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [(one.kind, one.old, one.new, one.lost) for one in renames(STACK, head)]


def test_equal_files_do_not_differ() -> None:
    assert settings(STACK, copy.deepcopy(STACK)) == ()
    assert renames(STACK, copy.deepcopy(STACK)) == ()


def test_a_setting_is_told_with_its_path_and_both_values() -> None:
    head = changed(lambda clusters: clusters["ci"]["eks"]["pools"]["t4"].update(max_size=3))
    (one,) = settings(STACK, head)
    assert (one.path, one.change, one.old, one.new) == (
        "clusters.ci.eks.pools.t4.max_size",
        "update",
        1,
        3,
    )


def test_a_map_that_comes_or_goes_is_one_setting() -> None:
    head = changed(lambda clusters: clusters["ci"].pop("gitlab"))
    (one,) = settings(STACK, head)
    assert (one.path, one.change, one.new) == ("clusters.ci.gitlab", "delete", None)
    (one,) = settings(head, STACK)
    assert (one.path, one.change, one.old) == ("clusters.ci.gitlab", "add", None)
    assert '"tags": ["gpu"]' in str(one.new)


def test_a_flag_is_not_a_number() -> None:
    (one,) = settings({"a": True}, {"a": 1})
    assert (one.old, one.new) == (True, 1)


@pytest.mark.parametrize(
    ("forge", "old", "lost"),
    [("github", "gpu", ("gpu",)), ("gitlab", "gpu", ()), ("gitlab", "named", ("named",))],
)
def test_a_renamed_lane_is_told_with_the_words_that_nobody_answers_to(
    forge: str, old: str, lost: tuple[str, ...]
) -> None:
    head = changed(lambda clusters: move(clusters["ci"][forge]["lanes"], old, "new"))
    kind = {"github": "GitHub lane", "gitlab": "GitLab lane"}[forge]
    assert told(head) == [(kind, old, "new", lost)]
    assert settings(STACK, head) == (), "a rename is no further change"


def test_a_renamed_pool_renames_itself_in_the_lanes() -> None:
    def change(clusters: dict[str, Any]) -> None:
        move(clusters["ci"]["eks"]["pools"], "t4", "tesla")
        for forge in ("github", "gitlab"):
            for lane in clusters["ci"][forge]["lanes"].values():
                lane["pools"] = ["tesla" if pool == "t4" else pool for pool in lane["pools"]]

    head = changed(change)
    assert told(head) == [("pool", "t4", "tesla", ())]
    assert settings(STACK, head) == ()


def test_a_renamed_cluster_hides_nothing_inside_it() -> None:
    head = changed(lambda clusters: move(clusters, "ci", "ci-2"))
    assert told(head) == [("cluster", "ci", "ci-2", ())]
    both = copy.deepcopy(head)
    both["clusters"]["ci-2"]["eks"]["pools"]["t4"]["max_size"] = 9
    assert told(both) == [], "what also changed is another cluster"
    assert {one.path for one in settings(STACK, both)} == {"clusters.ci", "clusters.ci-2"}


def test_a_lane_that_also_changed_is_another_lane() -> None:
    def change(clusters: dict[str, Any]) -> None:
        move(clusters["ci"]["github"]["lanes"], "gpu", "new")
        clusters["ci"]["github"]["lanes"]["new"]["gpus"] = 2

    assert told(changed(change)) == []


def test_of_twins_nobody_knows_which_is_which() -> None:
    twins = {"clusters": {"ci": {"github": {"lanes": {"a": {"gpus": 1}, "b": {"gpus": 1}}}}}}
    others = {"clusters": {"ci": {"github": {"lanes": {"c": {"gpus": 1}, "d": {"gpus": 1}}}}}}
    assert renames(twins, others) == ()


def test_neither_file_is_changed_by_comparing() -> None:
    before = copy.deepcopy(STACK)
    settings(STACK, changed(lambda clusters: move(clusters, "ci", "ci-2")))
    assert before == STACK


@pytest.mark.parametrize("odd", [None, 1, [], {"clusters": []}, {"clusters": {"ci": None}}])
def test_a_file_of_another_shape_is_compared_too(odd: object) -> None:
    assert renames(odd, STACK) == ()
    assert settings(odd, STACK)
    assert settings(STACK, odd)
