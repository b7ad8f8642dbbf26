"""OKE clusters.

Replacement: see base.py. Where the marks of `endpointConfig` and `options` are missing or too
strict, oracle/terraform-provider-oci
internal/service/containerengine/containerengine_cluster_resource.go is used: the endpoint's subnet
replaces, its groups and public address change in place.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from typing import ClassVar, Final

from pulumi_rehearsal.standin.kind import Call, Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import network_rules, tokens
from pulumi_rehearsal.standin.oci.base import CREATED_AT, OciKind, refuse_while_used, region_of
from pulumi_rehearsal.standin.oci.images import VERSIONS
from pulumi_rehearsal.standin.properties import flag, given, lookup, mapping, objects, text, texts
from pulumi_rehearsal.standin.rules import Problem, choice, conflict, must_exist
from pulumi_rehearsal.standin.world import World

ENHANCED: Final = "ENHANCED_CLUSTER"
TYPES: Final = ("BASIC_CLUSTER", ENHANCED)
CNI_TYPES: Final = ("FLANNEL_OVERLAY", "OCI_VCN_IP_NATIVE")
PORT: Final = 6443

SKEW: Final = 3
"""A kubelet may be this many minors older: https://kubernetes.io/releases/version-skew-policy/"""

_TOKEN_AUTHENTICATION: Final = "options.openIdConnectTokenAuthenticationConfig"
_ADDRESSES: Final = ipaddress.IPv4Network("198.18.0.0/15")
"""Public endpoints: the block for benchmarks (RFC 2544)."""


