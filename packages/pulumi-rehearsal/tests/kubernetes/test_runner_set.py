"""AutoscalingRunnerSet as a resource: its relations, its deletion, and running jobs."""

import copy

import pytest
from kubernetes_cluster import NAMESPACE, Cluster, scale_set_inputs
from pulumi_rehearsal.standin.kubernetes import arc_templates, world_faults
from pulumi_rehearsal.standin.kubernetes.arc import DEFINITION, RUNNER_SET
from pulumi_rehearsal.standin.kubernetes.component import token
from pulumi_rehearsal.standin.kubernetes.release import release_of
from pulumi_rehearsal.standin.kubernetes.runner_set import ROLE, SET_ID
from pulumi_rehearsal.standin.kubernetes.waits import WAIT_FOR, unmet

ACCOUNT = ("arc-system", "arc-gha-rs-controller")
WAITS = {
    WAIT_FOR: "jsonpath={.status.phase}=Running",
    "pulumi.com/deletionPropagationPolicy": "background",
}


def lane(cluster: Cluster, version="0.14.2", account=ACCOUNT, namespace="runners", **values):
    """Create the objects of one chart; return the set."""
    if cluster.world.get(namespace, "kubernetes:core/v1:Namespace", cluster.home) is None:
        cluster.namespace(namespace)
        cluster.secret(namespace, "github", github_token="t")
    inputs = copy.deepcopy(scale_set_inputs(version))
    inputs["namespace"] = namespace
    inputs["values"].update({"annotations": WAITS, **values})
    release = release_of(inputs, cluster.home)
    for one in arc_templates.scale_set_objects(release, account):
        made = cluster.create(token(one), one, name=f"{one['kind']}-{one['metadata']['name']}")
    return made


def test_controller_registers_and_starts_a_set(cluster: Cluster):
    cluster.controller()
    made = lane(cluster)
    assert made.outputs["status"]["phase"] == "Running"
    assert made.outputs["metadata"]["annotations"][SET_ID].isdigit()
    assert SET_ID not in made.inputs["metadata"]["annotations"]
    assert world_faults(cluster.world) == []


def test_create_refuses_a_set_without_its_definition(cluster: Cluster, refused):
    cluster.controller()
    for one in cluster.world.all(DEFINITION):
        cluster.world.remove(one)
    with refused('no matches for kind "AutoscalingRunnerSet"'):
        lane(cluster)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"account": ("arc-system", "other")}, "no controller runs in this cluster"),
        ({"version": "0.13.1"}, "the controller deletes sets of another minor version"),
        ({"githubConfigSecret": "absent"}, "githubConfigSecret 'absent' does not exist"),
    ],
    ids=["the account of no controller", "another minor version", "no Secret"],
)
def test_set_that_does_not_start_fails_if_it_waits_and_is_a_fault_else(
    cluster: Cluster, refused, changes, reason
):
    cluster.controller()
    with refused(f"timed out waiting for the condition: .*{reason}"):
        lane(cluster, **changes)
    (left,) = cluster.world.all(RUNNER_SET)
    assert left.outputs["status"] == {}
    for one in cluster.world.all():
        if one.id == left.id or one.name.endswith(("-manager", "-no-permission")):
            cluster.world.remove(one)
    made = lane(cluster, **{"annotations": {}, **changes})
    assert made.outputs["status"] == {}
    assert [reason in fault for fault in world_faults(cluster.world)] == [True]


def test_set_that_waits_for_something_else_times_out(cluster: Cluster, refused):
    cluster.controller()
    with refused("timed out waiting for the condition: jsonpath={.status.phse}=Running never"):
        lane(cluster, annotations={WAIT_FOR: "jsonpath={.status.phse}=Running"})


