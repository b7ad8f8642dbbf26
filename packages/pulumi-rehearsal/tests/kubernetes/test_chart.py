"""Chart of helm.sh/v4: a component whose children are the chart's objects."""

import json

import pulumi
import pytest
from kubernetes_cluster import (
    CONFIG_MAP,
    DEFINITION,
    DEPLOYMENT,
    KINDS,
    RELEASE,
    SECRET,
    Cluster,
    gitlab_inputs,
    scale_set_inputs,
)
from pulumi.runtime.proto import provider_pb2
from pulumi_rehearsal.driver import rehearse
from pulumi_rehearsal.standin import wire
from pulumi_rehearsal.standin.kind import UNKNOWN, Invalid, Refusal, Unfinished
from pulumi_rehearsal.standin.kubernetes.arc import KINDS_BY_PLURAL, RUNNER_SET
from pulumi_rehearsal.standin.kubernetes.chart import HelmChart
from pulumi_rehearsal.standin.kubernetes.runner_set import SET_ID, RunnerSet
from pulumi_rehearsal.standin.world import World

SERVICE_ACCOUNT = "kubernetes:core/v1:ServiceAccount"
ROLE = "kubernetes:rbac.authorization.k8s.io/v1:Role"
CLUSTER_ROLE = "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole"
ROLE_BINDING = "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding"


def construct(monitor, inputs, *, name="lane", world=None):
    request = provider_pb2.ConstructRequest(
        type=HelmChart.token,
        name=name,
        monitorEndpoint=monitor.endpoint,
        providers={"kubernetes": "urn::provider::id"},
        dependencies=["urn::controller"],
        inputs=wire.encode(inputs),
    )
    return HelmChart().construct(request, "kubernetes:x", World() if world is None else world)


def children(monitor):
    return {(one.type, one.name): wire.decode(one.object).properties for one in monitor.requests}


def scale_set(**values):
    inputs = scale_set_inputs()
    return {**inputs, "values": {**inputs["values"], **values}}


def test_scale_set_registers_its_objects_under_the_component(monitor):
    construct(monitor, scale_set())
    component, *objects = monitor.requests
    assert (component.type, component.custom) == (HelmChart.token, False)
    assert list(component.dependencies) == ["urn::controller"]
    assert [(one.type, one.name) for one in objects] == [
        (SERVICE_ACCOUNT, "lane:runners/gpu-gha-rs-no-permission"),
        (ROLE, "lane:runners/gpu-gha-rs-manager"),
        (ROLE_BINDING, "lane:runners/gpu-gha-rs-manager"),
        (RUNNER_SET, "lane:runners/gpu"),
    ]
    assert {one.parent for one in objects} == {"urn::lane"}
    assert {one.provider for one in objects} == {"urn::provider::id"}


def test_scale_set_is_rendered_from_its_values(monitor):
    construct(monitor, scale_set(annotations={"a": "b"}, runnerGroup="gpus"))
    found = children(monitor)[RUNNER_SET, "lane:runners/gpu"]
    assert found["metadata"]["labels"]["app.kubernetes.io/version"] == "0.14.2"
    assert found["metadata"]["annotations"]["a"] == "b"
    assert found["spec"]["runnerScaleSetLabels"] == ["gpu"]
    assert found["spec"]["runnerGroup"] == "gpus"
    assert (found["spec"]["minRunners"], found["spec"]["maxRunners"]) == (0, 4)
    pod = found["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == "gpu-gha-rs-no-permission"
    binding = children(monitor)[ROLE_BINDING, "lane:runners/gpu-gha-rs-manager"]
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": "arc-gha-rs-controller", "namespace": "arc-system"}
    ]


def test_changed_value_changes_the_hash_of_the_values(monitor):
    construct(monitor, scale_set(), name="one")
    construct(monitor, scale_set(maxRunners=5), name="two")
    found = children(monitor)
    hashes = {
        found[RUNNER_SET, f"{name}:runners/gpu"]["metadata"]["annotations"][
            "actions.github.com/values-hash"
        ]
        for name in ("one", "two")
    }
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("mode", "containers", "volumes"),
    [
        ("dind", ["init-dind-externals", "dind"], ["dind-sock", "dind-externals", "work"]),
        ("kubernetes", [], ["work"]),
        ("kubernetes-novolume", [], []),
    ],
)
def test_container_mode_adds_to_the_pod(monitor, mode, containers, volumes):
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}
    mode_values = {"type": mode, "kubernetesModeWorkVolumeClaim": claim}
    construct(monitor, scale_set(containerMode=mode_values))
    found = children(monitor)
    pod = found[RUNNER_SET, "lane:runners/gpu"]["spec"]["template"]["spec"]
    assert [one["name"] for one in pod.get("initContainers", [])] == containers
    assert [one["name"] for one in pod.get("volumes", [])] == volumes
    has_hooks = any("HOOKS" in one["name"] for one in pod["containers"][0]["env"])
    assert has_hooks == (mode != "dind")
    assert ((ROLE, "lane:runners/gpu-gha-rs-kube-mode") in found) == (mode != "dind")


