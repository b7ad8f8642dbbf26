"""The defaults of a kind, and the world."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import pytest
from pulumi_rehearsal.standin.kind import UNKNOWN, Call, Invalid, Kind, Resource
from pulumi_rehearsal.standin.world import World


class NodeGroup(Kind):
    token: ClassVar[str] = "aws:eks/nodeGroup:NodeGroup"
    autonamed: ClassVar[str | None] = "nodeGroupName"
    autoname_limit: ClassVar[int] = 20


POOL = Call(
    urn="urn:pulumi:s::p::aws:eks/nodeGroup:NodeGroup::pool",
    type=NodeGroup.token,
    name="pool",
    scope="aws:us-west-2",
    inputs={
        "clusterName": "ci",
        "nodeRoleArn": "arn",
        "subnetIds": ["a"],
        "scalingConfig": {"minSize": 0, "maxSize": 1, "desiredSize": 0},
    },
)


def thing(**more: object) -> Resource:
    fields = {"urn": "u", "type": "t", "name": "n", "id": "i", "scope": "s"}
    return Resource(**{**fields, "inputs": {}, "outputs": {}, **more})  # type: ignore[arg-type]


def test_a_resource_without_a_name_gets_one_and_keeps_it() -> None:
    kind = NodeGroup()
    name = kind.check(POOL, None)["nodeGroupName"]
    assert kind.is_automatic(name, "pool")
    assert kind.check(replace(POOL, generation=1), {"nodeGroupName": name})["nodeGroupName"] == name


def test_a_replacement_gets_another_name() -> None:
    kind = NodeGroup()
    first = kind.check(POOL, None)["nodeGroupName"]
    assert kind.check(replace(POOL, generation=1), None)["nodeGroupName"] != first


def test_the_same_resource_has_the_same_name_in_every_run() -> None:
    assert NodeGroup().check(POOL, None) == NodeGroup().check(POOL, None)


@pytest.mark.parametrize("given", ["by-hand", UNKNOWN])
def test_a_given_name_stays(given: object) -> None:
    inputs = {**POOL.inputs, "nodeGroupName": given}
    assert NodeGroup().check(replace(POOL, inputs=inputs), None)["nodeGroupName"] is given


def test_an_automatic_name_that_is_too_long_is_refused_with_the_limit() -> None:
    with pytest.raises(Invalid, match="has 28 characters, the limit is 20: shorten"):
        NodeGroup().check(replace(POOL, name="a-pool-with-a-lot-to"), None)


def test_wrong_inputs_do_not_get_as_far_as_a_name() -> None:
    with pytest.raises(Invalid) as raised:
        NodeGroup().check(replace(POOL, inputs={}), None)
    assert {path for path, _ in raised.value.problems} == {
        "clusterName",
        "nodeRoleArn",
        "scalingConfig",
        "subnetIds",
    }


def test_an_update_drops_inputs_and_keeps_what_the_cloud_added() -> None:
    old = thing(inputs={"a": 1, "b": 2}, outputs={"a": 1, "b": 2, "arn": "x"})
    call = replace(POOL, inputs={"a": 3})
    assert NodeGroup().update(call, old, World()) == {"a": 3, "arn": "x"}


def test_the_world_finds_things_by_what_they_are() -> None:
    world = World()
    west = thing(id="1", scope="west", outputs={"arn": "arn:1", "vpcId": "v"})
    east = thing(id="1", scope="east", inputs={"vpcId": "v"}, outputs={"vpcId": UNKNOWN})
    world.add(west)
    world.add(east)
    assert world.by_arn("arn:1") is west
    assert world.where("t", vpcId="v") == (west,)
    assert world.all("t", "east") == (east,)
    assert world.get("1", "t", "east") is east
    assert world.get("1", scope="west") is west
    assert world.find(vpcId=UNKNOWN) is None
    world.remove(west)
    world.remove(west)
    assert len(world) == 1


def test_the_world_holds_one_thing_of_a_type_and_id_in_a_scope() -> None:
    world = World()
    world.add(thing())
    with pytest.raises(ValueError, match="exists already in s"):
        world.add(thing())


def test_the_world_counts_the_generations_of_a_resource() -> None:
    world = World()
    world.add(thing(id="1"))
    world.replace(thing(id="1"))
    world.add(thing(id="2"))
    assert world.generation("u") == 2
    assert world.fresh_hex("u", 7) != world.fresh_hex("u", 7)
