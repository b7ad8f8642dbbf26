"""OCI data sources about the region and OKE: domains, shapes, images, versions, kubeconfig.

Names and values are the stand-in's tables; a rehearsal cannot know what Oracle published.
"""

from __future__ import annotations

import base64

import yaml

from pulumi_rehearsal.standin.kind import Lookup, Properties, Refusal, Resource
from pulumi_rehearsal.standin.oci import images, regions, tokens
from pulumi_rehearsal.standin.oci.addon_keys import ESSENTIAL, VERSIONS
from pulumi_rehearsal.standin.oci.base import CREATED_AT, ocid, region_of
from pulumi_rehearsal.standin.oci.oke_cluster import CNI_TYPES, cluster_of
from pulumi_rehearsal.standin.oci.services import filtered
from pulumi_rehearsal.standin.oci.shapes import SHAPES
from pulumi_rehearsal.standin.properties import mapping, number, objects, text, texts
from pulumi_rehearsal.standin.world import World

ENDPOINTS = {
    "LEGACY_KUBERNETES": "kubernetes",
    "PRIVATE_ENDPOINT": "privateEndpoint",
    "PUBLIC_ENDPOINT": "publicEndpoint",
    "VCN_HOSTNAME": "vcnHostnameEndpoint",
}


class GetAvailabilityDomains(Lookup):
    """The availability domains of a region."""

    token = "oci:Identity/getAvailabilityDomains:getAvailabilityDomains"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """Those that pass the filters."""
        found = [_domain(args, scope, name) for name in _domains(scope)]
        return {
            **_asked(args, "compartmentId", "filters"),
            "availabilityDomains": filtered(found, args),
            "id": "IdentityAvailabilityDomainsDataSource-0",
        }


class GetAvailabilityDomain(Lookup):
    """One availability domain, by number."""

    token = "oci:Identity/getAvailabilityDomain:getAvailabilityDomain"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """The domain. Raises `Refusal` where the region has none of the number."""
        wanted, names = number(args, "adNumber") or 1, _domains(scope)
        if not 1 <= wanted <= len(names):
            raise Refusal(f"{region_of(scope)} has {len(names)} availability domains, no {wanted}")
        return {**_domain(args, scope, names[wanted - 1]), "adNumber": wanted}


class GetShapes(Lookup):
    """The shapes of a region."""

    token = "oci:Core/getShapes:getShapes"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """Those of the name asked for, and that pass the filters."""
        wanted = text(args, "shape")
        found: list[Properties] = [
            {
                "gpuDescription": shape.gpu_model,
                "gpus": shape.gpus,
                "isFlexible": shape.is_flexible,
                "memoryInGbs": shape.memory_gb,
                "name": shape.name,
                "ocpus": shape.ocpus,
            }
            for shape in SHAPES.values()
            if wanted in (None, shape.name)
        ]
        asked = _asked(args, "availabilityDomain", "compartmentId", "filters", "imageId", "shape")
        return {**asked, "id": "CoreShapesDataSource-0", "shapes": filtered(found, args)}


class GetNodePoolOption(Lookup):
    """Images, shapes and versions for node pools."""

    token = "oci:ContainerEngine/getNodePoolOption:getNodePoolOption"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """The options, narrowed by version, processor and operating system where asked."""
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
        asked = _asked(
            args,
            "compartmentId",
            "nodePoolK8sVersion",
            "nodePoolOptionId",
            "nodePoolOsArch",
            "nodePoolOsType",
            "shouldListAllPatchVersions",
        )
        return {
            **asked,
            "id": "ContainerengineNodePoolOptionDataSource-0",
            "images": [image.name for image in found],
            "kubernetesVersions": list(images.VERSIONS),
            "shapes": list(SHAPES),
            "sources": [
                {"imageId": image.id, "sourceName": image.name, "sourceType": "IMAGE"}
                for image in found
            ],
        }


class GetClusterOption(Lookup):
    """Versions for clusters."""

    token = "oci:ContainerEngine/getClusterOption:getClusterOption"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """The versions and kinds of pod network."""
        return {
            **_asked(args, "clusterOptionId", "compartmentId", "shouldListAllPatchVersions"),
            "clusterPodNetworkOptions": [{"cniType": kind} for kind in CNI_TYPES],
            "id": "ContainerengineClusterOptionDataSource-0",
            "kubernetesVersions": list(images.VERSIONS),
        }


