"""OCI data sources: services of a region, options for node pools, kubeconfig, node pools.

Images and versions come from the stand-in's own tables.
"""

from __future__ import annotations

import base64
import re

import yaml

from pulumi_rehearsal.standin.kind import Lookup, Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import gateways, images, tokens
from pulumi_rehearsal.standin.oci.base import region_of
from pulumi_rehearsal.standin.oci.oke_cluster import cluster_of
from pulumi_rehearsal.standin.oci.shapes import SHAPES
from pulumi_rehearsal.standin.properties import flag, mapping, objects, text, texts
from pulumi_rehearsal.standin.world import World

ENDPOINTS = {
    "LEGACY_KUBERNETES": "kubernetes",
    "PRIVATE_ENDPOINT": "privateEndpoint",
    "PUBLIC_ENDPOINT": "publicEndpoint",
    "VCN_HOSTNAME": "vcnHostnameEndpoint",
}


class GetServices(Lookup):
    """The services that a service gateway can lead to."""

    token = "oci:Core/getServices:getServices"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        found: list[Properties] = [
            {
                "cidrBlock": one.cidr_block,
                "description": one.name,
                "id": one.id,
                "name": one.name,
            }
            for one in gateways.services_of(region_of(scope))
        ]
        return {
            "filters": args.get("filters"),
            "id": "CoreServicesDataSource-0",
            "services": _filtered(found, args),
        }


class GetNodePoolOption(Lookup):
    """Images, shapes and versions for node pools."""

    token = "oci:ContainerEngine/getNodePoolOption:getNodePoolOption"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        option = text(args, "nodePoolOptionId") or "all"
        if option != "all":
            cluster_of(world, scope, option)
        version = text(args, "nodePoolK8sVersion")
        processor, system = text(args, "nodePoolOsArch"), text(args, "nodePoolOsType")
        _refuse_unknown("nodePoolOsArch", processor, ("AARCH64", "X86_64"))
        _refuse_unknown("nodePoolOsType", system, ("OL7", "OL8", "OL9", "UBUNTU"))
        found = [
            image
            for image in images.of_region(region_of(scope))
            if (version is None or image.version in (None, f"v{version.removeprefix('v')}"))
            and (processor is None or image.is_arm == (processor == "AARCH64"))
            and (system is None or system == f"OL{image.release.partition('.')[0]}")
        ]
        echoed = _echoed(
            args,
            "compartmentId",
            "nodePoolK8sVersion",
            "nodePoolOptionId",
            "nodePoolOsArch",
            "nodePoolOsType",
            "shouldListAllPatchVersions",
        )
        return {
            **echoed,
            "id": "ContainerengineNodePoolOptionDataSource-0",
            "images": [image.name for image in found],
            "kubernetesVersions": list(images.VERSIONS),
            "shapes": list(SHAPES),
            "sources": [
                {"imageId": image.id, "sourceName": image.name, "sourceType": "IMAGE"}
                for image in found
            ],
        }


class GetClusterKubeConfig(Lookup):
    """The kubeconfig of a cluster."""

    token = "oci:ContainerEngine/getClusterKubeConfig:getClusterKubeConfig"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        cluster = cluster_of(world, scope, text(args, "clusterId"))
        if cluster is None:
            raise Refusal("reading ClusterKubeConfig: clusterId is missing")
        wanted = text(args, "endpoint") or "PUBLIC_ENDPOINT"
        _refuse_unknown("endpoint", wanted, tuple(ENDPOINTS))
        endpoints = objects(cluster.outputs, "endpoints")
        address = text(endpoints[0], ENDPOINTS[wanted]) if endpoints else None
        if not address:
            raise Refusal(
                f"400-InvalidParameter: cluster {cluster.name} has no {wanted}; name an "
                "endpoint that its endpointConfig creates"
            )
        _refuse_unknown("tokenVersion", text(args, "tokenVersion"), ("1.0.0", "2.0.0"))
        return {
            **_echoed(args, "clusterId", "endpoint", "expiration", "tokenVersion"),
            "content": _kubeconfig(cluster, address, region_of(scope)),
            "id": cluster.id,
        }


