"""The plugin for host devices, and the permissions of jobs in their namespaces."""

from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.cluster import RunnerCluster
from components.gpu.host_devices import HostDevices
from components.helm import namespace
from fleet.plan import ClusterPlan
from tests.engine import Registered, deploy_both, remembered
from tests.fleet.samples import every_key, loaded

DAEMON_SET = kubernetes.apps.v1.DaemonSet
NAMESPACE = kubernetes.core.v1.Namespace
CHART = kubernetes.helm.v4.Chart
ROLE = kubernetes.rbac.v1.Role
BINDING = kubernetes.rbac.v1.RoleBinding
ACCOUNT = kubernetes.core.v1.ServiceAccount


def planned() -> ClusterPlan:
    clusters = loaded(every_key()).plan.clusters
    return next(cluster for cluster in clusters if cluster.name == "honey")


@remembered
def devices() -> Registered:
    def program() -> None:
        provider = kubernetes.Provider("kubernetes", context="honey")
        opts = pulumi.ResourceOptions(providers=[provider])
        first = namespace(
            "first", "first", pulumi.ResourceOptions(provider=provider), depends_on=[]
        )
        plan = planned().host_devices
        assert plan is not None
        ready = HostDevices("devices", plan=plan, depends_on=[first], opts=opts).ready
        pulumi.export("ready", [one.urn for one in ready])

    return deploy_both(program)


@remembered
def cluster() -> Registered:
    def connect(name: str, kubeconfig: pulumi.Output[str]) -> kubernetes.Provider:
        raise AssertionError("an existing cluster needs no generated kubeconfig")

    def program() -> None:
        provider = kubernetes.Provider("honey-kubernetes", context="honey")
        token = pulumi.Output.from_input("glrt-given")
        made = RunnerCluster(
            "honey",
            plan=planned(),
            connect=connect,
            secrets={"runnerToken": token},
            opts=pulumi.ResourceOptions(providers=[provider]),
        )
        assert made.kubeconfig is None

    return deploy_both(program)


def test_the_namespace_admits_a_plugin_that_mounts_the_hosts_devices() -> None:
    found = devices()
    space = found.one(NAMESPACE, "devices-namespace").inputs["metadata"]
    assert space["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    daemonset = found.one(DAEMON_SET)
    assert daemonset.inputs["metadata"]["namespace"] == space["name"]
    assert found.one(NAMESPACE, "first").urn in found.before(daemonset)


def test_the_daemon_set_selects_its_own_pods() -> None:
    spec = devices().one(DAEMON_SET).inputs["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert (
        spec["selector"]["matchLabels"] == labels == {"app.kubernetes.io/name": "host-devices-dri"}
    )


def test_jobs_wait_for_the_plugin() -> None:
    found = devices()
    assert found.stack_outputs.data["ready"] == [found.one(DAEMON_SET).urn]
    lane = found_lane(cluster(), "vulkan")
    assert {"DaemonSet"} <= kinds_before(cluster(), lane)


def found_lane(found: Registered, name: str) -> Any:
    return next(one for one in found.find(CHART) if one.inputs["name"].rpartition("-")[0] == name)


def kinds_before(found: Registered, resource: Any) -> set[str]:
    before = found.before(resource)
    return {one.type.rpartition(":")[2] for one in found.resources if one.urn in before}


def test_an_existing_cluster_registers_no_cloud_resource() -> None:
    found = cluster()
    packages = {one.type.partition(":")[0] for one in found.resources}
    assert packages <= {"kubernetes", "gpu-runners", "pulumi"}
    assert {one.provider_urn for one in found.resources if one.type.startswith("kubernetes")} == {
        found.one("pulumi:providers:kubernetes").urn
    }


def test_permissions_are_roles_of_namespaces_and_no_cluster_roles() -> None:
    found = cluster()
    assert not [one for one in found.resources if "ClusterRole" in one.type]
    places = [
        (one.inputs["metadata"]["namespace"], one.inputs["metadata"]["name"])
        for one in found.find(ROLE)
        if one.inputs["metadata"]["name"].endswith("-jobs")
    ]
    assert sorted(places) == [
        ("ci-jobs", "github-mig-jobs"),
        ("shared", "github-mig-jobs"),
        ("shared", "gitlab-ska-gpu-a100-jobs"),
    ]
    for binding in found.find(BINDING):
        (subject,) = binding.inputs["subjects"]
        account = next(
            one
            for one in found.find(ACCOUNT)
            if one.inputs["metadata"]
            == {"name": subject["name"], "namespace": subject["namespace"]}
        )
        assert account.urn in found.before(binding)
        assert binding.inputs["roleRef"]["kind"] == "Role"


def test_a_lane_depends_on_the_permissions_and_namespaces_of_its_jobs() -> None:
    found = cluster()
    lane = found_lane(found, "mig")
    assert {"RoleBinding", "ServiceAccount"} <= kinds_before(found, lane)
    space = found.one(NAMESPACE, "honey-jobs-ci-jobs")
    assert space.urn in found.before(lane)
    assert found.one(NAMESPACE, "honey-jobs-shared").read_id == "shared"