class GetClusterKubeConfig(Lookup):
    """How kubectl reaches a cluster."""

    token = "oci:ContainerEngine/getClusterKubeConfig:getClusterKubeConfig"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """YAML with an exec user. Raises `Refusal` where the cluster has no such endpoint."""
        cluster = cluster_of(world, scope, text(args, "clusterId"))
        if cluster is None:
            raise Refusal("reading ClusterKubeConfig: no clusterId given")
        wanted = text(args, "endpoint") or "PUBLIC_ENDPOINT"
        _refuse_unknown("endpoint", wanted, tuple(ENDPOINTS))
        endpoints = objects(cluster.outputs, "endpoints")
        address = text(endpoints[0], ENDPOINTS[wanted]) if endpoints else None
        if not address:
            raise Refusal(
                f"400-InvalidParameter: cluster {cluster.name} has no {wanted}; ask for one that "
                "its endpointConfig gives it"
            )
        _refuse_unknown("tokenVersion", text(args, "tokenVersion"), ("1.0.0", "2.0.0"))
        return {
            **_asked(args, "clusterId", "endpoint", "expiration", "tokenVersion"),
            "content": _kubeconfig(cluster, address, region_of(scope)),
            "id": cluster.id,
        }


class GetAddonOptions(Lookup):
    """The add-ons for one Kubernetes version."""

    token = "oci:ContainerEngine/getAddonOptions:getAddonOptions"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """Names and versions."""
        _refuse_unknown("kubernetesVersion", text(args, "kubernetesVersion"), images.VERSIONS)
        wanted = text(args, "addonName")
        found: list[Properties] = [
            {
                "addonGroup": name,
                "description": name,
                "isEssential": name in ESSENTIAL,
                "name": name,
                "state": "ACTIVE",
                "timeCreated": CREATED_AT,
                "versions": [{"configurations": [], "status": "ACTIVE", "versionNumber": version}],
            }
            for name, version in VERSIONS.items()
            if wanted in (None, name)
        ]
        asked = ("addonName", "filters", "kubernetesVersion", "shouldShowAllVersions")
        return {
            **_asked(args, *asked),
            "addonOptions": filtered(found, args),
            "id": "ContainerengineAddonOptionsDataSource-0",
        }


class GetNodePools(Lookup):
    """The node pools of a compartment or cluster, with their live sizes."""

    token = "oci:ContainerEngine/getNodePools:getNodePools"

    def invoke(self, args: Properties, scope: str, world: World) -> Properties:
        """Those that match; none is no error."""
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
            **_asked(args, "clusterId", "compartmentId", "filters", "name", "states"),
            "id": "ContainerengineNodePoolsDataSource-0",
            "nodePools": filtered(found, args),
        }


def _domains(scope: str) -> tuple[str, ...]:
    return regions.availability_domains(region_of(scope))


def _domain(args: Properties, scope: str, name: str) -> Properties:
    return {
        "compartmentId": text(args, "compartmentId"),
        "id": ocid("availabilitydomain", "", f"{region_of(scope)}/{name}"),
        "name": name,
    }


def _asked(args: Properties, *names: str) -> Properties:
    return {name: args.get(name) for name in names}


def _refuse_unknown(what: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        raise Refusal(f"400-InvalidParameter: {what} {value!r} is none of {', '.join(allowed)}")


def _described(pool: Resource) -> Properties:
    """A pool as the data source gives it: single blocks are lists, two of them renamed."""
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
    """The blocks within blocks are lists as well."""
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
    """As the page ContEng/Tasks/contengdownloadkubeconfigfile.htm of Oracle's documents has it."""
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


LOOKUPS = (
    GetAvailabilityDomains(),
    GetAvailabilityDomain(),
    GetShapes(),
    GetNodePoolOption(),
    GetClusterOption(),
    GetClusterKubeConfig(),
    GetAddonOptions(),
    GetNodePools(),
)