class GetNodePools(Lookup):
    """The node pools of a compartment or cluster, with their live sizes."""

    token = "oci:ContainerEngine/getNodePools:getNodePools"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        found = [
            _described(pool)
            for pool in world.all(tokens.NODE_POOL, scope)
            if all(
                text(args, path) in (None, text(pool.outputs, path))
                for path in ("clusterId", "compartmentId", "name")
            )
            and (not texts(args, "states") or "ACTIVE" in texts(args, "states"))
        ]
        return {
            **_echoed(args, "clusterId", "compartmentId", "filters", "name", "states"),
            "id": "ContainerengineNodePoolsDataSource-0",
            "nodePools": _filtered(found, args),
        }


def _echoed(args: Properties, *names: str) -> Properties:
    return {name: args.get(name) for name in names}


def _refuse_unknown(what: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        raise Refusal(f"400-InvalidParameter: {what} {value!r} is none of {', '.join(allowed)}")


def _described(pool: Resource) -> Properties:
    """Return a pool in the form of the data source: blocks are lists, and two have other names."""
    described = {**pool.outputs, "id": pool.id, "nodePoolId": pool.id}
    for name, plural in (
        ("nodeEvictionNodePoolSettings", "nodeEvictionNodePoolSettings"),
        ("nodePoolCyclingDetails", "nodePoolCyclingDetails"),
        ("nodeShapeConfig", "nodeShapeConfigs"),
        ("nodeSourceDetails", "nodeSourceDetails"),
    ):
        block = mapping(pool.outputs, name)
        described.pop(name, None)
        described[plural] = [block] if block else []
    details = mapping(pool.outputs, "nodeConfigDetails")
    described["nodeConfigDetails"] = [_described_details(details)] if details else []
    return described


def _described_details(details: Properties) -> Properties:
    """Return the form of `nodeConfigDetails`, whose blocks are lists too."""
    network = mapping(details, "nodePoolPodNetworkOptionDetails")
    return {
        **details,
        "nodePoolPodNetworkOptionDetails": [network] if network else [],
        "placementConfigs": [
            _described_placement(one) for one in objects(details, "placementConfigs")
        ],
    }


def _described_placement(placement: Properties) -> Properties:
    described = {**placement}
    preemptible = mapping(placement, "preemptibleNodeConfig")
    described.pop("preemptibleNodeConfig", None)
    action = mapping(preemptible, "preemptionAction")
    described["preemptibleNodeConfigs"] = [{"preemptionActions": [action]}] if preemptible else []
    return described


def _kubeconfig(cluster: Resource, address: str, region: str) -> str:
    """Return a kubeconfig in YAML, whose user is an exec credential plugin.

    https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengdownloadkubeconfigfile.htm
    """
    short = cluster.id[-11:]
    certificate = (
        f"-----BEGIN CERTIFICATE-----\nrehearsal {cluster.id}\n-----END CERTIFICATE-----\n"
    )
    token = ["ce", "cluster", "generate-token", "--cluster-id", cluster.id, "--region", region]
    execute = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "args": token,
        "command": "oci",
        "env": [],
    }
    document = {
        "apiVersion": "v1",
        "kind": "",
        "clusters": [
            {
                "name": f"cluster-{short}",
                "cluster": {
                    "server": f"https://{address}",
                    "certificate-authority-data": base64.b64encode(certificate.encode()).decode(),
                },
            }
        ],
        "contexts": [
            {
                "name": f"context-{short}",
                "context": {"cluster": f"cluster-{short}", "user": f"user-{short}"},
            }
        ],
        "current-context": f"context-{short}",
        "users": [{"name": f"user-{short}", "user": {"exec": execute}}],
    }
    return yaml.safe_dump(document, sort_keys=False)


def _filtered(found: list[Properties], args: Properties) -> list[Properties]:
    """Apply the provider's `filters`, by value or by regular expression."""
    for one in objects(args, "filters"):
        name, values = text(one, "name") or "", texts(one, "values")
        if flag(one, "regex"):
            found = [
                item
                for item in found
                if any(re.search(value, str(item.get(name))) for value in values)
            ]
        else:
            found = [item for item in found if str(item.get(name)) in values]
    return found


LOOKUPS = (GetServices(), GetNodePoolOption(), GetClusterKubeConfig(), GetNodePools())
