"""Each rule of the pack: the shipped stacks pass, and a violation is reported."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi_rehearsal import policies

from fleet.catalog.charts import CHARTS, GPU_OPERATOR
from policy import rules
from policy.declared import STACK_FILE, Declared, declared, declared_in
from policy.inputs import UNKNOWN, Resource
from tests import stackfiles, wire
from tests.engine import remembered
from tests.stackfiles import ROOT, STACKS

RELEASE = "kubernetes:helm.sh/v3:Release"
ARC_SCALE_SET, GITLAB_RUNNER = CHARTS["gha-runner-scale-set"], CHARTS["gitlab-runner"]
DEFAULTS = Declared()
TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}


@remembered
def resources(stack: str, known: bool) -> list[Resource]:
    found, error = stackfiles.run(stack, known=known)
    assert error is None, error
    return [
        Resource(type=one.type, name=one.name, inputs=with_unknown(one.inputs))
        for one in found.resources
    ]


def with_unknown(value: Any) -> Any:
    """Replace the wire's marker of unknown values with `UNKNOWN`."""
    if isinstance(value, dict):
        return {key: with_unknown(one) for key, one in value.items()}
    if isinstance(value, list):
        return [with_unknown(one) for one in value]
    return UNKNOWN if value == wire.UNKNOWN else value


def violations(rule: str, resource: Resource, by: Declared = DEFAULTS) -> list[str]:
    return list(rules.RULES[rule](resource, by))


def group(**inputs: Any) -> Resource:
    given = {
        "amiType": "AL2023_x86_64_NVIDIA",
        "instanceTypes": ["g4dn.xlarge"],
        "scalingConfig": {"minSize": 0, "maxSize": 2.0},
        "launchTemplate": {"id": "lt-1"},
        "taints": [TAINT],
    }
    return Resource(type=rules.NODE_GROUP, name="ci-t4", inputs=given | inputs)


def pool(arguments: str | None, script: Any, **inputs: Any) -> Resource:
    metadata: dict[str, Any] = {}
    if arguments is not None:
        metadata["kubelet-extra-args"] = arguments
    if script is not None:
        text = base64.b64encode(script.encode()).decode() if isinstance(script, str) else script
        metadata["user_data"] = text
    given = {
        "nodeShape": "VM.GPU.A10.2",
        "nodeMetadata": metadata,
        "nodeConfigDetails": {"size": 1.0},
    }
    return Resource(type=rules.NODE_POOL, name="ci-a10", inputs=given | inputs)


def template(**inputs: Any) -> Resource:
    given = {
        "metadataOptions": {"httpTokens": "required"},
        "blockDeviceMappings": [{"ebs": {"encrypted": "true"}}],
    }
    return Resource(type=rules.LAUNCH_TEMPLATE, name="ci-t4", inputs=given | inputs)


def release(chart: str, version: Any, values: Any = None, name: str = "ci-gitlab-t4") -> Resource:
    return Resource(
        type=RELEASE,
        name=f"{name}-release",
        inputs={"chart": chart, "version": version, "values": values or {}},
    )


@pytest.mark.parametrize("known", [True, False], ids=["up", "preview"])
@pytest.mark.parametrize("rule", rules.RULES)
@pytest.mark.parametrize("stack", STACKS)
def test_a_shipped_stack_passes(stack: str, rule: str, known: bool) -> None:
    by = declared(stackfiles.body(stack))
    every = resources(stack, known)
    assert known or UNKNOWN in [one.at("launchTemplate", "id") for one in every], (
        "a preview has unknown values"
    )
    violating = {one.name: found for one in every if (found := violations(rule, one, by))}
    assert not violating


@pytest.mark.parametrize("stack", STACKS)
def test_the_ceiling_of_a_shipped_stack_is_its_number_of_gpus(stack: str) -> None:
    by = declared(stackfiles.body(stack))
    settings = json.loads((ROOT / "policy" / f"{stack}.json").read_text())
    ceiling = settings[rules.CEILING]["max_gpus"]
    every = resources(stack, True)
    assert list(rules.gpu_ceiling(every, by, ceiling)) == []
    (violation,) = rules.gpu_ceiling(every, by, ceiling - 1)
    assert f"can grow to {ceiling} GPUs" in violation[1], (
        "another pool needs a reviewed change of the ceiling"
    )


