"""What lives in OKE clusters: clusters kept apart, one advertiser, room, qualified images."""

from __future__ import annotations

import pytest
from oci_tenancy import PLUGIN_OFF, Fleet, Tenancy, image, labels, script
from pulumi_rehearsal.standin.kubernetes import world_faults
from pulumi_rehearsal.standin.kubernetes.images import is_qualified

NAMESPACE = "kubernetes:core/v1:Namespace"
RELEASE = "kubernetes:helm.sh/v3:Release"
CRON_JOB = "kubernetes:batch/v1:CronJob"
OFF = labels(**{PLUGIN_OFF: "true", "nvidia.com/gpu.present": "true"})
PRIVILEGED = {"pod-security.kubernetes.io/enforce": "privileged"}
OLD = "v1.33.10"


def namespace(tenancy: Tenancy, scope: str, name: str, **extra):
    metadata = {"name": name, **({"labels": extra} if extra else {})}
    return tenancy.make(
        NAMESPACE, f"{scope}-{name}", scope, apiVersion="v1", kind="Namespace", metadata=metadata
    )


def release(tenancy: Tenancy, scope: str, logical: str = "release", **inputs):
    given = {
        "chart": "podinfo",
        "name": "podinfo",
        "namespace": "apps",
        "repositoryOpts": {"repo": "https://example.org/charts"},
        "version": "6.9.2",
    }
    return tenancy.make(RELEASE, logical, scope, **{**given, **inputs})


def plugin(tenancy: Tenancy, scope: str, **values):
    return release(
        tenancy,
        scope,
        chart="nvidia-device-plugin",
        name="plugin",
        namespace="gpu",
        values=values,
        version="0.20.0",
    )


def operator(tenancy: Tenancy, scope: str, **values):
    return release(
        tenancy,
        scope,
        chart="gpu-operator",
        name="operator",
        namespace="gpu",
        timeout=1800,
        values={"driver": {"enabled": False}, "devicePlugin": {"enabled": False}, **values},
        version="v26.7.0",
    )


@pytest.fixture
def ready(fleet: Fleet) -> Fleet:
    """A fleet with a node for ordinary pods and namespaces."""
    fleet.system_pool()
    fleet.scope = fleet.kubernetes_scope()
    namespace(fleet, fleet.scope, "apps")
    namespace(fleet, fleet.scope, "gpu", **PRIVILEGED)
    return fleet


def test_a_name_in_two_clusters_is_accepted_and_twice_in_one_is_refused(ready, refused):
    other = ready.make_cluster("other")
    ready.system_pool("other-system", clusterId=other.id)
    scope = ready.kubernetes_scope(other)
    assert scope != ready.scope
    namespace(ready, scope, "apps")
    release(ready, ready.scope, "first")
    release(ready, scope, "second")
    with refused("the name is still in use in this cluster"):
        release(ready, scope, "third")


def test_the_nodes_behind_a_private_endpoint_are_found_too(fleet, refused):
    groups = [fleet.endpoint_group.id]
    private = fleet.make_cluster(
        "private", endpointConfig={"subnetId": fleet.endpoint.id, "nsgIds": groups}
    )
    endpoint = private.outputs["endpoints"][0]["privateEndpoint"]
    scope = f"kubernetes:https://{endpoint}"
    namespace(fleet, scope, "apps")
    with refused("the cluster has no node without a taint"):
        release(fleet, scope)
    fleet.system_pool(clusterId=private.id)
    assert release(fleet, scope)


def test_gpu_nodes_have_no_room_for_ordinary_pods(fleet, refused):
    fleet.pool(size=1, nodeMetadata=None)
    scope = fleet.kubernetes_scope()
    namespace(fleet, scope, "apps")
    with refused("the cluster has no node without a taint"):
        release(fleet, scope)


def test_nothing_is_deleted_in_a_cluster_that_is_gone(ready, refused):
    made = release(ready, ready.scope)
    for pool in ready.world.all("oci:ContainerEngine/nodePool:NodePool"):
        ready.delete(pool)
    ready.delete(ready.cluster)
    with refused("its cluster is gone"):
        ready.delete(made)


def test_oracles_plugin_is_an_advertiser(ready, refused):
    ready.pool()
    assert world_faults(ready.world) == []
    with refused("'a10' has Oracle's own device plugin, which advertises"):
        plugin(ready, ready.scope)
    with refused("switch that off by its initial node label oci.oraclecloud.com/disable-gpu"):
        operator(ready, ready.scope, devicePlugin={"enabled": True})
    assert operator(ready, ready.scope)


