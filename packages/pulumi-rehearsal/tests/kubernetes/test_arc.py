"""ARC in the stand-in cluster: what controller and scale sets do to each other."""

import pytest
from kubernetes_lab import (
    DEFINITION,
    RELEASE,
    STORAGE_CLASS,
    Lab,
    controller_inputs,
    scale_set_inputs,
)
from pulumi_rehearsal.standin.kubernetes import world_faults
from pulumi_rehearsal.standin.kubernetes.arc_definitions import RUNNER_SET

RUNNER = {"name": "runner", "image": "runner:1", "command": ["run.sh"]}


def sets(lab: Lab):
    return [thing.id for thing in lab.world.all(RUNNER_SET)]


# The controller


def test_a_controller_that_skips_the_definitions_needs_them(lab: Lab, refused):
    lab.namespace("arc-system")
    with refused("no matches for kind 'AutoscalingListener'"):
        lab.release(controller_inputs())


def test_a_controller_that_brings_its_definitions_leaves_them_behind(lab: Lab):
    lab.namespace("arc-system")
    inputs = controller_inputs()
    inputs["skipCrds"] = False
    lab.remove(lab.release(inputs))
    assert len(lab.world.all(DEFINITION)) == 4


def test_definitions_of_another_minor_version_are_refused(lab: Lab, refused):
    lab.namespace("arc-system")
    lab.definitions("0.13.1")
    with refused("is of chart 0.13.1, the controller of 0.14.2"):
        lab.release(controller_inputs())


def test_two_controllers_in_one_cluster_are_refused(lab: Lab, refused):
    lab.controller()
    with refused("two of them work on the same sets"):
        lab.controller(name="arc-two")


def test_two_controllers_that_watch_other_namespaces_go_together(lab: Lab):
    lab.controller(values={"flags": {"watchSingleNamespace": "one"}})
    assert lab.controller(name="arc-two", values={"flags": {"watchSingleNamespace": "two"}})


@pytest.mark.parametrize(
    ("changes", "path", "reason"),
    [
        ({"skipAwait": True}, "skipAwait", "does not wait"),
        (
            {"values": {"serviceAccount": {"name": "default"}}},
            "values.serviceAccount.name",
            "refuses",
        ),
        (
            {"values": {"serviceAccount": {"create": False}}},
            "values.serviceAccount.name",
            "is needed",
        ),
        (
            {"values": {"flags": {"updateStrategy": "later"}}},
            "values.flags.updateStrategy",
            "neither",
        ),
    ],
    ids=["not waiting", "the account 'default'", "no account at all", "an unknown update strategy"],
)
def test_a_controller_is_refused_for(lab: Lab, changes, path, reason):
    assert reason in lab.invalid(RELEASE, {**controller_inputs(), **changes})[path]


def test_a_controller_is_not_removed_while_its_sets_exist(lab: Lab, refused):
    controller = lab.controller()
    lab.scale_set()
    with refused("cleanup-protection would hang without a controller"):
        lab.remove(controller)


def test_a_controller_goes_after_its_sets(lab: Lab):
    controller = lab.controller()
    lab.remove(lab.scale_set())
    lab.remove(controller)
    assert lab.world.all(RELEASE) == ()


# A scale set and its controller


def test_a_scale_set_needs_a_controller(lab: Lab, refused):
    with refused("no controller runs in this cluster as arc-system/arc-gha-rs-controller"):
        lab.scale_set()


def test_a_controller_of_another_cluster_does_not_count(lab: Lab, refused):
    other = Lab("kubernetes:https://another")
    other.world = lab.world
    other.controller()
    with refused("no controller runs in this cluster"):
        lab.scale_set()


def test_a_scale_set_names_its_controllers_account(lab: Lab, refused):
    lab.controller(values={"serviceAccount": {"name": "operator"}})
    with refused("controllers there: arc-system/operator"):
        lab.scale_set()


def test_the_accounts_name_is_the_release_where_it_says_enough(lab: Lab):
    lab.controller(name="my-gha-rs-controller")
    account = {"name": "my-gha-rs-controller", "namespace": "arc-system"}
    assert lab.scale_set(values={"controllerServiceAccount": account})


def test_a_scale_set_of_another_minor_version_is_refused(lab: Lab, refused):
    lab.controller("0.14.2")
    with refused("the controller deletes sets of another minor version"):
        lab.scale_set("0.13.1")


def test_another_patch_version_is_tolerated(lab: Lab):
    lab.controller("0.14.2")
    assert lab.scale_set("0.14.1")


def test_a_new_minor_controller_deletes_the_sets_of_the_old(lab: Lab):
    controller = lab.controller("0.14.2")
    lab.scale_set("0.14.2")
    upgrade(lab, controller, "0.15.0")
    assert sets(lab) == []
    assert any("deleted AutoscalingRunnerSet 'runners/gpu'" in e.detail for e in lab.world.journal)


def test_a_new_patch_controller_deletes_nothing(lab: Lab):
    controller = lab.controller("0.14.1")
    lab.scale_set("0.14.2")
    lab.change(controller, version="0.14.2")
    assert sets(lab) == ["runners/gpu"]


def test_a_set_that_is_patched_after_it_was_deleted_is_a_fault(lab: Lab):
    controller = lab.controller("0.14.2")
    lane = lab.scale_set("0.14.2")
    assert world_faults(lab.world) == []
    upgrade(lab, controller, "0.15.0")
    changed = lab.change(lane, version="0.15.0")
    assert changed.outputs["status"]["status"] == "deployed", "the upgrade looks well"
    assert ["AutoscalingRunnerSet is gone" in fault for fault in world_faults(lab.world)] == [True]