@pytest.mark.parametrize(
    "taints",
    [None, [], [{**TAINT, "key": "dedicated"}], [{**TAINT, "effect": "PREFER_NO_SCHEDULE"}]],
    ids=["absent", "empty", "another key", "a soft effect"],
)
def test_a_gpu_node_group_without_a_hard_taint_is_refused(taints: Any) -> None:
    assert "taints: the pool has GPUs" in violations("gpu-pools-tainted", group(taints=taints))[0]


@pytest.mark.parametrize(
    "inputs",
    [
        {"amiType": "AL2023_x86_64_STANDARD"},
        {"instanceTypes": UNKNOWN},
        {"instanceTypes": ["g99.large"]},
    ],
    ids=["by instance type", "by AMI, types unknown", "by AMI, a type that is not in the catalog"],
)
def test_a_node_group_has_gpus_by_its_ami_or_instance_types(inputs: dict[str, Any]) -> None:
    assert violations("gpu-pools-tainted", group(taints=[], **inputs))


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"taints": UNKNOWN},
        {"taints": [UNKNOWN]},
        {"taints": [{**TAINT, "effect": UNKNOWN}]},
        {"taints": [{**TAINT, "effect": "NO_EXECUTE"}]},
        {"taints": [], "amiType": "AL2023_x86_64_STANDARD", "instanceTypes": ["m6i.large"]},
    ],
    ids=["tainted", "unknown", "an unknown one", "unknown effect", "NoExecute", "no GPUs"],
)
def test_a_tainted_or_unknown_node_group_passes(inputs: dict[str, Any]) -> None:
    assert not violations("gpu-pools-tainted", group(**inputs))


FLAG = "--register-with-taints=nvidia.com/gpu=:NoSchedule"


@pytest.mark.parametrize(
    ("arguments", "script", "path"),
    [
        (None, FLAG, "kubelet-extra-args"),
        (FLAG, None, "user_data"),
        (FLAG, "echo no taint", "user_data"),
        ("--register-with-taints=a=b:NoSchedule", FLAG, "kubelet-extra-args"),
        ("--register-with-taints=nvidia.com/gpu=:PreferNoSchedule", FLAG, "kubelet-extra-args"),
    ],
)
def test_an_oke_gpu_pool_has_its_taint_in_both_places(
    arguments: str | None, script: str | None, path: str
) -> None:
    (violation,) = violations("gpu-pools-tainted", pool(arguments, script))
    assert violation.startswith(f"nodeMetadata.{path}: ")


def test_a_tainted_or_unknown_oke_pool_passes() -> None:
    assert not violations("gpu-pools-tainted", pool(f"--a=b {FLAG},x=y:NoSchedule", f'"{FLAG}"'))
    assert not violations("gpu-pools-tainted", pool(FLAG, UNKNOWN))
    assert not violations("gpu-pools-tainted", pool(None, None, nodeShape="VM.Standard.E5.Flex"))
    assert violations("gpu-pools-tainted", pool(None, None, nodeShape="BM.GPU.NEW.8"))


@pytest.mark.parametrize("options", [None, {}, {"httpTokens": "optional"}])
def test_an_instance_with_imds_v1_is_refused(options: Any) -> None:
    assert violations("imds-v2", template(metadataOptions=options))
    machine = Resource(type=rules.INSTANCE, name="vm", inputs={"metadataOptions": options})
    assert violations("imds-v2", machine)


@pytest.mark.parametrize(
    "options",
    [UNKNOWN, {"httpTokens": "required"}, {"httpTokens": UNKNOWN}, {"httpEndpoint": "disabled"}],
)
def test_an_instance_with_imds_v2_passes(options: Any) -> None:
    assert not violations("imds-v2", template(metadataOptions=options))


def test_a_node_group_without_launch_template_is_refused() -> None:
    without = group(launchTemplate=None)
    assert violations("imds-v2", without)
    assert violations("encrypted-disks", without)
    for launch_template in ({"id": UNKNOWN}, UNKNOWN):
        assert not violations("imds-v2", group(launchTemplate=launch_template))
        assert not violations("encrypted-disks", group(launchTemplate=launch_template))


