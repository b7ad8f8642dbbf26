"""What an update does to jobs that run: which pools roll, are replaced or shrink."""

from collections.abc import Mapping
from typing import Any

import pytest
from pulumi_rehearsal.standin.aws.eks_node_group import NodeGroup
from pulumi_rehearsal.standin.oci.oke_node_pool import NodePool

from change.consequences import SEVERE
from tests.fleet.report.reports import difference_json, page_of, report_json
from tests.fleet.samples import GONE, every_key, loaded

CI = "clusters.ci"
T4 = f"{CI}.eks.pools.t4"
OCI = "clusters.oci"
A10 = f"{OCI}.oke.pools.a10"
GPU = f"{CI}.github.lanes.gpu"
T4_LANES = [
    *("ci/github/gpu", "ci/gitlab/gl", "ci/gitlab/project", "ci/gitlab/instance"),
    "ci/gitlab/token",
]


def updates(
    changes: Mapping[str, Any], base: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    old = report_json(loaded(every_key(base)))
    return difference_json(old, report_json(loaded(every_key({**(base or {}), **changes}))))[
        "updates"
    ]


def only(
    changes: Mapping[str, Any], base: Mapping[str, Any] | None = None
) -> tuple[str, str, list[str], int]:
    """The one update: of what, its effect, its causes, how many nodes."""
    (one,) = updates(changes, base)
    return one["id"], one["effect"], one["because"], one["nodes"]


@pytest.mark.parametrize(
    ("change", "effect", "because"),
    [
        ({"instance_types": ["g4dn.4xlarge"]}, "replaced", ["kinds"]),
        ({"instance_types": ["g4dn.2xlarge", "g4dn.xlarge"]}, "replaced", ["kinds"]),
        ({"capacity_type": "ON_DEMAND"}, "replaced", ["capacity"]),
        ({"zones": ["us-west-2a"]}, "replaced", ["zones"]),
        ({"release_version": "1.35.8-20261012"}, "rolled", ["made_of.image"]),
        ({"disk_gib": 300}, "rolled", ["made_of.disk_gib"]),
        ({"instance_store": "unused"}, "rolled", ["made_of.raid0"]),
    ],
)
def test_a_change_of_a_node_group_rolls_or_replaces_its_nodes(
    change: dict[str, Any], effect: str, because: list[str]
) -> None:
    changes = {f"{T4}.{key}": value for key, value in change.items()}
    assert only({**changes, f"{GPU}.disk": "1Gi"}) == ("ci/t4", effect, because, 10)


@pytest.mark.parametrize(
    "change",
    [
        {"labels": {"example.com/team": "other"}},
        {"max_size": 12},
        {"min_size": 1},
        {"paused": True},
        {"node_repair": False},
        {"reserve": {}},
        {"zones": ["us-west-2b", "us-west-2a"]},
        {"sharing": {"time_slicing": 3}},
    ],
)
def test_labels_taints_and_bounds_leave_the_nodes_of_a_group_alone(change: dict[str, Any]) -> None:
    assert updates({f"{T4}.{key}": value for key, value in change.items()}) == []


def test_a_smaller_maximum_shrinks_the_pool() -> None:
    assert only({f"{T4}.max_size": 6}) == ("ci/t4", "shrunk", ["max"], 4)


def test_an_update_names_the_lanes_of_the_pool() -> None:
    (one,) = updates({f"{T4}.disk_gib": 300})
    assert one["lanes"] == T4_LANES
    assert one["what"] == "pool"
    assert one["says"]


def test_efa_and_a_reservation_are_in_the_launch_template() -> None:
    a100 = f"{CI}.eks.pools.a100"
    assert only({f"{a100}.efa": False})[1:3] == ("rolled", ["made_of.efa_interfaces"])
    other = {f"{a100}.capacity_reservation_id": "cr-00000000000000000"}
    assert only(other)[1:3] == ("rolled", ["made_of.reservation"])


def test_a_tag_of_the_stack_rolls_every_node_group_and_no_other_pool() -> None:
    """Tags are in the launch template, since EKS copies none to instances."""
    found = updates({"tags": {"environment": "test", "team": "ci"}})
    assert {one["id"] for one in found} == {
        *("ci/system", "ci/t4", "ci/a100", "existing/system", "existing/t4")
    }
    assert {one["effect"] for one in found} == {"rolled"}
    assert found[0]["because"] == ["cluster.tags.team"]


def test_a_new_kubernetes_version_rolls_every_pool_of_a_group_that_pins_no_image() -> None:
    free = {f"{T4}.release_version": GONE}
    found = updates({f"{CI}.eks.version": "1.36"}, free)
    assert [(one["id"], one["effect"]) for one in found] == [
        (f"ci/{name}", "rolled") for name in ("system", "t4", "a100")
    ]
    assert found[1]["because"] == ["made_of.image", "cluster.version"]


def test_a_renamed_pool_is_removed_with_its_nodes() -> None:
    pool = every_key()["clusters"]["existing"]["eks"]["pools"]["t4"]
    pools, lanes = "clusters.existing.eks.pools", "clusters.existing.gitlab.lanes"
    renamed = {f"{pools}.t4": GONE, f"{pools}.cards": pool, f"{lanes}.secret.pools": ["cards"]}
    assert only(renamed) == ("existing/t4", "removed", [], 3)


def test_subnets_that_move_replace_the_node_groups_in_them() -> None:
    """The third zone of three leaves half of the range to each, the first two get a quarter."""
    zones = ["us-west-2a", "us-west-2b", "us-west-2c", "us-west-2d"]
    base = {f"{CI}.eks.network.zones": zones[:3], f"{T4}.zones": ["us-west-2a"]}
    found = {one["id"]: one for one in updates({f"{CI}.eks.network.zones": zones}, base)}
    assert found["ci/t4"]["because"] == ["cluster.network.subnets.us-west-2a"]
    assert found["ci/t4"]["effect"] == "replaced"
    assert "zones" in found["ci/system"]["because"], "a pool of all zones gets the new one"


def test_another_existing_subnet_replaces_the_node_groups_in_its_zone() -> None:
    subnets = "clusters.existing.eks.network.subnet_ids"
    found = updates({f"{subnets}.eu-central-1a": "subnet-0123456789abcdef9"})
    assert [one["id"] for one in found] == ["existing/system", "existing/t4"]
    assert {one["effect"] for one in found} == {"replaced"}


@pytest.mark.parametrize(
    ("change", "because"),
    [
        (
            {f"{OCI}.oke.region": "us-phoenix-1", "silence.other-region": "only the region moves"},
            ["cluster.region"],
        ),
        ({f"{OCI}.oke.network.cidr": "10.9.0.0/16"}, None),
        ({f"{OCI}.oke.compartment_id": "ocid1.compartment.oc1..other"}, ["cluster.compartment"]),
        ({f"{CI}.eks.network.cidr": "10.9.0.0/16"}, ["cluster.network.cidr"]),
    ],
)
def test_another_region_compartment_or_network_replaces_the_cluster(
    change: dict[str, Any], because: list[str] | None
) -> None:
    (one,) = updates(change)
    assert (one["what"], one["effect"]) == ("cluster", "replaced")
    body = report_json(loaded(every_key()))["clusters"][one["id"]]
    assert one["nodes"] == sum(pool["max"] for pool in body["pools"].values())
    assert one["lanes"] == [f"{one['id']}/{lane}" for lane in body["lanes"]]
    assert one["because"] == because or (because is None and one["because"])


def test_a_removed_cluster_is_deleted_but_an_existing_one_loses_only_its_lanes() -> None:
    assert only({OCI: GONE})[:2] == ("oci", "removed")
    found = updates({"clusters.honey": GONE})
    assert {(one["what"], one["effect"]) for one in found} == {("lane", "removed")}


@pytest.mark.parametrize(
    ("change", "because"),
    [
        ({"shape": "VM.GPU.A10.2"}, ["kinds"]),
        ({"boot_volume_gb": 500}, ["made_of.disk_gib"]),
        ({"image_id": "ocid1.image.oc1.iad.aaaaaaaaother"}, ["made_of.image"]),
        ({"labels": {"example.com/team": "ci"}}, ["labels.example.com/team"]),
        ({"paused": True}, ["taints"]),
        ({"preemptible": GONE}, ["capacity", "taints"]),
    ],
)
def test_a_change_of_an_oke_pool_reaches_new_nodes_unless_they_are_cycled(
    change: dict[str, Any], because: list[str]
) -> None:
    changes = {f"{A10}.{key}": value for key, value in change.items()}
    assert only(changes) == ("oci/a10", "new nodes only", because, 4)
    cycling = {f"{A10}.node_cycling": True}
    assert only(changes, cycling) == ("oci/a10", "rolled", because, 4)


def test_another_availability_domain_replaces_the_nodes_of_an_oke_pool() -> None:
    domains = {f"{A10}.availability_domains": ["Uocm:US-ASHBURN-AD-2"]}
    assert only(domains) == ("oci/a10", "replaced", ["zones"], 4)


def test_nodes_of_existing_clusters_have_no_updates() -> None:
    pool = "clusters.honey.existing.pools.a100"
    assert updates({f"{pool}.count": 1, f"{pool}.driver": "595.91.07"}) == []


@pytest.mark.parametrize(
    ("change", "because"),
    [({f"{GPU}.labels": ["cuda", "more"]}, ["write"]), ({f"{GPU}.labels": GONE}, ["write"])],
)
def test_changed_labels_replace_a_scale_set(change: dict[str, Any], because: list[str]) -> None:
    (one,) = updates(change)
    assert (one["what"], one["id"], one["effect"]) == ("lane", "ci/github/gpu", "replaced")
    assert one["because"] == because
    assert one["nodes"] == 0, "nodes stay"


def test_another_url_or_minor_of_arc_replaces_every_scale_set() -> None:
    found = updates({f"{CI}.github.url": "https://github.com/other-org"})
    assert [one["id"] for one in found] == ["ci/github/gpu", "ci/github/big"]
    assert {tuple(one["because"]) for one in found} == {("url",)}
    versions = updates({"charts.arc_version": "0.15.0"})
    assert {one["id"].split("/")[1] for one in versions} == {"github"}
    assert {tuple(one["because"]) for one in versions} == {("chart_version",)}
    assert updates({"charts.arc_version": "0.14.1"}) == [], "a patch changes a set in place"


def test_another_group_or_url_replaces_the_runner_of_a_gitlab_lane() -> None:
    (one,) = updates({f"{CI}.gitlab.lanes.gl.runner": {"group_id": 99}})
    assert (one["id"], one["effect"], one["because"]) == ("ci/gitlab/gl", "replaced", ["owner"])
    assert one["says"].startswith("a new runner takes the next jobs")
    found = updates({f"{CI}.gitlab.url": "https://gitlab.example.net"})
    assert {one["id"].split("/")[1] for one in found} == {"gitlab"}


def test_a_report_without_generations_is_compared_by_the_fields() -> None:
    old, new = (
        report_json(loaded(every_key(one))) for one in ({}, {f"{GPU}.labels": ["cuda", "more"]})
    )
    for lane in old["clusters"]["ci"]["lanes"].values():
        del lane["generation"]
    (one,) = difference_json(old, new)["updates"]
    assert (one["id"], one["effect"]) == ("ci/github/gpu", "replaced")


@pytest.mark.parametrize(("effect", "change"), [("replaced", {"labels": ["x"]}), ("removed", GONE)])
def test_a_lane_that_is_drained_says_how_many_jobs_it_waits_for_and_how_long(
    effect: str, change: Any
) -> None:
    base = {f"{GPU}.max_runners": 7, f"{GPU}.drain_minutes": 240}
    changes = {GPU: GONE} if change is GONE else {f"{GPU}.{key}": change[key] for key in change}
    (one,) = updates(
        {**changes, f"{GPU}.drain_minutes": 5} if change is not GONE else changes, base
    )
    assert (one["effect"], one["jobs"]) == (effect, 7)
    assert one["minutes"] == 240, "what is deleted waits as it was told when it was made"
    assert (
        "The update waits at most 240 minutes for its running jobs (at most 7). The change ends "
        "no job of a lane: if one takes longer, the update fails" in one["says"]
    )


def test_a_lane_that_moves_to_another_cluster_is_not_lost() -> None:
    moved = {
        f"{CI}.gitlab.lanes.project": GONE,
        "clusters.existing.gitlab.lanes.project": {
            **{"pools": ["t4"], "gpus": 1, "runner": {"project_id": 7}}
        },
        "clusters.existing.gitlab.api_token": {"secret": "gitlabApiToken"},
    }
    (one,) = updates(moved)
    assert (one["id"], one["effect"], one["to"]) == ("ci/gitlab/project", "moved", "existing")
    assert one["says"].startswith("its new runner takes the next jobs, and the old one is deleted")


@pytest.mark.parametrize(
    ("pool", "change", "says"),
    [
        (T4, {"disk_gib": 300}, "EKS waits at most 15 minutes for the jobs of a node. A longer"),
        (
            T4,
            {"instance_types": ["g4dn.4xlarge"]},
            "EKS waits at most 5 minutes for their jobs, wh",
        ),
        (T4, {"max_size": 6}, "Jobs that run on them fail"),
        (
            A10,
            {"boot_volume_gb": 500},
            "OKE waits at most 60 minutes for the jobs of a node. A long",
        ),
        (A10, {"boot_volume_gb": 500, "eviction_minutes": 20}, "OKE waits at most 20 minutes for"),
        (A10, {"boot_volume_gb": 500, "eviction_minutes": 0}, "Jobs that run on them fail"),
        (A10, {"max_size": 1}, "those above it are deleted. OKE waits at most 60 minutes"),
        (f"{OCI}.oke.pools.system", {"boot_volume_gb": 500}, "jobs of a node, which then fail"),
    ],
)
def test_a_pool_says_what_the_cloud_does_with_its_jobs(
    pool: str, change: dict[str, Any], says: str
) -> None:
    base = {f"{A10}.node_cycling": True, f"{OCI}.oke.pools.system.node_cycling": True}
    (one,) = updates({f"{pool}.{key}": value for key, value in change.items()}, base)
    assert says in one["says"]


def test_the_jobs_on_a_pool_are_bounded_by_its_gpus_its_nodes_and_its_lanes() -> None:
    (rolled,) = updates({f"{T4}.disk_gib": 300})
    (shrunk,) = updates({f"{T4}.max_size": 9})
    body = report_json(loaded(every_key()))["clusters"]["ci"]
    per_node = body["pools"]["t4"]["advertised"]
    assert (rolled["jobs"], shrunk["jobs"]) == (10 * per_node, per_node)
    few = {f"{CI}.gitlab.lanes.{one}": GONE for one in ("project", "instance", "token")}
    few |= {f"{CI}.gitlab.lanes.gl.concurrent": 2, f"{GPU}.max_runners": 3}
    (rolled,) = updates({f"{T4}.disk_gib": 300}, few)
    assert rolled["jobs"] == 5


def test_other_changes_of_a_lane_have_no_update() -> None:
    assert updates({f"{GPU}.cpu": "1", f"{GPU}.max_runners": 9, f"{GPU}.image": "x/y:1"}) == []


def test_a_removed_lane_is_an_update() -> None:
    assert only({f"{CI}.github.lanes.big": GONE}) == ("ci/github/big", "removed", [], 0)


def test_the_fields_that_replace_a_node_group_are_those_of_the_provider() -> None:
    replaced = {"instanceTypes", "capacityType", "subnetIds", "amiType"}
    rolled = {"releaseVersion", "launchTemplate.version", "version"}
    in_place = {"labels", "taints", "scalingConfig"}
    assert replaced <= NodeGroup.replaced_on
    assert (rolled | in_place) <= NodeGroup.updated_on
    assert not (rolled | in_place) & NodeGroup.replaced_on


def test_the_fields_that_do_not_replace_an_oke_pool_are_those_of_the_provider() -> None:
    made = {"nodeShape", "nodeSourceDetails", "initialNodeLabels", "nodeMetadata"}
    assert made <= NodePool.updated_on
    assert "compartmentId" in NodePool.replaced_on


def test_the_page_shows_effects_on_jobs_first_and_changes_for_new_nodes_below() -> None:
    changes = {f"{T4}.disk_gib": 300, f"{A10}.boot_volume_gb": 500}
    base = report_json(loaded(every_key()))
    text = page_of(difference_json(base, report_json(loaded(every_key(changes)))))
    top, _, below = text.partition("Running nodes do not change")
    assert top.startswith(
        "## Difference\n\n**Effects on running and queued jobs**\n\n- pool `ci/t4` "
    )
    assert (
        "**rolled**, at most 10 nodes and 20 jobs (because of disk, GiB): its nodes are replaced "
        "one by one. EKS waits at most 15 minutes for the jobs of a node. A longer job goes on: "
        "the update fails, and needs pulumi refresh before the next one" in top
    )
    assert "Lanes: `ci/github/gpu`, " in top
    assert "`oci/a10` **new nodes only**, at most 4 nodes" in below
    assert "oci/a10` **" not in top
    assert {"new nodes only"}.isdisjoint(SEVERE)
