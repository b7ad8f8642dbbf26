"""Helm releases and other resources that go away while a job runs."""

import pytest
from kubernetes_cluster import EKS_SCOPE, RELEASE, SYSTEM_GROUP, Cluster, controller_inputs
from pulumi_rehearsal.standin import gitlab
from pulumi_rehearsal.standin.kind import Resource
from pulumi_rehearsal.standin.kubernetes import world_faults
from pulumi_rehearsal.standin.kubernetes.arc import RUNNER_SET
from pulumi_rehearsal.standin.kubernetes.gitlab_runner import POD

ACCOUNT = "kubernetes:core/v1:ServiceAccount"
ROLE = "kubernetes:rbac.authorization.k8s.io/v1:Role"
BINDING = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"


# ARC


def test_uninstall_waits_for_a_job_that_ends_in_time(cluster: Cluster):
    cluster.controller()
    release = cluster.scale_set()
    cluster.busy(minutes=4)
    cluster.delete(release)
    assert cluster.world.all(RUNNER_SET) == ()
    assert [wait.seconds for wait in cluster.world.jobs.waits] == [240]
    assert cluster.world.jobs.killed == []


def test_uninstall_fails_after_its_timeout_and_purges_the_record(cluster: Cluster, refused):
    controller = cluster.controller()
    release = cluster.scale_set(timeout=600)
    cluster.busy(minutes=30)
    with refused(r"uninstallation completed with 1 error\(s\): context deadline exceeded"):
        cluster.delete(release)
    assert cluster.world.get(release.id, RELEASE) is None
    (left,) = cluster.world.all(RUNNER_SET)
    assert cluster.world.jobs.is_terminating(left)
    assert [wait.seconds for wait in cluster.world.jobs.waits] == [600]
    with refused("AutoscalingRunnerSet 'runners/gpu' still exists"):
        cluster.delete(controller)
    cluster.world.jobs.finish()
    assert cluster.world.all(RUNNER_SET) == ()
    cluster.delete(controller)


def test_an_install_over_a_terminating_set_vanishes_with_it(cluster: Cluster, refused):
    cluster.controller()
    release = cluster.scale_set()
    cluster.busy()
    with refused("context deadline exceeded"):
        cluster.delete(release)
    cluster.scale_set()
    assert ["is being deleted" in fault for fault in world_faults(cluster.world)] == [True]
    cluster.world.jobs.finish()
    assert ["is gone" in fault for fault in world_faults(cluster.world)] == [True]


def test_a_new_controller_lets_the_jobs_of_the_sets_it_deletes_end(cluster: Cluster):
    controller = cluster.controller("0.14.2")
    cluster.scale_set("0.14.2")
    cluster.busy()
    cluster.world.remove(controller)
    for one in cluster.world.all("kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"):
        cluster.world.remove(one)
    cluster.definitions("0.15.0")
    cluster.release(controller_inputs("0.15.0"))
    (left,) = cluster.world.all(RUNNER_SET)
    assert cluster.world.jobs.is_terminating(left)
    assert cluster.world.jobs.killed == []


def test_the_record_of_any_release_may_be_gone(refused):
    helm = Cluster.kinds[RELEASE]
    with refused("uninstall: Release not loaded: autoscaler: release: not found"):
        helm.delete_missing("kube-system/autoscaler")


def test_a_job_does_not_survive_the_nodes_of_its_cluster():
    cluster = Cluster(EKS_SCOPE)
    cluster.eks(SYSTEM_GROUP)
    cluster.controller()
    cluster.scale_set()
    cluster.busy()
    (group,) = cluster.world.all("aws:eks/nodeGroup:NodeGroup")
    cluster.world.remove(group)
    assert cluster.world.jobs.killed == [
        "job on gpu was killed: the nodes of its cluster were deleted"
    ]


# GitLab


def manager(cluster: Cluster) -> tuple[Resource, dict[str, Resource]]:
    """Install a manager with its own runner, Secret, account and rights."""
    runner = cluster.create(
        gitlab.RUNNER, {"runnerType": "group_type", "groupId": 7, "tagLists": ["gpu"]}
    )
    cluster.namespace("ci")
    token = runner.outputs["token"]
    keys = {"runner-token": token, "runner-registration-token": ""}
    secret = cluster.secret("ci", "runner", **keys)
    metadata = {"name": "manager", "namespace": "ci"}
    made = {
        "UserRunner": runner,
        "Secret": secret,
        "ServiceAccount": cluster.create(
            ACCOUNT, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
        ),
    }
    rbac = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": metadata}
    made["Role"] = cluster.create(ROLE, {**rbac, "kind": "Role", "rules": []})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "manager"}
    subject = {"kind": "ServiceAccount", **metadata}
    made["RoleBinding"] = cluster.create(
        BINDING, {**rbac, "kind": "RoleBinding", "roleRef": reference, "subjects": [subject]}
    )
    account = {"create": False, "name": "manager"}
    values = {"serviceAccount": account, "rbac": {"create": False}}
    return cluster.gitlab_runner(values=values), made


def test_uninstall_of_a_manager_leaves_its_pod_until_the_job_ends(cluster: Cluster):
    release, _ = manager(cluster)
    cluster.busy()
    cluster.delete(release)
    assert cluster.world.jobs.waits == []
    assert len(cluster.world.all(POD)) == 1
    cluster.world.jobs.finish()
    assert cluster.world.all(POD) == ()
    assert cluster.world.jobs.killed == []


def test_a_manager_is_killed_after_its_grace_period(cluster: Cluster):
    release, _ = manager(cluster)
    cluster.busy(minutes=90)
    cluster.delete(release)
    cluster.world.jobs.finish()
    assert cluster.world.all(POD) == ()
    assert cluster.world.jobs.killed == [
        "job on gpu was killed: it ran longer than the grace period of its pod"
    ]


@pytest.mark.parametrize("need", ["UserRunner", "Secret", "ServiceAccount", "Role", "RoleBinding"])
def test_a_job_is_killed_if_its_manager_loses(cluster: Cluster, need: str):
    release, needs = manager(cluster)
    cluster.busy()
    cluster.delete(release)
    assert cluster.world.jobs.killed == []
    cluster.delete(needs[need])
    assert cluster.world.jobs.killed == [
        f"job on gpu was killed: {need} {needs[need].id!r}, which its manager needs, was deleted"
    ]
    assert cluster.world.all(POD) == ()


def test_an_account_of_the_chart_goes_before_the_job(cluster: Cluster):
    release = cluster.gitlab_runner()
    cluster.busy()
    cluster.delete(release)
    assert cluster.world.jobs.killed == [
        "job on gpu was killed: ServiceAccount 'ci/gpu-gitlab-runner', which its manager needs, "
        "was deleted"
    ]