@pytest.mark.parametrize(
    "mappings",
    [None, [], [{"ebs": {}}], [{"ebs": {"encrypted": "false"}}], [{"ebs": {"encrypted": False}}]],
)
def test_a_template_with_an_unencrypted_disk_is_refused(mappings: Any) -> None:
    assert violations("encrypted-disks", template(blockDeviceMappings=mappings))


@pytest.mark.parametrize(
    "mappings",
    [
        UNKNOWN,
        [UNKNOWN],
        [{"ebs": {"encrypted": True}}],
        [{"ebs": {"encrypted": UNKNOWN}}],
        [{"virtualName": "ephemeral0"}],
    ],
)
def test_a_template_with_encrypted_or_unknown_disks_passes(mappings: Any) -> None:
    assert not violations("encrypted-disks", template(blockDeviceMappings=mappings))


def test_the_disks_of_an_instance_and_a_volume_are_checked() -> None:
    def checked(kind: str, **inputs: Any) -> list[str]:
        return violations("encrypted-disks", Resource(type=kind, name="x", inputs=inputs))

    assert len(checked(rules.INSTANCE, ebsBlockDevices=[{"encrypted": False}])) == 2
    assert not checked(rules.INSTANCE, rootBlockDevice={"encrypted": True})
    assert not checked(rules.INSTANCE, rootBlockDevice=UNKNOWN)
    assert checked(rules.VOLUME, size=10)
    assert not checked(rules.VOLUME, encrypted=True)


@pytest.mark.parametrize(
    "token",
    [
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        "github_pat_11ABCDEFG0abcdefghijkl_0123456789",
        "glpat-abcdefghijklmnopqrst",
        "glrt-t1_abcdefghijklmnopqrst",
        "AKIAIOSFODNN7EXAMPLE",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOY",
    ],
)
def test_a_violation_for_a_token_has_the_path_and_not_the_token(token: str) -> None:
    values = {"env": [{"name": "TOKEN", "value": f"x={token}"}]}
    (violation,) = violations("no-plaintext-tokens", release("chart", "1.0.0", values))
    assert violation.startswith("values.env[0].value: ")
    assert token not in violation


def test_a_token_is_found_wherever_it_is_readable() -> None:
    token = "glpat-abcdefghijklmnopqrst"
    script = base64.b64encode(f"export TOKEN={token}".encode()).decode()
    for kind, inputs in (
        (rules.CONFIG_MAP, {"data": {"config.toml": f'token = "{token}"'}}),
        (rules.LAUNCH_TEMPLATE, {"userData": script}),
        (rules.NODE_POOL, {"nodeMetadata": {"user_data": script}}),
        ("kubernetes:apps/v1:Deployment", {"spec": {"args": [f"--token={token}"]}}),
        (rules.KUBERNETES_SECRET, {"metadata": {"annotations": {"was": token}}}),
    ):
        assert violations("no-plaintext-tokens", Resource(type=kind, name="x", inputs=inputs)), kind


@pytest.mark.parametrize(
    ("kind", "inputs"),
    [
        (rules.KUBERNETES_SECRET, {"stringData": {"runner-token": "glrt-abcdefghijklmnopqrst"}}),
        (rules.KUBERNETES_SECRET, {"data": {"k": "glrt-abcdefghijklmnopqrst"}}),
        ("pulumi:providers:gitlab", {"token": "glpat-abcdefghijklmnopqrst"}),
        (RELEASE, {"values": {"metric": "gha_runner_scale_set_controller_total"}}),
        (RELEASE, {"values": {"secretName": "glrt-token", "text": "xghp_0123456789abcdefghij"}}),
        (RELEASE, {"values": UNKNOWN}),
    ],
)
def test_other_texts_and_tokens_in_secrets_pass(kind: str, inputs: dict[str, Any]) -> None:
    assert not violations("no-plaintext-tokens", Resource(type=kind, name="x", inputs=inputs))


@pytest.mark.parametrize("version", [None, "", "1", "1.2", "~1.2.3", ">=1.0.0", "1.2.x", "latest"])
def test_a_chart_without_an_exact_version_is_refused(version: Any) -> None:
    (violation,) = violations("pinned-charts", release("other-chart", version))
    assert "is not an exact version" in violation