@pytest.mark.parametrize(
    ("expression", "is_met"),
    [
        ("jsonpath={.status.phase}=Running", True),
        ("jsonpath={.status.phase}=Pending", False),
        ("jsonpath={.metadata.annotations.set-id}", True),
        ("jsonpath={.metadata.annotations.other}", False),
        ("condition=Ready", True),
        ("condition=Ready=False", False),
        ("condition=Available", False),
        ('["condition=Ready", "jsonpath={.status.phase}=Running"]', True),
        ('["condition=Ready", "jsonpath={.status.phase}"', False),
        ("phase=Running", False),
    ],
)
def test_condition_of_a_wait(expression, is_met):
    annotations = {WAIT_FOR: expression, "set-id": "7"}
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    outputs = {"metadata": {"annotations": annotations}, "status": status}
    assert list(unmet(outputs)) == ([] if is_met else [expression])


def test_namespace_of_a_set_is_not_deleted(cluster: Cluster, refused):
    cluster.controller()
    lane(cluster)
    with refused("still holds the AutoscalingRunnerSet 'runners/gpu'"):
        cluster.delete(cluster.world.get("runners", NAMESPACE, cluster.home))


@pytest.mark.parametrize("field", ["githubConfigUrl", "githubConfigSecret"])
def test_check_refuses_a_set_without(cluster: Cluster, field):
    cluster.controller()
    spec = {key: value for key, value in lane(cluster).inputs["spec"].items() if key != field}
    inputs = {**cluster.world.find(RUNNER_SET).inputs, "spec": spec}
    assert cluster.invalid(RUNNER_SET, inputs)[f"spec.{field}"] == "is missing"


def test_check_refuses_a_long_name_of_a_set(cluster: Cluster):
    cluster.controller()
    made = lane(cluster).inputs
    inputs = {**made, "spec": {**made["spec"], "runnerScaleSetName": "x" * 46}}
    assert "the limit is 45" in cluster.invalid(RUNNER_SET, inputs)["spec.runnerScaleSetName"]


def test_roles_of_a_busy_set_wait_for_its_jobs(cluster: Cluster, refused):
    cluster.controller()
    lane(cluster)
    role = cluster.world.find(ROLE)
    cluster.busy(minutes=30)
    with refused("cleanup-protection.*timed out waiting for the condition: jobs still run"):
        cluster.delete(role)  # 600 s
    cluster.delete(role, timeout_s=3600)
    assert cluster.world.find(ROLE) is None


def test_role_that_is_deleted_without_its_set_is_a_fault(cluster: Cluster):
    cluster.controller()
    made = lane(cluster, containerMode={"type": "kubernetes-novolume"})
    (role,) = [one for one in cluster.world.all(ROLE) if one.id.endswith("kube-mode")]
    cluster.delete(role)
    assert ["removes the finalizer" in fault for fault in world_faults(cluster.world)] == [True]
    cluster.delete(made)
    assert world_faults(cluster.world) == []


def test_name_and_runner_group_change_in_place(cluster: Cluster):
    cluster.controller()
    made = lane(cluster)
    assert cluster.change(made, spec={"runnerGroup": "gpus"})


def test_create_refuses_a_name_that_github_has_already(cluster: Cluster, refused):
    cluster.controller()
    lane(cluster)
    with refused("already registers the scale set 'gpu' at the same GitHub address"):
        lane(cluster, namespace="others")


@pytest.mark.parametrize(
    "change",
    [{"runnerScaleSetLabels": ["t4"]}, {"githubConfigUrl": "https://github.com/other"}],
    ids=["labels", "URL"],
)
def test_update_refuses_what_github_reads_at_creation_only(cluster: Cluster, refused, change):
    cluster.controller()
    made = lane(cluster)
    with refused("is sent to GitHub only when the set is created"):
        cluster.change(made, spec=change)


def test_patch_version_changes_in_place(cluster: Cluster):
    cluster.controller()
    made = lane(cluster, "0.14.1")
    labels = {"app.kubernetes.io/version": "0.14.2"}
    changed = cluster.change(made, metadata={"labels": labels})
    assert changed.outputs["metadata"]["annotations"] == made.outputs["metadata"]["annotations"]