def test_a_pool_that_switches_it_off_takes_the_releases(ready):
    ready.pool(initialNodeLabels=OFF)
    assert ["nothing in its cluster advertises" in f for f in world_faults(ready.world)] == [True]
    plugin(ready, ready.scope)
    assert world_faults(ready.world) == []


def test_a_pool_that_comes_after_the_release_is_a_fault(ready):
    plugin(ready, ready.scope)
    ready.pool()
    assert any("Oracle's own device plugin" in fault for fault in world_faults(ready.world))


def test_the_operator_as_an_addon_is_an_advertiser_too(ready, refused):
    ready.pool(initialNodeLabels=OFF)
    ready.addon("NvidiaGpuOperator")
    with refused("has the add-on NvidiaGpuOperator, which advertises"):
        plugin(ready, ready.scope)


def test_the_operator_brings_no_driver_to_oracle_linux(ready, refused):
    ready.pool(initialNodeLabels=OFF)
    with refused("NVIDIA has no driver container for Oracle Linux"):
        operator(ready, ready.scope, driver={"enabled": True})
    assert operator(ready, ready.scope, toolkit={"enabled": True})


def test_the_operator_may_bring_the_driver_to_an_image_of_ones_own(ready):
    source = {"sourceType": "IMAGE", "imageId": "ocid1.image.oc1.iad.aaaaaaaaubuntu"}
    ready.pool(initialNodeLabels=OFF, nodeSourceDetails=source)
    assert operator(ready, ready.scope, driver={"enabled": True})


def test_the_plugin_tolerates_the_taints_and_finds_the_label(ready, refused):
    ready.pool(initialNodeLabels=labels(**{PLUGIN_OFF: "true"}))
    with refused("lacks the label nvidia.com/gpu.present=true"):
        plugin(ready, ready.scope)
    placed = ready.placement(preemptibleNodeConfig={"preemptionAction": {"type": "TERMINATE"}})
    ready.pool("spot", initialNodeLabels=OFF, nodeConfigDetails=ready.details(0, placed))
    with refused("'oci.oraclecloud.com/oke-is-preemptible', which is not tolerated"):
        plugin(ready, ready.scope, affinity={})


def test_the_autoscaler_of_oke_is_no_chart(ready, refused):
    with refused("whose autoscaler is the add-on ClusterAutoscaler"):
        release(
            ready,
            ready.scope,
            chart="cluster-autoscaler",
            name="ca",
            values={"cloudProvider": "oci-oke"},
        )


def test_rules_that_are_missing_in_the_end_are_a_fault(ready):
    ready.pool()
    ready.delete(ready.rules[0])
    faults = world_faults(ready.world)
    assert any("in to the API endpoint by TCP 6443" in fault for fault in faults)


# Image names


@pytest.mark.parametrize(
    ("reference", "qualified"),
    [
        ("docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04", True),
        ("ghcr.io/actions/actions-runner@sha256:0123", True),
        ("localhost/x", True),
        ("registry:5000/x", True),
        ("nvidia/cuda:12.9.1-base-ubuntu24.04", False),
        ("ubuntu:24.04", False),
        ("ubuntu", False),
    ],
)
def test_a_qualified_name_begins_with_its_registry(reference, qualified):
    assert is_qualified(reference) is qualified


def cron_job(tenancy, scope, reference):
    pod = {"containers": [{"name": "main", "image": reference}], "restartPolicy": "Never"}
    return tenancy.make(
        CRON_JOB,
        "cleanup",
        scope,
        apiVersion="batch/v1",
        kind="CronJob",
        metadata={"name": "cleanup", "namespace": "apps"},
        spec={"schedule": "*/10 * * * *", "jobTemplate": {"spec": {"template": {"spec": pod}}}},
    )


def test_a_short_name_in_a_pod_is_refused(ready, refused):
    with refused("image 'busybox:1.37' is not fully qualified, and CRI-O on node pool 'system'"):
        cron_job(ready, ready.scope, "busybox:1.37")
    assert cron_job(ready, ready.scope, "docker.io/library/busybox:1.37")


def test_nodes_of_an_older_version_take_short_names(fleet):
    old = fleet.make_cluster("old", kubernetesVersion=OLD)
    source = {"sourceType": "IMAGE", "imageId": image(version=OLD)}
    fleet.system_pool(clusterId=old.id, kubernetesVersion=OLD, nodeSourceDetails=source)
    scope = fleet.kubernetes_scope(old)
    namespace(fleet, scope, "apps")
    assert cron_job(fleet, scope, "busybox:1.37")