def test_a_chart_of_the_catalog_needs_the_pinned_version() -> None:
    name, pinned = GPU_OPERATOR.name, GPU_OPERATOR.version
    assert not violations("pinned-charts", release(name, pinned))
    (violation,) = violations(
        "pinned-charts", release(f"oci://mirror.example/charts/{name}", "v25.3.0")
    )
    assert f"is pinned to {pinned}" in violation
    assert not violations("pinned-charts", release("other-chart", "1.2.3-rc.1"))
    assert not violations("pinned-charts", release(name, UNKNOWN))
    assert not violations("pinned-charts", Resource(type="a:b:C", name="x", inputs={"chart": name}))


def scale_set(version: str = ARC_SCALE_SET.version, **spec: Any) -> Resource:
    metadata = {"labels": {"helm.sh/chart": f"gha-rs-{version}"}}
    return rendered(rules.SCALE_SET, {"metadata": metadata, "spec": spec})


def rendered(kind: str, inputs: dict[str, Any]) -> Resource:
    """Return an object of the chart of lane x, as the engine names it."""
    return Resource(type=kind, name="ci-github-x-01234:arc-runners/x-01234", inputs=inputs)


def test_the_objects_of_a_lane_show_the_version_of_their_chart() -> None:
    assert not violations("pinned-charts", scale_set())
    (violation,) = violations("pinned-charts", scale_set("0.13.1"))
    assert f"is pinned to {ARC_SCALE_SET.version}" in violation
    manager = {"metadata": {"labels": {"chart": "gitlab-runner-0.13.1"}}}
    assert violations("pinned-charts", rendered("kubernetes:apps/v1:Deployment", manager))
    other = {"metadata": {"labels": {"chart": "their-own-1"}}}
    assert not violations("pinned-charts", rendered("kubernetes:apps/v1:Deployment", other))
    chart = Resource(type="kubernetes:helm.sh/v4:Chart", name="ci-github-x-01234", inputs={})
    assert not violations("pinned-charts", chart), "its inputs never reach a policy"


def test_the_stack_file_can_change_the_version_of_arc_only() -> None:
    body = stackfiles.body("staging")
    body["charts"] = {"arc_version": "0.14.1"}
    by = declared(body)
    assert not violations("pinned-charts", scale_set("0.14.1"), by)
    assert violations("pinned-charts", scale_set(ARC_SCALE_SET.version), by)
    assert violations("pinned-charts", release(GITLAB_RUNNER.chart, "0.14.1"), by)


def privileged_lanes() -> list[Any]:
    runner = {"containers": [{"securityContext": {"privileged": True}}]}
    hook = json.dumps({"spec": runner}, indent=2)
    toml = "[[runners]]\n[runners.kubernetes]\nprivileged = true\n"
    patch = '[[runners]]\npatch = """{\\"securityContext\\": {\\"privileged\\": true}}"""\n'
    return [
        scale_set(template={"spec": runner}),
        Resource(
            type=rules.CONFIG_MAP, name="ci-github-x-job-pod", inputs={"data": {"a.yaml": hook}}
        ),
        rendered(rules.CONFIG_MAP, {"data": {"config.template.toml": toml}}),
        rendered(rules.CONFIG_MAP, {"data": {"config.template.toml": patch}}),
    ]


@pytest.mark.parametrize("resource", privileged_lanes())
def test_a_privileged_lane_must_be_declared(resource: Resource) -> None:
    (violation,) = violations("no-undeclared-privileges", resource)
    assert "but the stack file does not for this lane" in violation
    other = Declared(privileged_lanes=frozenset({"ci-github-other"}))
    assert violations("no-undeclared-privileges", resource, other)
    by = Declared(privileged_lanes=frozenset({"ci-github-x"}))
    assert not violations("no-undeclared-privileges", resource, by)


def test_an_unprivileged_lane_and_the_gpu_stack_pass() -> None:
    plain_toml = "[[runners]]\n[runners.kubernetes]\nprivileged = false\n"
    for resource in (
        rendered(rules.CONFIG_MAP, {"data": {"config.template.toml": plain_toml}}),
        rendered(rules.CONFIG_MAP, {"data": UNKNOWN}),
        scale_set(template=UNKNOWN),
        release(GPU_OPERATOR.chart, "v26.7.0", {"driver": {"privileged": True}}),
    ):
        assert not violations("no-undeclared-privileges", resource), resource


