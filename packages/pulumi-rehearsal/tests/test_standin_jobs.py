"""Jobs on stand-in objects, and the virtual clock of waits."""

from typing import Any

import pytest
from pulumi_rehearsal.standin.jobs import Busy, Wait, runner_names
from pulumi_rehearsal.standin.kind import Properties, Resource
from pulumi_rehearsal.standin.world import World

SET = "kubernetes:actions.github.com/v1alpha1:AutoscalingRunnerSet"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"


def put(
    world: World, token: str, name: str, *, spec: Properties | None = None, **labels: str
) -> Resource:
    metadata = {"name": name, "namespace": "ci", "labels": labels}
    inputs: Properties = {"metadata": metadata, "spec": spec or {}}
    resource = Resource(
        urn="", type=token, name=name, id=f"ci/{name}", scope="k", inputs=inputs, outputs={}
    )
    world.add(resource)
    return resource


@pytest.fixture
def world() -> World:
    return World()


def busy(world: World, name: str = "gpu", minutes: float = 30) -> Resource:
    one = put(world, SET, name)
    world.jobs.plan(Busy(runners=name, minutes=minutes))
    world.jobs.start()
    assert world.jobs.idle == ()
    return one


def test_a_wait_that_is_long_enough_ends_with_the_job(world: World):
    one = busy(world)
    assert world.jobs.running(one) == 1
    world.jobs.terminate(one)
    assert world.get(one.id) is one, "a job still runs"
    assert world.jobs.wait(one, 3600) == 0
    assert world.get(one.id) is None
    assert world.jobs.waits == [Wait(runners="gpu", seconds=1800, ended=True, served=False)]
    assert world.jobs.killed == []


def test_a_wait_knows_whether_a_successor_takes_jobs(world: World):
    one = busy(world)
    put(world, SET, "gpu-0a1b2", spec={"runnerScaleSetLabels": ["gpu"]})
    world.jobs.terminate(one)
    world.jobs.wait(one, 600)
    assert [wait.served for wait in world.jobs.waits] == [True]


def test_a_job_that_outlasts_a_wait_keeps_a_terminating_object(world: World):
    one = busy(world)
    world.jobs.terminate(one)
    assert world.jobs.wait(one, 600) == 1
    assert world.jobs.is_terminating(one)
    world.jobs.next_command()
    assert world.jobs.now_s == 600
    assert world.jobs.wait(one, 1199) == 1
    assert world.get(one.id) is one
    world.jobs.finish()
    assert world.get(one.id) is None
    assert world.jobs.killed == []


def test_the_waits_of_one_command_begin_together(world: World):
    one, two = busy(world, "one"), busy(world, "two", minutes=40)
    assert world.jobs.wait(one, 3600) == 0
    assert world.jobs.running(two) == 1, "nobody has waited for it yet"
    assert world.jobs.wait(two, 3600) == 0
    assert [wait.seconds for wait in world.jobs.waits] == [1800, 2400]
    world.jobs.next_command()
    assert world.jobs.now_s == 2400


def test_an_object_without_a_job_terminates_at_once(world: World):
    one = put(world, SET, "gpu")
    world.jobs.terminate(one)
    assert world.get(one.id) is None
    assert world.jobs.wait(one, 600) == 0


def test_removing_an_object_kills_its_job(world: World):
    world.remove(busy(world))
    assert world.jobs.killed == [
        "job on gpu was killed: its AutoscalingRunnerSet 'ci/gpu' was removed"
    ]


def test_a_job_that_lasts_longer_than_the_grace_period_is_killed(world: World):
    one = busy(world)
    world.jobs.terminate(one, within_s=900)
    assert world.jobs.wait(one, 3600) == 0
    assert world.get(one.id) is None
    assert len(world.jobs.killed) == 1


@pytest.mark.parametrize(
    ("token", "name", "fields", "names"),
    [
        (SET, "gpu-t4", {}, ("gpu-t4",)),
        (
            SET,
            "gpu-t4-0a1b2",
            {"spec": {"runnerScaleSetLabels": ["gpu-t4", "cuda"]}},
            ("gpu-t4", "cuda", "gpu-t4-0a1b2"),
        ),
        (SET, "x", {"spec": {"runnerScaleSetName": "gpu"}}, ("gpu",)),
        (
            DEPLOYMENT,
            "gitlab-t4",
            {"chart": "gitlab-runner-0.86.0", "release": "gitlab-t4"},
            ("t4", "gitlab-t4"),
        ),
        (
            DEPLOYMENT,
            "t4-0a1b2-gitlab-runner",
            {"chart": "gitlab-runner-0.86.0", "release": "gitlab-t4-0a1b2"},
            ("t4", "t4-0a1b2", "gitlab-t4", "gitlab-t4-0a1b2"),
        ),
        (DEPLOYMENT, "autoscaler", {"chart": "cluster-autoscaler-9"}, ()),
    ],
)
def test_names_of_runners(
    world: World, token: str, name: str, fields: dict[str, Any], names: tuple[str, ...]
):
    assert runner_names(put(world, token, name, **fields)) == names


def test_a_terminating_object_takes_no_new_job(world: World):
    one = busy(world)
    world.jobs.terminate(one)
    assert world.jobs.wait(one, 600) == 1
    world.jobs.start()
    world.jobs.finish()
    assert world.jobs.now_s == 1800


def test_a_plan_without_runners_is_returned(world: World):
    put(world, SET, "gpu-t4")
    world.jobs.plan(Busy(runners="gpu-*"))
    world.jobs.plan(Busy(runners="cpu"))
    world.jobs.start()
    assert world.jobs.idle == (Busy(runners="cpu"),)