def test_credentials_and_certificate_are_rendered(monitor):
    certificate = {"configMapKeyRef": {"name": "ca", "key": "ca.crt"}}
    values = {
        "githubConfigSecret": {"github_token": "t"},
        "githubServerTLS": {"certificateFrom": certificate},
    }
    construct(monitor, scale_set(**values))
    found = children(monitor)
    secret = found[SECRET, "lane:runners/gpu-gha-rs-github-secret"]
    assert secret["stringData"] == {"github_token": "t"}
    made = found[RUNNER_SET, "lane:runners/gpu"]
    assert made["spec"]["githubConfigSecret"] == "gpu-gha-rs-github-secret"
    assert made["spec"]["githubServerTLS"] == {"certificateFrom": certificate}
    role = found[ROLE, "lane:runners/gpu-gha-rs-manager"]
    assert ["configmaps"] in [rule["resources"] for rule in role["rules"]]


@pytest.mark.parametrize(
    ("values", "account"),
    [
        ({"serviceAccount": {"name": "own"}}, "own"),
        ({"serviceAccount": {}}, "gpu-gitlab-runner"),
        ({"serviceAccount": {}, "rbac": {"create": True, "generatedServiceAccountName": "g"}}, "g"),
    ],
    ids=["given", "of the role", "of the role, given"],
)
def test_account_of_a_manager(monitor, values, account):
    construct(monitor, runner(**values))
    pod = children(monitor)[DEPLOYMENT, "lane:ci/gpu-gitlab-runner"]["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == account


def test_optional_values_of_a_manager_are_rendered(monitor):
    values = {
        "certsSecretName": "certs",
        "deploymentAnnotations": {"a": "b"},
        "initContainers": [{"name": "init", "image": "busybox"}],
        "rbac": {"create": True, "clusterWideAccess": True},
        "resources": {"requests": {"cpu": "1"}},
        "securityContext": {"runAsUser": 100},
        "strategy": {"type": "Recreate"},
    }
    construct(monitor, runner(**values))
    found = children(monitor)
    assert (
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
        "lane:gpu-gitlab-runner",
    ) in found
    manager = found[DEPLOYMENT, "lane:ci/gpu-gitlab-runner"]
    assert manager["metadata"]["annotations"] == {"a": "b"}
    assert manager["spec"]["strategy"] == {"type": "Recreate"}
    pod = manager["spec"]["template"]["spec"]
    assert pod["initContainers"] == values["initContainers"]
    assert pod["volumes"][-1]["secret"] == {"secretName": "certs"}
    assert pod["containers"][0]["resources"] == {"requests": {"cpu": "1"}}
    assert pod["containers"][0]["securityContext"] == {"runAsUser": 100}


def test_children_pass_their_checks(monitor):
    construct(monitor, scale_set(containerMode={"type": "dind"}))
    for (token, name), inputs in list(children(monitor).items())[1:]:
        if token in KINDS:
            assert Cluster().check(token, inputs, name) == inputs


def test_release_has_the_name_of_the_component_by_default(monitor):
    inputs = scale_set()
    del inputs["name"]
    construct(monitor, inputs)
    assert (RUNNER_SET, "lane:runners/lane") in children(monitor)


def test_unknown_value_registers_no_child(monitor):
    construct(monitor, scale_set(maxRunners=UNKNOWN))
    assert len(monitor.requests) == 1


def test_chart_without_templates_is_a_warning(monitor):
    world = World()
    inputs = {"chart": "nginx", "repositoryOpts": {"repo": "https://charts.example.org"}}
    construct(monitor, inputs, world=world)
    assert len(monitor.requests) == 1
    assert "cannot render the chart 'nginx'" in world.journal[-1].detail


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"skipHooks": True}, "has no property 'skipHooks'"),
        ({"chart": "gha-runner-scale-set"}, "is in no repository"),
        ({"values": {"githubConfigUrl": "https://github.com/acme"}}, "githubConfigSecret"),
        ({"values": {**scale_set()["values"], "maxRuners": 1}}, "did you mean 'maxRunners'"),
    ],
    ids=["an unknown property", "no repository", "a missing value", "a mistyped value"],
)
def test_construct_refuses(monitor, changes, reason):
    with pytest.raises(Invalid, match=reason):
        construct(monitor, {**scale_set(), **changes})
    assert monitor.requests == []


