"""The pod of the generic device plugin says to it exactly what its flags take."""

from __future__ import annotations

import json

import pytest

from fleet.gpu_stack.host_device_pods import device_path, device_resource, plugin_pod
from fleet.kubernetes.pods import Size, Toleration, resources, selector_affinity
from fleet.kubernetes.values import to_values


def pod(**devices: int) -> dict[str, object]:
    return to_values(
        plugin_pod(
            devices,
            image="ghcr.io/example/plugin:1",
            affinity=selector_affinity([{"kubernetes.io/hostname": "honey"}]),
            tolerations=(Toleration(key="dedicated", effect="NoSchedule"),),
            labels={"app": "plugin"},
            resources=resources(Size(cpu_m=50, memory_mib=20)),
        )
    )


def test_each_device_is_one_flag_with_its_count() -> None:
    (container,) = pod(dri=4, kvm=2)["spec"]["containers"]  # type: ignore[index]
    arguments = container["args"]
    assert arguments[:2] == ["--domain", "gpu-runners"]
    assert arguments[2::2] == ["--device", "--device"]
    assert [json.loads(text) for text in arguments[3::2]] == [
        {"name": "dri", "groups": [{"count": 4, "paths": [{"path": "/dev/dri"}]}]},
        {"name": "kvm", "groups": [{"count": 2, "paths": [{"path": "/dev/kvm"}]}]},
    ]


def test_the_plugin_sees_the_hosts_devices_and_the_kubelets_sockets() -> None:
    spec = pod(dri=1)["spec"]
    assert isinstance(spec, dict)
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in spec["volumes"]}
    (container,) = spec["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert paths == mounts == {"device-plugins": "/var/lib/kubelet/device-plugins", "dev": "/dev"}
    assert container["securityContext"] == {"privileged": True}
    assert spec["automountServiceAccountToken"] is False


@pytest.mark.parametrize("device", ["dri", "kvm"])
def test_a_device_has_a_path_and_a_resource(device: str) -> None:
    assert device_path(device) == f"/dev/{device}"
    assert device_resource(device) == f"gpu-runners/{device}"
