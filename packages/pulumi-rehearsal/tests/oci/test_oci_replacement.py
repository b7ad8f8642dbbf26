"""Changes that replace a resource: the stand-in's tables compared with the marks in the SDK."""

from __future__ import annotations

import typing
from collections.abc import Iterator

import pytest
from pulumi_rehearsal.standin import difference, schema
from pulumi_rehearsal.standin.kind import Kind
from pulumi_rehearsal.standin.oci import KINDS, tokens

_KINDS = {kind.token: kind for kind in KINDS}

DETAILS = "nodeConfigDetails"

SETTLED_BY_THE_PROVIDER = {
    # oracle/terraform-provider-oci internal/service/containerengine: no ForceNew there.
    (tokens.ADDON, "overrideExisting"): "updates",
    (tokens.ADDON, "removeAddonResourcesOnDelete"): "updates",
    (tokens.CLUSTER, "endpointConfig.isPublicIpEnabled"): "updates",
    (tokens.CLUSTER, "endpointConfig.nsgIds"): "updates",
    (tokens.CLUSTER, "options.addOns.isKubernetesDashboardEnabled"): "updates",
    (tokens.CLUSTER, "options.addOns.isTillerEnabled"): "updates",
    (tokens.NODE_POOL, f"{DETAILS}.nodePoolPodNetworkOptionDetails.cniType"): "replaces",
    # internal/service/core: only a rule's group is ForceNew.
    **{
        (tokens.SECURITY_RULE, path): "updates"
        for path in (
            "description",
            "destination",
            "destinationType",
            "direction",
            "icmpOptions",
            "protocol",
            "source",
            "sourceType",
            "stateless",
            "tcpOptions",
            "udpOptions",
        )
    },
    # Computed in the provider, or part of a list that changes as a whole.
    (tokens.SERVICE_GATEWAY, "services.serviceName"): "updates",
    **{
        (tokens.SECURITY_LIST, f"{side}SecurityRules.{protocol}Options.{end}"): "updates"
        for side in ("egress", "ingress")
        for protocol in ("tcp", "udp")
        for end in ("max", "min")
    },
    # Without a mark, and newer than the source that was read.
    (tokens.CLUSTER, "endpointConfig.securityAttributes"): "may replace",
    (tokens.NODE_POOL, f"{DETAILS}.computeClusterId"): "may replace",
    (tokens.SUBNET, "ipv4cidrBlocks"): "may replace",
    (tokens.VCN, "byoipv6cidrDetails"): "may replace",
    (tokens.VCN, "ipv6privateCidrBlocks"): "may replace",
    (tokens.VCN, "isIpv6enabled"): "may replace",
    (tokens.VCN, "isOracleGuaAllocationEnabled"): "may replace",
}


def leaves(cls: type, prefix: str = "") -> Iterator[tuple[str, bool]]:
    """Yield the leaves of an `*Args` class, and whether their docstrings have the mark."""
    documents = {
        getattr(member.fget, "_pulumi_name", ""): member.fget.__doc__ or ""
        for member in vars(cls).values()
        if isinstance(member, property)
    }
    for name, field in schema.fields(cls).items():
        path = f"{prefix}.{name}" if prefix else name
        inner = list(nested(field.hint))
        if inner:
            yield from leaves(inner[0], path)
        else:
            yield path, documents[name].strip().startswith("(Updatable)")


def nested(hint: object) -> Iterator[type]:
    if isinstance(hint, type) and getattr(hint, "_pulumi_input_type", False):
        yield hint
        return
    for part in typing.get_args(hint):
        yield from nested(part)


def verdict(kind: Kind, path: str) -> str:
    def value(text: str) -> dict:
        return tree(path.split("."), text)

    before, after = value("old"), value("new")
    changed = difference.changes(before, after)
    if difference.unsourced(kind, changed):
        return "may replace"
    answer = difference.answer(kind, "logical", before, after, changed)
    return "replaces" if answer.replaces else "updates"


def tree(parts: list[str], leaf: str) -> dict:
    return {parts[0]: tree(parts[1:], leaf) if parts[1:] else leaf}


def settled(token: str, path: str) -> str | None:
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        found = SETTLED_BY_THE_PROVIDER.get((token, ".".join(parts[:length])))
        if found is not None:
            return found
    return None


@pytest.mark.parametrize("token", sorted(_KINDS))
def test_replacement_follows_the_marks_of_the_sdk(token):
    cls = schema.args_class(token)
    assert cls is not None
    wrong = {}
    for path, updatable in leaves(cls):
        expected = settled(token, path) or ("updates" if updatable else "replaces")
        actual = verdict(_KINDS[token], path)
        # A list that replaces as a whole overrules the marks of its parts.
        if actual != expected and not (updatable and "." in path and actual == "replaces"):
            wrong[path] = f"{actual}, expected {expected}"
    assert wrong == {}


def test_exceptions_are_existing_properties():
    for token, path in SETTLED_BY_THE_PROVIDER:
        cls = schema.args_class(token)
        assert cls is not None
        assert any(leaf == path or leaf.startswith(f"{path}.") for leaf, _ in leaves(cls)), path


def test_replacement_with_a_fixed_name_deletes_first():
    kind = _KINDS[tokens.NODE_POOL]
    fixed, automatic = {"name": "gpu"}, {"name": "gpu-0123456"}
    assert kind.deletes_first("gpu", fixed, fixed)
    assert not kind.deletes_first("gpu", automatic, automatic)