def test_rendering_without_an_account_needs_one_controller(monitor):
    cluster = Cluster("kubernetes:x")
    with pytest.raises(Refusal, match="0 controllers run in this cluster"):
        construct(monitor, scale_set(controllerServiceAccount=None), world=cluster.world)
    cluster.controller()
    construct(monitor, scale_set(controllerServiceAccount=None), world=cluster.world)
    assert (RUNNER_SET, "lane:runners/gpu") in children(monitor)


# The chart gitlab-runner


def runner(**values):
    inputs = gitlab_inputs()
    return {**inputs, "values": {**inputs["values"], **values}}


def test_runner_with_its_own_account_registers_no_account_and_no_role(monitor):
    account = {"create": False, "name": "own"}
    construct(monitor, runner(rbac={"create": False}, serviceAccount=account))
    assert [(one.type, one.name) for one in monitor.requests[1:]] == [
        (CONFIG_MAP, "lane:ci/gpu-gitlab-runner"),
        (DEPLOYMENT, "lane:ci/gpu-gitlab-runner"),
    ]


def test_runner_registers_what_its_values_ask_for(monitor):
    values = runner()["values"]
    values["runners"] = {"config": values["runners"]["config"]}
    hpa = {"minReplicas": 1, "maxReplicas": 3, "metrics": []}
    construct(monitor, {**runner(), "values": {**values, "runnerToken": "glrt-x", "hpa": hpa}})
    assert [one.type.rpartition(":")[2] for one in monitor.requests[1:]] == [
        *("ServiceAccount", "Secret", "ConfigMap", "Role", "RoleBinding", "Deployment"),
        "HorizontalPodAutoscaler",
    ]
    secret = next(one for one in monitor.requests if one.type == SECRET)
    assert wire.decode(secret.object).secrets == {("stringData",)}


def test_manager_is_rendered_from_its_values(monitor):
    construct(
        monitor,
        runner(
            fullnameOverride="manager",
            podAnnotations={"a": "b"},
            terminationGracePeriodSeconds=7200,
            replicas=0,
            tolerations=[{"operator": "Exists"}],
        ),
    )
    found = children(monitor)[DEPLOYMENT, "lane:ci/manager"]
    pod = found["spec"]["template"]
    assert found["spec"]["replicas"] == 0
    assert found["metadata"]["labels"]["chart"] == "gitlab-runner-0.86.0"
    assert pod["metadata"]["annotations"]["a"] == "b"
    assert pod["spec"]["serviceAccountName"] == "manager"
    assert pod["spec"]["terminationGracePeriodSeconds"] == 7200
    assert pod["spec"]["tolerations"] == [{"operator": "Exists"}]
    (secret,) = [v for v in pod["spec"]["volumes"] if v["name"] == "projected-secrets"]
    assert secret["projected"]["sources"][0]["secret"]["name"] == "runner"


def test_changed_configuration_restarts_the_manager(monitor):
    construct(monitor, runner(concurrent=4), name="one")
    construct(monitor, runner(concurrent=5), name="two")
    found = children(monitor)
    one, two = (found[DEPLOYMENT, f"{name}:ci/gpu-gitlab-runner"] for name in ("one", "two"))
    assert one["spec"]["template"] != two["spec"]["template"]


def test_children_of_a_runner_pass_their_checks(monitor):
    hpa = {"minReplicas": 1, "maxReplicas": 3, "metrics": []}
    construct(monitor, runner(hpa=hpa))
    for (token, name), inputs in list(children(monitor).items())[1:]:
        if token in KINDS:
            assert Cluster().check(token, inputs, name) == inputs


# With the engine


