"""ARC: relations between the controller, scale sets and their cluster."""

import pytest
from kubernetes_cluster import (
    DEFINITION,
    RELEASE,
    Cluster,
    controller_inputs,
    scale_set_inputs,
)
from pulumi_rehearsal.standin.kubernetes import world_faults
from pulumi_rehearsal.standin.kubernetes.arc import RUNNER_SET
from pulumi_rehearsal.standin.kubernetes.runner_set import STORAGE_CLASS

RUNNER = {"name": "runner", "image": "runner:1", "command": ["run.sh"]}


def sets(cluster: Cluster):
    return [resource.id for resource in cluster.world.all(RUNNER_SET)]


# The controller


def test_install_refuses_a_controller_without_definitions(cluster: Cluster, refused):
    cluster.namespace("arc-system")
    with refused("no matches for kind 'AutoscalingListener'"):
        cluster.release(controller_inputs())


def test_uninstall_of_a_controller_keeps_its_definitions(cluster: Cluster):
    cluster.namespace("arc-system")
    inputs = controller_inputs()
    inputs["skipCrds"] = False
    cluster.delete(cluster.release(inputs))
    assert len(cluster.world.all(DEFINITION)) == 4


def test_install_refuses_definitions_of_another_minor_version(cluster: Cluster, refused):
    cluster.namespace("arc-system")
    cluster.definitions("0.13.1")
    with refused("is of chart 0.13.1, the controller of 0.14.2"):
        cluster.release(controller_inputs())


def test_install_refuses_a_second_controller(cluster: Cluster, refused):
    cluster.controller()
    with refused("both would work on the same scale sets"):
        cluster.controller(name="arc-two")


def test_two_controllers_may_watch_different_namespaces(cluster: Cluster):
    cluster.controller(values={"flags": {"watchSingleNamespace": "one"}})
    assert cluster.controller(name="arc-two", values={"flags": {"watchSingleNamespace": "two"}})


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
            "is required",
        ),
        (
            {"values": {"flags": {"updateStrategy": "later"}}},
            "values.flags.updateStrategy",
            "neither",
        ),
    ],
    ids=["skipAwait", "the account 'default'", "no account", "an unknown update strategy"],
)
def test_check_refuses_a_controller_with(cluster: Cluster, changes, path, reason):
    assert reason in cluster.invalid(RELEASE, {**controller_inputs(), **changes})[path]


def test_uninstall_refuses_a_controller_with_scale_sets(cluster: Cluster, refused):
    controller = cluster.controller()
    cluster.scale_set()
    with refused("cleanup-protection is never removed"):
        cluster.delete(controller)


def test_controller_is_uninstalled_after_its_scale_sets(cluster: Cluster):
    controller = cluster.controller()
    cluster.delete(cluster.scale_set())
    cluster.delete(controller)
    assert cluster.world.all(RELEASE) == ()


# A scale set and its controller


def test_install_refuses_a_scale_set_without_a_controller(cluster: Cluster, refused):
    with refused(
        "no controller runs in this cluster with the account arc-system/arc-gha-rs-controller"
    ):
        cluster.scale_set()


def test_install_refuses_the_controller_of_another_cluster(cluster: Cluster, refused):
    other = Cluster("kubernetes:https://another", cluster.world)
    other.controller()
    with refused("no controller runs in this cluster"):
        cluster.scale_set()


def test_install_refuses_another_account_than_the_controllers(cluster: Cluster, refused):
    cluster.controller(values={"serviceAccount": {"name": "operator"}})
    with refused("controllers: arc-system/operator"):
        cluster.scale_set()


def test_account_is_named_after_a_release_that_contains_the_charts_name(cluster: Cluster):
    cluster.controller(name="my-gha-rs-controller")
    account = {"name": "my-gha-rs-controller", "namespace": "arc-system"}
    assert cluster.scale_set(values={"controllerServiceAccount": account})


def test_install_refuses_a_scale_set_of_another_minor_version(cluster: Cluster, refused):
    cluster.controller("0.14.2")
    with refused("the controller deletes sets of another minor version"):
        cluster.scale_set("0.13.1")