def test_a_start_up_script_can_allow_short_names(fleet):
    first = "#!/bin/bash\necho 'short_name_mode = \"disabled\"' > /etc/crio/crio.conf.d/99.conf"
    fleet.system_pool(nodeMetadata={"user_data": script(first=first)})
    scope = fleet.kubernetes_scope()
    namespace(fleet, scope, "apps")
    assert cron_job(fleet, scope, "busybox:1.37")


def scale_set(tenancy, scope, **values):
    runner = {"name": "runner", "image": "ghcr.io/actions/actions-runner:2.338.0"}
    given = {
        "controllerServiceAccount": {"name": "arc-gha-rs-controller", "namespace": "arc"},
        "githubConfigSecret": "github",
        "githubConfigUrl": "https://github.com/acme",
        "template": {"spec": {"containers": [{**runner, "command": ["run.sh"]}]}},
    }
    return release(
        tenancy,
        scope,
        chart="oci://ghcr.io/actions/actions-runner-controller-charts/gha-runner-scale-set",
        name="gpu",
        repositoryOpts=None,
        values={**given, **values},
        version="0.14.2",
    )


@pytest.fixture
def runners(ready: Fleet) -> Fleet:
    """A fleet in which a scale set can be installed."""
    from pulumi_rehearsal.standin.kubernetes.arc_definitions import KINDS_BY_PLURAL, definition

    namespace(ready, ready.scope, "arc")
    for plural in KINDS_BY_PLURAL:
        token = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
        ready.make(token, plural, ready.scope, **definition(plural, "0.14.2"))
    ready.make(
        "kubernetes:core/v1:Secret",
        "github",
        ready.scope,
        apiVersion="v1",
        kind="Secret",
        metadata={"name": "github", "namespace": "apps"},
        stringData={"github_token": "t"},
    )
    release(
        ready,
        ready.scope,
        "arc",
        chart="oci://ghcr.io/actions/actions-runner-controller-charts/"
        "gha-runner-scale-set-controller",
        name="arc",
        namespace="arc",
        repositoryOpts=None,
        skipCrds=True,
        version="0.14.2",
    )
    return ready


def test_a_scale_set_with_qualified_images_is_installed(runners):
    assert scale_set(runners, runners.scope)


def test_a_short_name_in_a_runners_template_is_refused(runners, refused):
    short = {"name": "runner", "image": "actions/actions-runner:2.338.0", "command": ["run.sh"]}
    with refused("image 'actions/actions-runner:2.338.0' is not fully qualified"):
        scale_set(runners, runners.scope, template={"spec": {"containers": [short]}})


def test_the_charts_own_docker_container_has_a_short_name(runners, refused):
    with refused("image 'docker:dind' is not fully qualified"):
        scale_set(runners, runners.scope, containerMode={"type": "dind"})


def test_a_work_volume_takes_a_class_of_oracles(runners, refused):
    def claim(name):
        spec = {"storageClassName": name, "accessModes": ["ReadWriteOnce"]}
        given = {key: value for key, value in spec.items() if value is not None}
        return {"type": "kubernetes", "kubernetesModeWorkVolumeClaim": given}

    with refused("storage class 'gp2' of the work volume does not exist"):
        scale_set(runners, runners.scope, containerMode=claim("gp2"))
    assert scale_set(runners, runners.scope, containerMode=claim(None))


CONFIG = """
[[runners]]
executor = "kubernetes"
[runners.kubernetes]
image = "{image}"
namespace = "apps"
"""


@pytest.mark.parametrize(
    ("reference", "words"),
    [("ubuntu:24.04", "image 'ubuntu:24.04' is not fully qualified"), ("", "")],
)
def test_a_short_name_in_config_toml_is_refused(ready, refused, reference, words):
    keys = {"runner-token": "glrt-x", "runner-registration-token": ""}
    ready.make(
        "kubernetes:core/v1:Secret",
        "runner",
        ready.scope,
        apiVersion="v1",
        kind="Secret",
        metadata={"name": "runner", "namespace": "apps"},
        stringData=keys,
    )
    lane = {
        "chart": "gitlab-runner",
        "name": "lane",
        "values": {
            "gitlabUrl": "https://gitlab.com",
            "rbac": {"create": True},
            "runners": {
                "config": CONFIG.format(image=reference or "docker.io/library/ubuntu:24.04"),
                "secret": "runner",
            },
            "serviceAccount": {"create": True},
        },
        "version": "0.86.0",
    }
    if words:
        with refused(words):
            release(ready, ready.scope, **lane)
    else:
        assert release(ready, ready.scope, **lane)