def program():
    """A lane whose chart depends on the controller, with a time-out of an hour for deletions.

    Return the provider.
    """
    import pulumi_kubernetes as kubernetes

    entry = {"name": "c", "cluster": {"server": "https://10.0.0.1"}}
    kubeconfig = {"clusters": [entry], "contexts": [{"name": "c", "context": {"cluster": "c"}}]}
    provider = kubernetes.Provider("c", kubeconfig=json.dumps(kubeconfig))
    inside = pulumi.ResourceOptions(provider=provider)
    system = kubernetes.core.v1.Namespace("s", metadata={"name": "arc-system"}, opts=inside)
    runners = kubernetes.core.v1.Namespace("r", metadata={"name": "runners"}, opts=inside)
    files = [f"file://0.14.2/actions.github.com_{plural}.yaml" for plural in KINDS_BY_PLURAL]
    definitions = kubernetes.yaml.v2.ConfigGroup("definitions", files=files, opts=inside)
    secret = kubernetes.core.v1.Secret(
        "github",
        metadata={"name": "github", "namespace": runners.metadata["name"]},
        string_data={"github_token": "t"},
        opts=inside,
    )
    controller = kubernetes.helm.v3.Release(
        "arc",
        name="arc",
        namespace=system.metadata["name"],
        chart="oci://example.org/gha-runner-scale-set-controller",
        version="0.14.2",
        skip_crds=True,
        opts=pulumi.ResourceOptions(provider=provider, depends_on=[definitions]),
    )

    def patient(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
        added = pulumi.ResourceOptions(custom_timeouts=pulumi.CustomTimeouts(delete="60m"))
        opts = pulumi.ResourceOptions.merge(args.opts, added) if args.custom else args.opts
        return pulumi.ResourceTransformResult(props=args.props, opts=opts)

    inputs = scale_set_inputs()
    kubernetes.helm.v4.Chart(
        "lane",
        name="gpu",
        namespace=runners.metadata["name"],
        chart=inputs["chart"],
        version="0.14.2",
        values=inputs["values"],
        opts=pulumi.ResourceOptions(
            providers={"kubernetes": provider},
            depends_on=[controller, secret],
            transforms=[patient],
        ),
    )
    return provider


def rehearse_tiny(folder, **more):
    (folder / "Pulumi.yaml").write_text("name: tiny\nruntime: python\n")
    (folder / "Pulumi.tiny.yaml").write_text("config: {}\n")
    return rehearse(folder, stack="tiny", program=program, folder=folder / "out", **more)


def reading(name):
    """Return a program that also reads the scale set of that name."""

    def read():
        import pulumi_kubernetes as kubernetes

        found = kubernetes.apiextensions.CustomResource.get(
            "found",
            api_version="actions.github.com/v1alpha1",
            kind="AutoscalingRunnerSet",
            id=f"runners/{name}",
            opts=pulumi.ResourceOptions(provider=program()),
        )
        pulumi.export("set", found.id)

    return read


def test_engine_reads_a_scale_set(tmp_path):
    result = rehearse_tiny(tmp_path, to=reading("gpu"))
    assert result.problems == ()
    (read,) = [one for one in result.state["deployment"]["resources"] if one.get("external")]
    assert read["outputs"]["metadata"]["annotations"][SET_ID].isdigit()
    assert read["outputs"]["status"]["phase"] == "Running"


def test_engine_keeps_a_set_that_did_not_start(tmp_path):
    class Slow(RunnerSet):
        def create(self, call, world):
            id, outputs = super().create(call, world)
            raise Unfinished("injected failure: no listener", id=id, outputs=outputs)

    result = rehearse_tiny(tmp_path, kinds=[Slow()])
    assert "injected failure: no listener" in result.problems[0]
    (found,) = [r for r in result.state["deployment"]["resources"] if r["type"] == RUNNER_SET]
    assert found["initErrors"] == ["injected failure: no listener"]


def test_engine_reads_no_scale_set_that_does_not_exist(tmp_path):
    result = rehearse_tiny(tmp_path, to=reading("other"))
    assert "does not exist" in result.problems[0]


def test_engine_applies_transforms_to_the_children_and_deletes_them_first(tmp_path):
    result = rehearse_tiny(tmp_path)
    assert result.problems == ()
    resources = result.state["deployment"]["resources"]
    (found,) = [one for one in resources if one["type"] == RUNNER_SET]
    assert found["customTimeouts"] == {"delete": 3600}
    assert found["outputs"]["status"]["phase"] == "Running"
    deleted = [one.type for one in result.world.journal if one.action == "deleted"]
    assert deleted.index(RUNNER_SET) < deleted.index(RELEASE) < deleted.index(DEFINITION)