def test_scale_set_may_have_another_patch_version(cluster: Cluster):
    cluster.controller("0.14.2")
    assert cluster.scale_set("0.14.1")


def test_upgrade_to_another_minor_version_deletes_the_scale_sets(cluster: Cluster):
    controller = cluster.controller("0.14.2")
    cluster.scale_set("0.14.2")
    upgrade(cluster, controller, "0.15.0")
    assert sets(cluster) == []
    assert any(
        "deleted AutoscalingRunnerSet 'runners/gpu'" in e.detail for e in cluster.world.journal
    )


def test_upgrade_to_another_patch_version_keeps_the_scale_sets(cluster: Cluster):
    controller = cluster.controller("0.14.1")
    cluster.scale_set("0.14.2")
    cluster.change(controller, version="0.14.2")
    assert sets(cluster) == ["runners/gpu"]


def test_upgrade_of_a_deleted_scale_set_is_a_fault(cluster: Cluster):
    controller = cluster.controller("0.14.2")
    release = cluster.scale_set("0.14.2")
    assert world_faults(cluster.world) == []
    upgrade(cluster, controller, "0.15.0")
    changed = cluster.change(release, version="0.15.0")
    assert changed.outputs["status"]["status"] == "deployed", "Helm reports no error"
    assert [
        "its AutoscalingRunnerSet is gone" in fault for fault in world_faults(cluster.world)
    ] == [True]


def test_replacement_of_a_deleted_scale_set_creates_it_again(cluster: Cluster):
    controller = cluster.controller("0.14.2")
    release = cluster.scale_set("0.14.2")
    upgrade(cluster, controller, "0.15.0")
    cluster.delete(release)
    cluster.scale_set("0.15.0")
    assert (sets(cluster), world_faults(cluster.world)) == (["runners/gpu"], [])


def test_uninstall_refuses_a_scale_set_whose_controller_was_deleted(cluster: Cluster, refused):
    controller, release = cluster.controller(), cluster.scale_set()
    cluster.world.remove(controller)
    with refused("its controller was deleted"):
        cluster.delete(release)


def test_uninstall_refuses_a_scale_set_whose_secret_was_deleted(cluster: Cluster, refused):
    cluster.controller()
    release = cluster.scale_set()
    cluster.delete(cluster.world.get("runners/github", "kubernetes:core/v1:Secret", cluster.home))
    with refused("its githubConfigSecret was deleted"):
        cluster.delete(release)


def test_uninstall_refuses_a_scale_set_without_nodes(eks_cluster: Cluster, refused):
    eks_cluster.controller()
    release = eks_cluster.scale_set()
    for group in eks_cluster.world.all("aws:eks/nodeGroup:NodeGroup"):
        eks_cluster.world.remove(group)
    with refused("no node left on which its controller runs"):
        eks_cluster.delete(release)


def test_upgrade_refuses_other_labels(cluster: Cluster, refused):
    cluster.controller()
    release = cluster.scale_set()
    with refused("runnerScaleSetLabels is sent to GitHub only when the set is created"):
        cluster.change(release, values={"scaleSetLabels": ["gpu", "t4"]})


def test_upgrade_with_another_set_name_replaces_the_object(cluster: Cluster):
    cluster.controller()
    cluster.change(cluster.scale_set(), values={"runnerScaleSetName": "renamed"})
    assert sets(cluster) == ["runners/renamed"]


# A scale set that leaves the choice of its controller or Secret to the chart


def test_scale_set_without_an_account_takes_the_only_controller(cluster: Cluster, refused):
    cluster.namespace("runners")
    cluster.secret("runners", "github", github_token="t")
    with refused("no controller runs in this cluster"):
        cluster.scale_set(values={"controllerServiceAccount": None})
    cluster.controller(values={"flags": {"watchSingleNamespace": "one"}})
    made = cluster.scale_set(values={"controllerServiceAccount": None})
    cluster.controller(name="arc-two", values={"flags": {"watchSingleNamespace": "two"}})
    with refused("several controllers run in this cluster"):
        cluster.change(made, values={"maxRunners": 5})