class Cluster(OciKind):
    """A cluster's control plane."""

    token = tokens.CLUSTER
    id_type = "cluster"
    autonamed = "name"
    state = "ACTIVE"
    computed: ClassVar[frozenset[str]] = frozenset(
        {
            "availableKubernetesUpgrades",
            "endpoints",
            "lifecycleDetails",
            "metadatas",
            "openIdConnectDiscoveryEndpoint",
            "openIdConnectDiscoveryKey",
            "state",
        }
    )
    recomputed: ClassVar[frozenset[str]] = frozenset({"availableKubernetesUpgrades"})
    replaced_on: ClassVar[frozenset[str]] = frozenset(
        {
            "clusterPodNetworkOptions",
            "compartmentId",
            "endpointConfig.subnetId",
            "kmsKeyId",
            "options.ipFamilies",
            "options.kubernetesNetworkConfig",
            "options.serviceLbSubnetIds",
            "vcnId",
        }
    )
    # The provider's source that was read is older than endpointConfig.securityAttributes.
    updated_on: ClassVar[frozenset[str]] = frozenset(
        {
            "definedTags",
            "endpointConfig.isPublicIpEnabled",
            "endpointConfig.nsgIds",
            "freeformTags",
            "imagePolicyConfig",
            "kubernetesVersion",
            "name",
            "options.addOns",
            "options.admissionControllerOptions",
            "options.openIdConnectDiscovery",
            "options.openIdConnectTokenAuthenticationConfig",
            "options.persistentVolumeConfig",
            "options.serviceLbConfig",
            "type",
        }
    )

    def problems(self, inputs: Properties) -> Iterator[Problem]:
        yield from version_problems(inputs)
        yield from choice(inputs, "type", TYPES)
        for index, options in enumerate(objects(inputs, "clusterPodNetworkOptions")):
            for path, reason in choice(options, "cniType", CNI_TYPES):
                yield f"clusterPodNetworkOptions[{index}].{path}", reason
        yield from _network_problems(inputs)
        for path in ("caCertificate", "clientId", "issuerUrl", "usernameClaim"):
            here = f"{_TOKEN_AUTHENTICATION}.{path}"
            yield from conflict(inputs, f"{_TOKEN_AUTHENTICATION}.configurationFile", here)

    def refuse(self, call: Call, old: Resource | None, world: World) -> None:
        inputs = call.inputs
        _refuse_version(text(inputs, "kubernetesVersion"), old)
        vcn_id = text(inputs, "vcnId")
        network_rules.vcn(world, call.scope, vcn_id)
        balancers = texts(inputs, "options.serviceLbSubnetIds")
        found = [network_rules.subnet(world, call.scope, one) for one in balancers]
        network_rules.refuse_foreign(_known(found), vcn_id, f"cluster {call.name}")
        self._refuse_endpoint(call, vcn_id, world)
        if (text(inputs, "type") or "BASIC_CLUSTER") != ENHANCED:
            _refuse_enhanced_features(inputs, old)
        if old is not None:
            _refuse_skew(world, old, text(inputs, "kubernetesVersion"))

    def compute(self, call: Call, id: str, world: World) -> Properties:
        inputs = call.inputs
        version = text(inputs, "kubernetesVersion") or ""
        discovery = flag(inputs, "options.openIdConnectDiscovery.isOpenIdConnectDiscoveryEnabled")
        digits = world.fresh_hex(call.urn, 32)
        region = region_of(call.scope)
        issuer = f"https://objectstorage.{region}.oraclecloud.com/n/rehearsal/b/oidc/o/{digits}"
        return {
            "availableKubernetesUpgrades": list(_upgrades(version)),
            "endpoints": [self._endpoints(call, world)],
            "lifecycleDetails": "",
            "metadatas": [{"timeCreated": CREATED_AT}],
            "openIdConnectDiscoveryEndpoint": issuer if discovery else "",
            "openIdConnectDiscoveryKey": digits[:16] if discovery else "",
            "type": text(inputs, "type") or "BASIC_CLUSTER",
        }

    def update(self, call: Call, old: Resource, world: World) -> Properties:
        outputs = super().update(call, old, world)
        version = text(call.inputs, "kubernetesVersion") or ""
        return {**outputs, "availableKubernetesUpgrades": list(_upgrades(version))}

    def delete(self, old: Resource, world: World) -> None:
        # OKE would delete the pools too, and Pulumi's own delete of them would then fail.
        pools = world.where(tokens.NODE_POOL, old.scope, clusterId=old.id)
        refuse_while_used(old, pools, "delete the node pools first: make them refer to the cluster")
        for addon in world.where(tokens.ADDON, old.scope, clusterId=old.id):
            if not addon.urn:
                world.remove(addon)

    def _endpoints(self, call: Call, world: World) -> Properties:
        inputs = call.inputs
        subnet_id = text(inputs, "endpointConfig.subnetId")
        subnet = world.get(subnet_id or "", tokens.SUBNET, call.scope)
        number = int(world.fresh_hex(call.urn, 8), 16)
        block = ipaddress.IPv4Network(
            (text(subnet.outputs, "cidrBlock") if subnet else None) or "10.0.0.0/28"
        )
        private = _free_address(world, block, number)
        public = _free_address(world, _ADDRESSES, number)
        is_public = flag(inputs, "endpointConfig.isPublicIpEnabled") or False
        domain = text(subnet.outputs, "subnetDomainName") if subnet else None
        return {
            "ipv6endpoint": "",
            "kubernetes": "" if subnet_id else f"{public}:{PORT}",
            "privateEndpoint": f"{private}:{PORT}" if subnet_id else "",
            "publicEndpoint": f"{public}:{PORT}" if is_public else "",
            "vcnHostnameEndpoint": f"c{call.hex(10)}.{domain}:{PORT}" if domain else "",
        }

    def _refuse_endpoint(self, call: Call, vcn_id: str | None, world: World) -> None:
        inputs = call.inputs
        subnet = network_rules.subnet(world, call.scope, text(inputs, "endpointConfig.subnetId"))
        found = network_rules.groups(world, call.scope, texts(inputs, "endpointConfig.nsgIds"))
        own = _known([subnet, *found])
        network_rules.refuse_foreign(own, vcn_id, f"the endpoint of cluster {call.name}")
        if subnet is None:
            return
        if not flag(inputs, "endpointConfig.isPublicIpEnabled"):
            if not network_rules.rules_of(world, subnet):
                raise Refusal(
                    f"endpoint subnet {subnet.name} has no route: the control plane cannot reach "
                    "Oracle's services; give it a route table with a NAT or service gateway"
                )
            return
        if flag(subnet.outputs, "prohibitPublicIpOnVnic"):
            raise Refusal(
                f"400-InvalidParameter: the endpoint of cluster {call.name} has isPublicIpEnabled, "
                f"but subnet {subnet.name} allows no public address (prohibitPublicIpOnVnic): "
                "take a public subnet, or leave isPublicIpEnabled out"
            )
        if not network_rules.has_route(world, subnet, "internetgateway"):
            raise Refusal(
                f"endpoint subnet {subnet.name} has no route to an internet gateway: the cluster's "
                "public endpoint cannot be reached; give the subnet a route table with one"
            )


def cluster_of(world: World, scope: str, cluster_id: str | None) -> Resource | None:
    """Return the cluster; `None` if the id is unknown. Raise `Refusal` if it does not exist."""
    return must_exist(world, tokens.CLUSTER, cluster_id, scope, OciKind.error)


def is_enhanced(cluster: Resource) -> bool:
    """Whether the cluster has the type that add-ons, workload identity and cycling require."""
    return text(cluster.outputs, "type") == ENHANCED


