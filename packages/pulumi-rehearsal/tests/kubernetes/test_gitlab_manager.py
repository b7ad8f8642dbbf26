"""A GitLab runner manager as a resource: its relations, its deletion, and running jobs."""

import pytest
from kubernetes_cluster import ROLE_BINDING, SECRET, Cluster, gitlab_inputs
from pulumi_rehearsal.standin import gitlab
from pulumi_rehearsal.standin.kubernetes import gitlab_templates, pods, world_faults
from pulumi_rehearsal.standin.kubernetes.component import token
from pulumi_rehearsal.standin.kubernetes.gitlab_manager import MANAGER, ROLE
from pulumi_rehearsal.standin.kubernetes.release import release_of


def manager(cluster: Cluster, leave_out=(), **values):
    """Create a runner at GitLab, its Secret, and the objects of one chart; return the manager."""
    cluster.namespace("ci")
    runner = cluster.create(
        gitlab.RUNNER, {"runnerType": "group_type", "groupId": 7, "tagLists": ["gpu"]}
    )
    keys = {"runner-token": runner.outputs["token"], "runner-registration-token": ""}
    cluster.secret("ci", "runner", **keys)
    inputs = gitlab_inputs()
    inputs["values"].update({"terminationGracePeriodSeconds": 3600, **values})
    for one in gitlab_templates.runner_objects(release_of(inputs, cluster.home)):
        if one["kind"] not in leave_out:
            made = cluster.create(token(one), one, name=f"{one['kind']}-{one['metadata']['name']}")
    return made


def test_manager_starts(cluster: Cluster):
    manager(cluster)
    assert world_faults(cluster.world) == []


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("RoleBinding", "no role gives its ServiceAccount 'gpu-gitlab-runner' rights"),
        ("ServiceAccount", "ServiceAccount 'gpu-gitlab-runner' does not exist"),
        ("ConfigMap", "mounts ConfigMap 'gpu-gitlab-runner', which does not exist"),
    ],
)
def test_create_refuses_a_manager_without(cluster: Cluster, refused, kind, reason):
    with refused(reason):
        manager(cluster, leave_out={kind})


def test_create_refuses_the_token_of_a_deleted_runner(cluster: Cluster, refused):
    made = manager(cluster)
    cluster.delete(made)
    cluster.delete(cluster.world.find(gitlab.RUNNER))
    with refused("belongs to a GitLab runner that does not exist"):
        cluster.create(MANAGER, made.inputs)


def test_token_that_changes_later_is_a_fault_until_the_pod_restarts(cluster: Cluster):
    made = manager(cluster)
    secret = cluster.world.get("ci/runner", SECRET, cluster.home)
    cluster.change(secret, stringData={"runner-token": "glrt-new"})
    assert ["changed after the manager" in fault for fault in world_faults(cluster.world)] == [True]
    cluster.change(made, metadata={"labels": {"a": "b"}})
    assert len(world_faults(cluster.world)) == 1, "the pod is the same"
    cluster.change(made, spec={"template": {"metadata": {"annotations": {"runner": "8"}}}})
    assert world_faults(cluster.world) == []


def test_manager_that_lost_its_role_is_a_fault(cluster: Cluster):
    manager(cluster)
    cluster.world.remove(cluster.world.find(ROLE_BINDING))
    assert ["no role gives" in fault for fault in world_faults(cluster.world)] == [True]


def test_terminating_manager_is_a_fault(cluster: Cluster, refused):
    made = manager(cluster)
    cluster.busy(minutes=30)
    with refused("timed out"):
        cluster.delete(made)
    assert ["takes no new job" in fault for fault in world_faults(cluster.world)] == [True]


def test_create_refuses_a_missing_namespace_of_the_jobs(cluster: Cluster, refused):
    runners = gitlab_inputs()["values"]["runners"]
    config = runners["config"].replace('namespace = "ci"', 'namespace = "jobs"')
    with refused("names the namespace 'jobs', which does not exist"):
        manager(cluster, runners={**runners, "config": config})


def test_delete_waits_for_the_job(cluster: Cluster):
    made = manager(cluster)
    cluster.busy(minutes=30)
    cluster.delete(made, timeout_s=3600)
    assert cluster.world.all(MANAGER) == ()
    assert cluster.world.jobs.killed == []
    assert [(wait.seconds, wait.ended) for wait in cluster.world.jobs.waits] == [(1800, True)]


def test_delete_times_out_and_a_later_one_waits_on(cluster: Cluster, refused):
    made = manager(cluster)
    cluster.busy(minutes=30)
    with refused("timed out waiting for the condition: 1 job still runs"):
        cluster.delete(made)  # 600 s
    cluster.world.jobs.next_command()
    cluster.delete(made, timeout_s=1200)
    assert (cluster.world.all(MANAGER), cluster.world.jobs.killed) == ((), [])


def test_job_that_is_longer_than_the_grace_period_is_killed(cluster: Cluster):
    made = manager(cluster)
    cluster.busy(minutes=90)
    cluster.delete(made, timeout_s=7200)
    assert len(cluster.world.jobs.killed) == 1
    assert cluster.world.all(MANAGER) == ()


@pytest.mark.parametrize("kind", [pods.SERVICE_ACCOUNT, ROLE, ROLE_BINDING, SECRET, gitlab.RUNNER])
def test_job_is_killed_if_its_manager_loses(cluster: Cluster, refused, kind):
    made = manager(cluster)
    cluster.busy(minutes=30)
    with refused("timed out"):
        cluster.delete(made)
    cluster.delete(cluster.world.find(kind))
    (killed,) = cluster.world.jobs.killed
    assert "which its manager needs, was deleted" in killed
    assert cluster.world.all(MANAGER) == (), "its pod has no more job"


def test_job_survives_the_deletion_of_the_configuration(cluster: Cluster, refused):
    made = manager(cluster)
    cluster.busy(minutes=30)
    with refused("timed out"):
        cluster.delete(made)
    cluster.delete(cluster.world.find(pods.CONFIG_MAP))
    assert cluster.world.jobs.killed == []