def test_gpus_are_counted_at_the_maximum_of_the_largest_node() -> None:
    mixed = group(instanceTypes=["g4dn.xlarge", "g4dn.12xlarge"])
    by = Declared(pool_maxima={"ci-a10": 3})
    plain = group(amiType="AL2023_x86_64_STANDARD", instanceTypes=["m6i.large"])
    system = Resource(type=rules.NODE_GROUP, name="ci-system", inputs=plain.inputs)
    every = [mixed, pool(FLAG, FLAG), system]
    (violation,) = rules.gpu_ceiling(every, by, 13)
    assert violation[0] == "ci-t4"
    assert "can grow to 14 GPUs, but max_gpus is 13" in violation[1], "2 x 4 cards and 3 x 2"
    assert list(rules.gpu_ceiling(every, by, 14)) == []
    assert list(rules.gpu_ceiling(every, by, None)) == [], "no ceiling"
    assert list(rules.gpu_ceiling([], by, 0)) == []


def test_an_oke_pool_without_declared_maximum_counts_its_size() -> None:
    assert list(rules.gpu_ceiling([pool(FLAG, FLAG)], DEFAULTS, 2)) == []
    assert list(rules.gpu_ceiling([pool(FLAG, FLAG)], DEFAULTS, 1))


@pytest.mark.parametrize(
    "inputs",
    [{"instanceTypes": ["g99.large"]}, {"instanceTypes": []}, {"scalingConfig": UNKNOWN}],
    ids=["not in the catalog", "no type", "unknown size"],
)
def test_an_unknown_number_of_gpus_is_refused_with_a_ceiling(inputs: dict[str, Any]) -> None:
    (violation,) = rules.gpu_ceiling([group(**inputs)], DEFAULTS, 100)
    assert "unknown number of GPUs" in violation[1]


def lanes(cluster: str, forge: str, lane: str, **fields: Any) -> frozenset[str]:
    body = stackfiles.body("prod")
    body["clusters"][cluster][forge]["lanes"][lane].update(fields)
    return declared(body).privileged_lanes


def test_the_shipped_stacks_declare_no_privileged_lane() -> None:
    for stack in stackfiles.STACKS:
        assert declared(stackfiles.body(stack)).privileged_lanes == frozenset()


@pytest.mark.parametrize(
    ("forge", "lane", "fields"),
    [("github", "gpu-a100", {"container_mode": "dind"}), ("gitlab", "a100", {"privileged": True})],
)
def test_a_privileged_lane_is_found_by_its_logical_name(
    forge: str, lane: str, fields: dict[str, Any]
) -> None:
    assert lanes("ci-usw2", forge, lane, **fields) == {f"ci-usw2-{forge}-{lane}"}


def test_the_maximum_size_of_oke_pools_comes_from_the_file() -> None:
    assert declared(stackfiles.body("prod")).pool_maxima == {
        "ci-iad-system": 2,
        "ci-iad-a10": 4,
        "ci-iad-a10-x2": 2,
    }


@pytest.mark.parametrize("data", [None, {}, {"clusters": {"a": {"eks": {}}}}, "text"])
def test_an_invalid_file_has_the_defaults(data: Any) -> None:
    assert declared(data) == Declared()


def test_the_file_is_found_by_the_name_of_the_stack() -> None:
    assert declared_in("prod", {}) == declared(stackfiles.body("prod"))
    assert declared_in("no-such-stack", {}) == Declared()


@pytest.mark.parametrize("text", ["", "config:", "[]"])
def test_a_file_without_the_key_has_the_defaults(text: str, tmp_path: Path) -> None:
    file = tmp_path / "stack.yaml"
    file.write_text(text)
    assert declared_in("prod", {STACK_FILE: str(file)}) == Declared()


def test_a_rehearsal_sets_another_file(tmp_path: Path) -> None:
    file = tmp_path / "stack.yaml"
    file.write_text(yaml.safe_dump({"config": stackfiles.config("staging")}))
    assert declared_in("prod", {policies.STACK_FILE: str(file)}) == declared(
        stackfiles.body("staging")
    )