def test_a_set_that_is_replaced_after_it_was_deleted_lives(lab: Lab):
    controller = lab.controller("0.14.2")
    lane = lab.scale_set("0.14.2")
    upgrade(lab, controller, "0.15.0")
    lab.remove(lane)
    lab.scale_set("0.15.0")
    assert (sets(lab), world_faults(lab.world)) == (["runners/gpu"], [])


def test_a_set_is_not_removed_without_its_controller(lab: Lab, refused):
    controller, lane = lab.controller(), lab.scale_set()
    lab.world.remove(controller)
    with refused("its controller is gone"):
        lab.remove(lane)


def test_a_set_is_not_removed_without_its_secret(lab: Lab, refused):
    lab.controller()
    lane = lab.scale_set()
    lab.remove(lab.world.get("runners/github", "kubernetes:core/v1:Secret", lab.scope))
    with refused("its githubConfigSecret is gone"):
        lab.remove(lane)


def test_a_set_is_not_removed_after_the_nodes(eks_lab: Lab, refused):
    eks_lab.controller()
    lane = eks_lab.scale_set()
    for group in eks_lab.world.all("aws:eks/nodeGroup:NodeGroup"):
        eks_lab.world.remove(group)
    with refused("no node left on which its controller runs"):
        eks_lab.remove(lane)


def test_labels_are_not_changed_in_place(lab: Lab, refused):
    lab.controller()
    lane = lab.scale_set()
    with refused("reach GitHub only when the set is created"):
        lab.change(lane, values={"scaleSetLabels": ["gpu", "t4"]})


def test_a_set_that_changes_its_name_in_place_is_another_object(lab: Lab):
    lab.controller()
    lab.change(lab.scale_set(), values={"runnerScaleSetName": "renamed"})
    assert sets(lab) == ["runners/renamed"]


# A scale set's surroundings


def test_a_scale_set_needs_its_secret(lab: Lab, refused):
    lab.controller()
    with refused("githubConfigSecret 'absent' does not exist in namespace 'runners'"):
        lab.scale_set(values={"githubConfigSecret": "absent"})


def test_a_secret_in_another_namespace_does_not_count(lab: Lab, refused):
    lab.controller()
    lab.secret("arc-system", "elsewhere", github_token="t")
    with refused("does not exist in namespace 'runners'"):
        lab.scale_set(values={"githubConfigSecret": "elsewhere"})


def test_a_secret_without_the_keys_of_an_app_is_refused(lab: Lab, refused):
    lab.controller()
    lab.namespace("runners")
    lab.secret("runners", "github", github_app_id="1", github_app_private_key="k")
    with refused("lacks the keys github_token or github_app_id"):
        lab.release(scale_set_inputs())


def test_a_name_is_registered_once_at_github_wherever_the_cluster(lab: Lab, refused):
    lab.controller()
    lab.scale_set()
    other = Lab("kubernetes:https://another")
    other.world = lab.world
    other.controller()
    with refused("is registered at the same GitHub address and runner group already"):
        other.scale_set(values={"githubConfigUrl": "https://github.com/acme/"})


def test_a_name_is_free_in_another_runner_group(lab: Lab):
    lab.controller()
    lab.scale_set()
    lab.namespace("others")
    lab.secret("others", "github", github_token="t")
    assert lab.scale_set(namespace="others", values={"runnerGroup": "gpus"})


def test_two_releases_do_not_share_an_object(lab: Lab, refused):
    lab.controller()
    lab.scale_set()
    with refused("belongs to release 'runners/gpu'"):
        lab.scale_set(
            name="two",
            values={"runnerScaleSetName": "gpu", "githubConfigUrl": "https://github.com/other"},
        )


def test_a_hook_template_has_to_be_there(lab: Lab, refused):
    lab.controller()
    volumes = [{"name": "hooks", "configMap": {"name": "hooks"}}]
    spec = {"containers": [RUNNER], "volumes": volumes}
    with refused("volume 'hooks' takes ConfigMap 'hooks'"):
        lab.scale_set(values={"template": {"spec": spec}})


def test_a_work_volume_needs_a_storage_class(eks_lab: Lab, refused):
    eks_lab.controller()
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}
    mode = {"type": "kubernetes", "kubernetesModeWorkVolumeClaim": claim}
    with refused("the cluster has no default one"):
        eks_lab.scale_set(values={"containerMode": mode})
    with refused("storage class 'fast' of the work volume does not exist"):
        named = {**mode, "kubernetesModeWorkVolumeClaim": {**claim, "storageClassName": "fast"}}
        eks_lab.scale_set(values={"containerMode": named})
    eks_lab.make(
        STORAGE_CLASS,
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "fast"},
            "provisioner": "ebs.csi.aws.com",
        },
    )
    assert eks_lab.scale_set(values={"containerMode": named})


def test_a_volume_of_its_own_needs_a_storage_class_too(eks_lab: Lab, refused):
    eks_lab.controller()
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}
    volume = {"name": "work", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
    spec = {"containers": [RUNNER], "volumes": [volume]}
    with refused("storage class 'fast' of the work volume does not exist"):
        eks_lab.scale_set(values={"template": {"spec": spec}})


def upgrade(lab: Lab, controller, version):
    """The definitions move first, as the controller demands."""
    for definition in lab.world.all(DEFINITION):
        lab.change(definition, metadata={"annotations": {"rehearsal/arc-chart-version": version}})
    lab.change(controller, version=version)