def test_chart_creates_the_secret_of_credentials_in_the_values(cluster: Cluster, refused):
    cluster.controller()
    with refused("lacks the keys github_token or"):
        cluster.scale_set(values={"githubConfigSecret": {"token": "t"}})
    made = cluster.scale_set(values={"githubConfigSecret": {"github_token": "t"}})
    cluster.delete(made)


# A scale set and its Secret, name, volumes and storage class


def test_install_refuses_a_missing_secret(cluster: Cluster, refused):
    cluster.controller()
    with refused("githubConfigSecret 'absent' does not exist in namespace 'runners'"):
        cluster.scale_set(values={"githubConfigSecret": "absent"})


def test_install_refuses_a_secret_of_another_namespace(cluster: Cluster, refused):
    cluster.controller()
    cluster.secret("arc-system", "elsewhere", github_token="t")
    with refused("does not exist in namespace 'runners'"):
        cluster.scale_set(values={"githubConfigSecret": "elsewhere"})


def test_install_refuses_a_secret_with_missing_keys(cluster: Cluster, refused):
    cluster.controller()
    cluster.namespace("runners")
    cluster.secret("runners", "github", github_app_id="1", github_app_private_key="k")
    with refused("lacks the keys github_token or github_app_id"):
        cluster.release(scale_set_inputs())


def test_install_refuses_a_set_name_of_another_cluster(cluster: Cluster, refused):
    cluster.controller()
    cluster.scale_set()
    other = Cluster("kubernetes:https://another", cluster.world)
    other.controller()
    with refused("already registers the scale set 'gpu' at the same GitHub address"):
        other.scale_set(values={"githubConfigUrl": "https://github.com/acme/"})


def test_set_name_may_exist_in_another_runner_group(cluster: Cluster):
    cluster.controller()
    cluster.scale_set()
    cluster.namespace("others")
    cluster.secret("others", "github", github_token="t")
    assert cluster.scale_set(namespace="others", values={"runnerGroup": "gpus"})


def test_install_refuses_the_object_of_another_release(cluster: Cluster, refused):
    cluster.controller()
    cluster.scale_set()
    with refused("belongs to release 'runners/gpu'"):
        cluster.scale_set(
            name="two",
            values={"runnerScaleSetName": "gpu", "githubConfigUrl": "https://github.com/other"},
        )


def test_install_refuses_a_missing_config_map(cluster: Cluster, refused):
    cluster.controller()
    volumes = [{"name": "hooks", "configMap": {"name": "hooks"}}]
    spec = {"containers": [RUNNER], "volumes": volumes}
    with refused("volume 'hooks' mounts ConfigMap 'hooks'"):
        cluster.scale_set(values={"template": {"spec": spec}})


def test_install_refuses_a_work_volume_without_a_storage_class(eks_cluster: Cluster, refused):
    eks_cluster.controller()
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}
    mode = {"type": "kubernetes", "kubernetesModeWorkVolumeClaim": claim}
    with refused("the cluster has no default one"):
        eks_cluster.scale_set(values={"containerMode": mode})
    with refused("storage class 'fast' of the work volume does not exist"):
        named = {**mode, "kubernetesModeWorkVolumeClaim": {**claim, "storageClassName": "fast"}}
        eks_cluster.scale_set(values={"containerMode": named})
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "ebs.csi.aws.com",
    }
    eks_cluster.create(STORAGE_CLASS, storage_class)
    assert eks_cluster.scale_set(values={"containerMode": named})


def test_install_refuses_an_ephemeral_volume_without_a_storage_class(eks_cluster: Cluster, refused):
    eks_cluster.controller()
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}
    volume = {"name": "work", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
    spec = {"containers": [RUNNER], "volumes": [volume]}
    with refused("storage class 'fast' of the work volume does not exist"):
        eks_cluster.scale_set(values={"template": {"spec": spec}})


def upgrade(cluster: Cluster, controller, version):
    """Upgrade the definitions, then the controller."""
    for definition in cluster.world.all(DEFINITION):
        cluster.change(
            definition, metadata={"annotations": {"rehearsal/arc-chart-version": version}}
        )
    cluster.change(controller, version=version)
