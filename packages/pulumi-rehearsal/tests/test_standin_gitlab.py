"""The GitLab stand-in: the owner, tags, limits and token of a runner."""

import pytest
from pulumi_rehearsal.standin import gitlab, schema
from pulumi_rehearsal.standin.kind import UNKNOWN, Call, Invalid, Resource
from pulumi_rehearsal.standin.world import World

KIND = gitlab.UserRunner()
GROUP = {"runnerType": "group_type", "groupId": 7, "tagLists": ["gpu", "t4"]}


def call(inputs, *, generation=0):
    return Call(
        urn="urn::runner",
        type=KIND.token,
        name="runner",
        inputs=inputs,
        scope="gitlab:x",
        generation=generation,
    )


def without(*names, **changes):
    return {key: value for key, value in {**GROUP, **changes}.items() if key not in names}


@pytest.mark.parametrize(
    ("inputs", "path", "reason"),
    [
        (without("runnerType"), "runnerType", "is missing"),
        (without(runnerType="shared"), "runnerType", "is none of group_type, instance_type"),
        (without("groupId"), "groupId", "is required"),
        (without(runnerType="project_type", groupId=None), "projectId", "is required"),
        (without(projectId=1), "projectId", "left out"),
        (without(runnerType="instance_type"), "groupId", "left out"),
        (without("tagLists"), "tagLists", "must not be empty"),
        (without(tagLists=[]), "tagLists", "must not be empty"),
        (without(tagLists=[f"t{n}" for n in range(51)]), "tagLists", "more than 50"),
        (without(tagLists=["a,b"]), "tagLists[0]", "not contain a comma"),
        (without(tagLists=["a", "a"]), "tagLists[1]", "given twice"),
        (without(accessLevel="protected"), "accessLevel", "none of"),
        (without(maximumTimeout=599), "maximumTimeout", "at least 600"),
        (without(description="d" * 1025), "description", "limit is 1024"),
        (without(maintenanceNote="d" * 1025), "maintenanceNote", "limit is 1024"),
        (without(groupId="7"), "groupId", "whole number"),
        (without(tagList=["a"]), "tagList", "did you mean 'tagLists'"),
    ],
    ids=[
        "no type",
        "an unknown type",
        "a group runner without a group",
        "a project runner without one",
        "a group runner with a project",
        "an instance runner with a group",
        "no tags",
        "an empty list",
        "too many tags",
        "a comma",
        "a tag twice",
        "an unknown access level",
        "a short timeout",
        "a long description",
        "a long note",
        "an id as text",
        "a name of the REST API",
    ],
)
def test_check_refuses(inputs, path, reason):
    with pytest.raises(Invalid) as caught:
        KIND.check(call(inputs), None)
    found = dict(caught.value.problems)
    assert path in found, found
    assert reason in found[path]


def test_runner_for_untagged_jobs_needs_no_tags():
    inputs = without("tagLists", untagged=True)
    assert KIND.check(call(inputs), None) == inputs


def test_check_accepts_unknown_inputs():
    assert KIND.check(call(without(groupId=UNKNOWN)), None)["groupId"] is UNKNOWN


def test_token_has_the_form_of_gitlabs_and_is_secret():
    identity, outputs = KIND.create(call(GROUP), World())
    assert identity.isdigit()
    assert outputs["token"].startswith("glrt-")
    assert len(outputs["token"]) == len("glrt-") + 20
    assert "token" in KIND.secret_outputs


def test_replacement_has_another_token():
    first, second = (KIND.create(call(GROUP, generation=n), World())[1]["token"] for n in (0, 1))
    assert first != second


def test_update_of_tags_keeps_the_token():
    world = World()
    identity, outputs = KIND.create(call(GROUP), world)
    thing = Resource(
        urn="urn::runner",
        type=KIND.token,
        name="runner",
        id=identity,
        scope="gitlab:x",
        inputs=GROUP,
        outputs=outputs,
    )
    changed = KIND.update(call(without(tagLists=["a100"])), thing, world)
    assert (changed["token"], changed["tagLists"]) == (outputs["token"], ["a100"])


def test_issued_token_and_its_runner():
    world = World()
    identity, outputs = KIND.create(call(GROUP), world)
    assert gitlab.issued(outputs["token"])
    assert not gitlab.issued("glrt-aBcDeFgHiJkLmNoPqRsT")
    assert not gitlab.runner_exists(world, outputs["token"])
    world.add(
        Resource(
            urn="urn::runner",
            type=KIND.token,
            name="runner",
            id=identity,
            scope="gitlab:x",
            inputs=GROUP,
            outputs=outputs,
        )
    )
    assert gitlab.runner_exists(world, outputs["token"])


@pytest.mark.parametrize(
    ("configuration", "scope"),
    [
        ({}, "gitlab:https://gitlab.com"),
        ({"baseUrl": "https://git.example.org/api/v4/"}, "gitlab:https://git.example.org"),
        ({"baseUrl": UNKNOWN}, "gitlab:?"),
    ],
)
def test_scope_is_the_instance(configuration, scope):
    assert gitlab.scope(configuration) == scope


def test_sdk_has_the_type():
    assert schema.args_class(KIND.token) is not None