def test_delete_waits_for_the_job(cluster: Cluster):
    cluster.controller()
    made = lane(cluster)
    cluster.busy(minutes=30)
    cluster.delete(made, timeout_s=3600)
    assert cluster.world.all(RUNNER_SET) == ()
    assert cluster.world.jobs.killed == []
    assert [(wait.seconds, wait.ended) for wait in cluster.world.jobs.waits] == [(1800, True)]


def test_delete_times_out_and_a_later_one_waits_on(cluster: Cluster, refused):
    cluster.controller()
    made = lane(cluster)
    cluster.busy(minutes=30)
    with refused("timed out waiting for the condition: 1 job still runs"):
        cluster.delete(made)  # 600 s
    assert cluster.world.jobs.is_terminating(made)
    cluster.world.jobs.next_command()
    cluster.delete(made, timeout_s=1200)
    assert cluster.world.all(RUNNER_SET) == ()
    assert cluster.world.jobs.killed == []


def test_terminating_set_has_the_time_of_its_deletion(cluster: Cluster, refused):
    cluster.controller()
    made = lane(cluster)
    kind = cluster.kinds[RUNNER_SET]
    cluster.busy(minutes=30)
    found = kind.read(made.id, made.scope, cluster.world)
    assert "deletionTimestamp" not in found.outputs["metadata"]
    with refused("timed out"):
        cluster.delete(made)
    found = kind.read(made.id, made.scope, cluster.world)
    assert found.outputs["metadata"]["deletionTimestamp"]
    cluster.world.jobs.finish()
    assert kind.read(made.id, made.scope, cluster.world) is None


def test_set_that_is_created_over_a_terminating_one_is_lost(cluster: Cluster, refused):
    cluster.controller()
    made = lane(cluster)
    cluster.busy(minutes=30)
    with refused("timed out"):
        cluster.delete(made)
    with refused('autoscalingrunnersets.actions.github.com "gpu" already exists'):
        cluster.create(RUNNER_SET, made.inputs)
    cluster.settings = {"upsertExistingObjects": "true"}
    cluster.create(RUNNER_SET, made.inputs)
    assert ["disappears when its job ends" in fault for fault in world_faults(cluster.world)] == [
        True
    ]
    cluster.world.jobs.finish()
    assert cluster.world.all(RUNNER_SET) == ()


def test_foreground_deletion_kills_the_job_that_the_controller_would_wait_for(cluster: Cluster):
    cluster.controller()
    made = lane(cluster, annotations={})
    cluster.busy(minutes=30)
    cluster.delete(made)
    (killed,) = cluster.world.jobs.killed
    assert "deleted in the foreground" in killed
    assert "pulumi.com/deletionPropagationPolicy: background" in killed


def test_update_of_a_terminating_set_succeeds_but_the_lane_is_lost(cluster: Cluster, refused):
    cluster.controller()
    made = lane(cluster)
    cluster.busy(minutes=30)
    with refused("timed out"):
        cluster.delete(made)
    cluster.change(made, spec={"maxRunners": 5})
    assert ["disappears when its job ends" in fault for fault in world_faults(cluster.world)] == [
        True
    ]
    cluster.world.jobs.finish()
    assert cluster.world.all(RUNNER_SET) == ()


def test_upgraded_controller_deletes_a_busy_set_when_its_job_ends(cluster: Cluster):
    controller = cluster.controller()
    made = lane(cluster)
    cluster.busy(minutes=30)
    for definition in cluster.world.all(DEFINITION):
        annotations = {"rehearsal/arc-chart-version": "0.15.0"}
        cluster.change(definition, metadata={"annotations": annotations})
    cluster.change(controller, version="0.15.0")
    assert cluster.world.jobs.is_terminating(made)
    assert world_faults(cluster.world) != []
    cluster.world.jobs.finish()
    assert cluster.world.all(RUNNER_SET) == ()
    assert cluster.world.jobs.killed == []


def test_delete_of_a_set_whose_controller_was_deleted_never_ends(cluster: Cluster, refused):
    controller = cluster.controller()
    made = lane(cluster)
    cluster.world.remove(controller)
    with refused("timed out waiting for the condition: its controller was deleted"):
        cluster.delete(made, timeout_s=7200)