def minor(version: str | None) -> int | None:
    """Return the minor of `v1.<minor>.<patch>`."""
    found = re.match(r"v1\.(\d+)\.", version or "")
    return int(found.group(1)) if found else None


def version_problems(inputs: Properties) -> Iterator[Problem]:
    """Check the form of the Kubernetes version."""
    version = text(inputs, "kubernetesVersion")
    if version is not None and not re.fullmatch(r"v1\.\d+\.\d+", version):
        yield "kubernetesVersion", f"{version!r} must have the form {VERSIONS[-1]}"


def refuse_unoffered(version: str | None) -> None:
    """Raise `Refusal` for a version that OKE does not offer."""
    if version is not None and version not in VERSIONS:
        raise Refusal(
            f"400-InvalidParameter: OKE does not offer Kubernetes {version}; it offers "
            f"{', '.join(VERSIONS)}"
        )


def _upgrades(version: str) -> Iterable[str]:
    current = minor(version) or 0
    return (one for one in VERSIONS if current < (minor(one) or 0) <= current + 1)


def _free_address(world: World, block: ipaddress.IPv4Network, number: int) -> str:
    """Return an address that no other cluster has: an endpoint identifies its cluster."""
    taken = {
        address
        for cluster in world.all(tokens.CLUSTER)
        for endpoint in objects(cluster.outputs, "endpoints")
        for address in endpoint.values()
    }
    # OCI reserves the first two addresses of a subnet and the last one.
    count = block.num_addresses - 3
    candidates = (str(block[2 + (number + step) % count]) for step in range(min(count, 256)))
    return next((one for one in candidates if f"{one}:{PORT}" not in taken), str(block[2]))


def _known(found: Iterable[Resource | None]) -> list[Resource]:
    return [resource for resource in found if resource is not None]


def _network_problems(inputs: Properties) -> Iterator[Problem]:
    blocks: dict[str, ipaddress.IPv4Network] = {}
    for name in ("podsCidr", "servicesCidr"):
        path = f"options.kubernetesNetworkConfig.{name}"
        value = text(inputs, path)
        if value is None:
            continue
        try:
            blocks[path] = ipaddress.IPv4Network(value)
        except ValueError as error:
            yield path, f"{value!r} is not an IPv4 network: {error}"
    if len(blocks) == 2:
        first, second = blocks
        if blocks[first].overlaps(blocks[second]):
            yield second, "overlaps podsCidr: pods and services need separate blocks"


def _refuse_version(version: str | None, old: Resource | None) -> None:
    before = text(old.outputs, "kubernetesVersion") if old else None
    if version == before:
        return
    refuse_unoffered(version)
    earlier, later = minor(before), minor(version)
    if earlier is None or later is None:
        return
    if later < earlier:
        raise Refusal(
            f"400-InvalidParameter: a control plane cannot be downgraded from {before} to "
            f"{version}; keep the version or create another cluster"
        )
    if later > earlier + 1:
        raise Refusal(
            f"400-InvalidParameter: a control plane is upgraded one minor at a time, so not from "
            f"{before} to {version}; apply {', '.join(_upgrades(before or ''))} first"
        )


def _refuse_enhanced_features(inputs: Properties, old: Resource | None) -> None:
    """Raise `Refusal` for a feature of enhanced clusters in a basic one.

    https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengcomparingenhancedwithbasicclusters_topic.htm
    """
    if old is not None and text(old.outputs, "type") == ENHANCED:
        raise Refusal(
            "400-InvalidParameter: an enhanced cluster cannot become a basic one; keep type "
            f"{ENHANCED}"
        )
    for path in (_TOKEN_AUTHENTICATION, "options.openIdConnectDiscovery"):
        if given(inputs, path) and any(mapping(inputs, path).values()):
            raise Refusal(
                f"400-InvalidParameter: {path} requires an enhanced cluster; set type to {ENHANCED}"
            )


def _refuse_skew(world: World, old: Resource, version: str | None) -> None:
    after = minor(version)
    for pool in world.where(tokens.NODE_POOL, old.scope, clusterId=old.id):
        kubelet = minor(text(pool.outputs, "kubernetesVersion"))
        if after is not None and kubelet is not None and after - kubelet > SKEW:
            raise Refusal(
                f"400-InvalidParameter: node pool {pool.name} runs 1.{kubelet}, more than {SKEW} "
                f"minors older than {version}; upgrade its nodes first"
            )


def cni_of(cluster: Resource) -> str:
    """Return the type of the cluster's pod network."""
    options = lookup(cluster.inputs, "clusterPodNetworkOptions")
    found = objects({"options": options}, "options")
    return (text(found[0], "cniType") if found else None) or "FLANNEL_OVERLAY"


KINDS = (Cluster(),)
