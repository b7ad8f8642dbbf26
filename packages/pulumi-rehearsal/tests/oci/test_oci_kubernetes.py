"""Kubernetes resources in OKE clusters: scopes, nodes, GPUs and image names."""

from __future__ import annotations

import pytest
from oci_tenancy import PLUGIN_OFF, OkeTenancy, Tenancy, image, labels, script
from pulumi_rehearsal.standin.kubernetes import world_faults
from pulumi_rehearsal.standin.kubernetes.arc import KINDS_BY_PLURAL, definition
from pulumi_rehearsal.standin.kubernetes.pods import has_registry

NAMESPACE = "kubernetes:core/v1:Namespace"
RELEASE = "kubernetes:helm.sh/v3:Release"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
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
def ready(oke: OkeTenancy) -> OkeTenancy:
    """A cluster with a node without taints, and two namespaces."""
    oke.system_pool()
    oke.scope = oke.kubernetes_scope()
    namespace(oke, oke.scope, "apps")
    namespace(oke, oke.scope, "gpu", **PRIVILEGED)
    return oke


def test_release_name_may_exist_in_another_cluster(ready, refused):
    other = ready.make_cluster("other")
    ready.system_pool("other-system", clusterId=other.id)
    scope = ready.kubernetes_scope(other)
    assert scope != ready.scope
    namespace(ready, scope, "apps")
    release(ready, ready.scope, "first")
    release(ready, scope, "second")
    with refused("the name is still in use in this cluster"):
        release(ready, scope, "third")


def test_nodes_of_a_cluster_with_a_private_endpoint(oke, refused):
    groups = [oke.endpoint_group.id]
    private = oke.make_cluster(
        "private", endpointConfig={"subnetId": oke.endpoint.id, "nsgIds": groups}
    )
    endpoint = private.outputs["endpoints"][0]["privateEndpoint"]
    scope = f"kubernetes:https://{endpoint}"
    namespace(oke, scope, "apps")
    with refused("the cluster has no node without a taint"):
        release(oke, scope)
    oke.system_pool(clusterId=private.id)
    assert release(oke, scope)


def test_refuse_a_release_in_a_cluster_with_gpu_nodes_only(oke, refused):
    oke.pool(size=1, nodeMetadata=None)
    scope = oke.kubernetes_scope()
    namespace(oke, scope, "apps")
    with refused("the cluster has no node without a taint"):
        release(oke, scope)


def test_refuse_deletion_in_a_deleted_cluster(ready, refused):
    made = release(ready, ready.scope)
    for pool in ready.world.all("oci:ContainerEngine/nodePool:NodePool"):
        ready.delete(pool)
    ready.delete(ready.cluster)
    with refused("its cluster was deleted"):
        ready.delete(made)


def test_refuse_a_release_beside_oracles_plugin(ready, refused):
    ready.pool()
    assert world_faults(ready.world) == []
    with refused("'a10' has Oracle's own device plugin, which advertises"):
        plugin(ready, ready.scope)
    with refused("switch that off by its initial node label oci.oraclecloud.com/disable-gpu"):
        operator(ready, ready.scope, devicePlugin={"enabled": True})
    assert operator(ready, ready.scope)


def test_release_advertises_gpus_without_oracles_plugin(ready):
    ready.pool(initialNodeLabels=OFF)
    assert ["nothing in its cluster advertises" in f for f in world_faults(ready.world)] == [True]
    plugin(ready, ready.scope)
    assert world_faults(ready.world) == []


def test_later_pool_with_oracles_plugin_is_a_fault(ready):
    plugin(ready, ready.scope)
    ready.pool()
    assert any("Oracle's own device plugin" in fault for fault in world_faults(ready.world))


def test_refuse_a_release_beside_the_operator_addon(ready, refused):
    ready.pool(initialNodeLabels=OFF)
    ready.addon("NvidiaGpuOperator")
    with refused("has the add-on NvidiaGpuOperator, which advertises"):
        plugin(ready, ready.scope)


def test_refuse_the_operators_driver_on_oracle_linux(ready, refused):
    ready.pool(initialNodeLabels=OFF)
    with refused("NVIDIA has no driver container for Oracle Linux"):
        operator(ready, ready.scope, driver={"enabled": True})
    assert operator(ready, ready.scope, toolkit={"enabled": True})


