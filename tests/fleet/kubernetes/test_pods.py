"""Pod pieces: Kubernetes' spelling, and what the API server would refuse."""

import pytest

from fleet.kubernetes.pods import (
    GPU_RESOURCE,
    Container,
    EmptyDir,
    EnvVar,
    HostPath,
    LocalObjectReference,
    PersistentVolumeClaimSpec,
    PodSpec,
    PodTemplate,
    Probe,
    ResourceRequirements,
    SecurityContext,
    Toleration,
    Volume,
    VolumeMount,
    selector_affinity,
    shared_memory,
)
from fleet.kubernetes.releases import to_values
from fleet.kubernetes.resources import Resources

LABEL = "gpu-runners/pool"


def test_a_pod_template_has_kubernetes_spelling_throughout() -> None:
    template = PodTemplate(
        labels={"a": "b"},
        annotations={"c": "d"},
        spec=PodSpec(
            containers=(
                Container(
                    name="runner",
                    image="image:1",
                    command=("run",),
                    args=("--fast",),
                    env=(EnvVar(name="A", value="b"),),
                    resources=ResourceRequirements(requests=Resources(cpu_m=500, memory_mib=256)),
                    volume_mounts=(VolumeMount(name="dri", mount_path="/dev/dri", read_only=True),),
                    security_context=SecurityContext(privileged=False, run_as_user=1),
                    restart_policy="Always",
                    startup_probe=Probe(command=("true",), failure_threshold=3, period_seconds=5),
                ),
            ),
            init_containers=(Container(name="first"),),
            volumes=(
                Volume(name="dri", host_path=HostPath(path="/dev/dri", type="Directory")),
                Volume(name="hook", config_map=LocalObjectReference(name="hook-template")),
                Volume(name="scratch", empty_dir=EmptyDir()),
            ),
            tolerations=(Toleration(key="nvidia.com/gpu", effect="NoSchedule"),),
            service_account_name="runner",
            automount_service_account_token=False,
            fs_group=1001,
            runtime_class_name="nvidia",
            priority_class_name="jobs",
        ),
    )
    assert to_values(template) == {
        "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {
            "containers": [
                {
                    "name": "runner",
                    "image": "image:1",
                    "command": ["run"],
                    "args": ["--fast"],
                    "env": [{"name": "A", "value": "b"}],
                    "resources": {
                        "requests": {"cpu": "500m", "memory": "256Mi"},
                        "limits": {"memory": "256Mi"},
                    },
                    "volumeMounts": [{"name": "dri", "mountPath": "/dev/dri", "readOnly": True}],
                    "securityContext": {"privileged": False, "runAsUser": 1},
                    "restartPolicy": "Always",
                    "startupProbe": {
                        "exec": {"command": ["true"]},
                        "failureThreshold": 3,
                        "periodSeconds": 5,
                    },
                }
            ],
            "initContainers": [{"name": "first"}],
            "volumes": [
                {"name": "dri", "hostPath": {"path": "/dev/dri", "type": "Directory"}},
                {"name": "hook", "configMap": {"name": "hook-template"}},
                {"name": "scratch", "emptyDir": {}},
            ],
            "tolerations": [
                {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
            ],
            "serviceAccountName": "runner",
            "automountServiceAccountToken": False,
            "securityContext": {"fsGroup": 1001},
            "runtimeClassName": "nvidia",
            "priorityClassName": "jobs",
        },
    }


def test_one_pool_is_required_and_nothing_is_preferred() -> None:
    assert to_values(selector_affinity([{LABEL: "t4"}])) == {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": LABEL, "operator": "In", "values": ["t4"]}]}
                ]
            }
        }
    }


def test_several_pools_are_one_requirement_and_descending_wishes() -> None:
    node_affinity = to_values(
        selector_affinity([{LABEL: "spot"}, {LABEL: "reserved"}, {LABEL: "on-demand"}])
    )["nodeAffinity"]
    required = node_affinity["requiredDuringSchedulingIgnoredDuringExecution"]
    preferred = node_affinity["preferredDuringSchedulingIgnoredDuringExecution"]
    assert [
        requirement["values"]
        for term in required["nodeSelectorTerms"]
        for requirement in term["matchExpressions"]
    ] == [["spot", "reserved", "on-demand"]]
    assert [
        (wish["weight"], wish["preference"]["matchExpressions"][0]["values"]) for wish in preferred
    ] == [(100, ["spot"]), (50, ["reserved"])]


def test_weights_stay_within_what_kubernetes_takes_for_very_many_pools() -> None:
    preferred = selector_affinity([{LABEL: f"pool-{n}"} for n in range(300)]).preferred or ()
    assert {min(wish.weight for wish in preferred), max(wish.weight for wish in preferred)} == {
        1,
        100,
    }


def test_an_affinity_to_no_pool_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one pool"):
        selector_affinity([])


def test_memory_and_gpus_are_limited_to_what_is_asked_and_cpu_and_disk_are_not() -> None:
    size = Resources(cpu_m=3000, memory_mib=8192, disk_mib=100)
    assert ResourceRequirements(requests=size, extended={GPU_RESOURCE: 2}).rendered() == {
        "requests": {
            "cpu": "3000m",
            "memory": "8192Mi",
            "ephemeral-storage": "100Mi",
            "nvidia.com/gpu": 2,
        },
        "limits": {"memory": "8192Mi", "nvidia.com/gpu": 2},
    }


def test_a_container_without_gpu_and_disk_names_neither() -> None:
    rendered = to_values(Container(name="x", resources=ResourceRequirements(requests=Resources())))
    assert set(rendered["resources"]["requests"]) == {"cpu", "memory"}
    assert set(rendered["resources"]["limits"]) == {"memory"}


def test_a_toleration_exists_by_default_because_taint_values_differ_by_cloud() -> None:
    assert to_values(Toleration(key="nvidia.com/gpu", effect="NoSchedule")) == {
        "key": "nvidia.com/gpu",
        "operator": "Exists",
        "effect": "NoSchedule",
    }


def test_shared_memory_is_a_sized_tmpfs_at_dev_shm() -> None:
    volume, mount = shared_memory(4096)
    assert to_values(volume) == {
        "name": "shared-memory",
        "emptyDir": {"medium": "Memory", "sizeLimit": "4096Mi"},
    }
    assert to_values(mount) == {"name": "shared-memory", "mountPath": "/dev/shm"}


def test_a_claim_has_its_size_as_a_request() -> None:
    assert to_values(PersistentVolumeClaimSpec(storage="1024Mi")) == {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1024Mi"}},
    }
