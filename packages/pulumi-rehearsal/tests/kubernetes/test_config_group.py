"""ConfigGroup: the provider registers one child for each object through the engine's monitor."""

import pytest
from kubernetes_cluster import KINDS
from pulumi.runtime.proto import provider_pb2
from pulumi_rehearsal.standin import wire
from pulumi_rehearsal.standin.kind import UNKNOWN, Call, Invalid, Refusal
from pulumi_rehearsal.standin.kubernetes.arc import KINDS_BY_PLURAL
from pulumi_rehearsal.standin.kubernetes.config_group import ConfigGroup
from pulumi_rehearsal.standin.world import World

CRDS = (
    "https://raw.githubusercontent.com/actions/actions-runner-controller/"
    "gha-runner-scale-set-{}/charts/gha-runner-scale-set-controller/crds/actions.github.com_{}.yaml"
)
MANIFEST = """
apiVersion: v1
kind: ConfigMap
metadata: {name: hooks, namespace: ci}
---
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: token}, stringData: {k: v}}
"""

DEFINITIONS = tuple(KINDS_BY_PLURAL)


def construct(monitor, inputs, name="crds"):
    request = provider_pb2.ConstructRequest(
        type="kubernetes:yaml/v2:ConfigGroup",
        name=name,
        parent="urn::parent",
        monitorEndpoint=monitor.endpoint,
        providers={"kubernetes": "urn::provider::id"},
        protect=True,
        inputs=wire.encode(inputs),
    )
    return ConfigGroup().construct(request, "kubernetes:x", World())


def test_address_of_a_definition_of_arc_registers_it(monitor):
    files = [CRDS.format("0.14.2", plural) for plural in DEFINITIONS]
    response = construct(monitor, {"files": files})
    group, *children = monitor.requests
    assert (group.type, group.custom, group.parent) == (
        "kubernetes:yaml/v2:ConfigGroup",
        False,
        "urn::parent",
    )
    assert [child.name for child in children] == [
        f"crds:{p}.actions.github.com" for p in DEFINITIONS
    ]
    assert {child.type for child in children} == {
        "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
    }
    assert {child.parent for child in children} == {"urn::crds"}
    assert {child.provider for child in children} == {"urn::provider::id"}
    assert {child.protect for child in children} == {True}
    assert response.urn == "urn::crds"
    assert len(wire.decode(response.state).properties["resources"]) == 4


def test_invented_definitions_pass_their_check(monitor):
    construct(monitor, {"files": [CRDS.format("0.14.2", plural) for plural in DEFINITIONS]})
    for child in monitor.requests[1:]:
        inputs = wire.decode(child.object).properties
        call = Call(urn="u", type=child.type, name=child.name, inputs=inputs, scope="kubernetes:x")
        assert KINDS[child.type].check(call, None) == inputs


def test_another_chart_version_changes_the_definition(monitor):
    for version in ("0.14.2", "0.15.0"):
        construct(monitor, {"files": [CRDS.format(version, DEFINITIONS[0])]})
    old, new = (wire.decode(request.object).properties for request in monitor.requests[1::2])
    assert old["metadata"]["annotations"] != new["metadata"]["annotations"]
    assert old["spec"] == new["spec"]


def test_file_on_disk_is_read(monitor, tmp_path):
    (tmp_path / "a.yaml").write_text(MANIFEST)
    construct(monitor, {"files": [str(tmp_path / "*.yaml")], "resourcePrefix": "x"})
    assert [request.name for request in monitor.requests[1:]] == ["x:ci/hooks", "x:token"]


def test_data_of_a_secret_is_sent_as_secret(monitor):
    construct(monitor, {"yaml": MANIFEST})
    secret = next(r for r in monitor.requests if r.type == "kubernetes:core/v1:Secret")
    assert wire.decode(secret.object).secrets == {("stringData",)}


def test_skip_await_annotates_each_object(monitor):
    construct(monitor, {"yaml": MANIFEST, "skipAwait": True})
    for request in monitor.requests[1:]:
        metadata = wire.decode(request.object).properties["metadata"]
        assert metadata["annotations"] == {"pulumi.com/skipAwait": "true"}


def test_list_of_objects_is_registered(monitor):
    construct(
        monitor, {"objs": [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}]}
    )
    assert monitor.requests[1].type == "kubernetes:core/v1:Namespace"


def test_unknown_inputs_register_only_the_group(monitor):
    response = construct(monitor, {"files": UNKNOWN})
    assert len(monitor.requests) == 1
    assert wire.decode(response.state).properties["resources"] is UNKNOWN


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({"files": ["https://example.org/other.yaml"]}, "a rehearsal downloads nothing"),
        ({"files": ["/nowhere/at/all.yaml"]}, "cannot be read"),
        ({"yaml": "kind: ConfigMap\nmetadata: {name: x}"}, "require a kind and apiVersion"),
        ({"yaml": "apiVersion: v1\nkind: ConfigMap"}, "require a .metadata.name"),
    ],
    ids=["an unknown address", "a missing file", "no apiVersion", "no name"],
)
def test_construct_refuses(monitor, inputs, reason):
    with pytest.raises(Refusal, match=reason):
        construct(monitor, inputs)


def test_construct_refuses_a_file_that_is_not_yaml(monitor, tmp_path):
    (tmp_path / "a.yaml").write_text("a: [")
    with pytest.raises(Refusal, match="is not YAML"):
        construct(monitor, {"files": [str(tmp_path / "a.yaml")]})


def test_construct_refuses_an_unknown_property(monitor):
    with pytest.raises(Invalid, match="has no property 'file'"):
        construct(monitor, {"file": "x"})


def test_construct_reports_a_failed_registration(monitor):
    with pytest.raises(Refusal, match="accepts no more resources"):
        construct(monitor, {"files": []}, name="refused")