def test_operator_may_install_the_driver_on_a_custom_image(ready):
    source = {"sourceType": "IMAGE", "imageId": "ocid1.image.oc1.iad.aaaaaaaaubuntu"}
    ready.pool(initialNodeLabels=OFF, nodeSourceDetails=source)
    assert operator(ready, ready.scope, driver={"enabled": True})


def test_refuse_nodes_without_the_plugins_label_or_with_other_taints(ready, refused):
    ready.pool(initialNodeLabels=labels(**{PLUGIN_OFF: "true"}))
    with refused("lacks the label nvidia.com/gpu.present=true"):
        plugin(ready, ready.scope)
    placed = ready.placement(preemptibleNodeConfig={"preemptionAction": {"type": "TERMINATE"}})
    ready.pool("spot", initialNodeLabels=OFF, nodeConfigDetails=ready.details(0, placed))
    with refused("'oci.oraclecloud.com/oke-is-preemptible', which the plugin does not tolerate"):
        plugin(ready, ready.scope, affinity={})


def test_missing_security_rule_is_a_fault(ready):
    ready.pool()
    ready.delete(ready.rules[0])
    faults = world_faults(ready.world)
    assert any("of the API endpoint allows TCP 6443" in fault for fault in faults)


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
def test_has_registry(reference, qualified):
    assert has_registry(reference) is qualified


def deployment(tenancy, scope, image):
    labels = {"app": "x"}
    pod = {"containers": [{"name": "main", "image": image}]}
    return tenancy.make(
        DEPLOYMENT,
        "x",
        scope,
        apiVersion="apps/v1",
        kind="Deployment",
        metadata={"name": "x", "namespace": "apps"},
        spec={
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    )


def test_refuse_a_short_image_name_in_a_pod(ready, refused):
    with refused("image 'busybox:1.37' is not fully qualified, and CRI-O on node pool 'system'"):
        deployment(ready, ready.scope, "busybox:1.37")
    assert deployment(ready, ready.scope, "docker.io/library/busybox:1.37")


def test_nodes_of_an_older_version_accept_short_names(oke):
    old = oke.make_cluster("old", kubernetesVersion=OLD)
    source = {"sourceType": "IMAGE", "imageId": image(version=OLD)}
    oke.system_pool(clusterId=old.id, kubernetesVersion=OLD, nodeSourceDetails=source)
    scope = oke.kubernetes_scope(old)
    namespace(oke, scope, "apps")
    assert deployment(oke, scope, "busybox:1.37")


def test_start_up_script_may_allow_short_names(oke):
    first = "#!/bin/bash\necho 'short_name_mode = \"disabled\"' > /etc/crio/crio.conf.d/99.conf"
    oke.system_pool(nodeMetadata={"user_data": script(first=first)})
    scope = oke.kubernetes_scope()
    namespace(oke, scope, "apps")
    assert deployment(oke, scope, "busybox:1.37")


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
def runners(ready: OkeTenancy) -> OkeTenancy:
    """A cluster in which a scale set can be installed."""
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


def test_scale_set_with_qualified_images(runners):
    assert scale_set(runners, runners.scope)


def test_refuse_a_short_image_name_in_a_runner_template(runners, refused):
    short = {"name": "runner", "image": "actions/actions-runner:2.338.0", "command": ["run.sh"]}
    with refused("image 'actions/actions-runner:2.338.0' is not fully qualified"):
        scale_set(runners, runners.scope, template={"spec": {"containers": [short]}})


def test_refuse_the_short_name_of_the_charts_docker_image(runners, refused):
    with refused("image 'docker:dind' is not fully qualified"):
        scale_set(runners, runners.scope, containerMode={"type": "dind"})


def test_work_volume_with_a_storage_class_of_oke(runners, refused):
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
    ("reference", "message"),
    [("ubuntu:24.04", "image 'ubuntu:24.04' is not fully qualified"), ("", "")],
)
def test_refuse_a_short_image_name_in_config_toml(ready, refused, reference, message):
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
    runner = {
        "chart": "gitlab-runner",
        "name": "runner",
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
    if message:
        with refused(message):
            release(ready, ready.scope, **runner)
    else:
        assert release(ready, ready.scope, **runner)
