"""All checks of a stack, in the order in which a person would mend what they find."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from fleet.checks import (
    capacity,
    counts,
    cuda,
    cuda_names,
    existing,
    fits,
    forges,
    gpu_access,
    images,
    labels,
    lanes,
    memory,
    names,
    network,
    oke,
    order,
    owners,
    places,
    preference,
    regions,
    security,
    versions,
    words,
)
from fleet.checks.check import Check
from fleet.checks.view import View
from fleet.findings import Finding

CHECKS: Final[tuple[Check, ...]] = (
    names.node_group_names,
    names.resource_names,
    names.scale_set_names,
    names.namespace_names,
    names.gitlab_tags,
    labels.eks_labels,
    labels.cloud_tags,
    labels.owned_labels,
    network.network_ranges,
    network.overlaps,
    network.addresses,
    network.api_ranges,
    network.private_endpoints,
    preference.preference_conflicts,
    existing.same_cluster_twice,
    existing.sharing_configs,
    fits.job_fits,
    fits.starved,
    memory.shared_memory,
    memory.memory_limits,
    fits.gpu_pools,
    fits.wasted_gpus,
    fits.slices,
    places.system_places,
    places.shared_nodes,
    places.untainted_gpu_pools,
    places.system_room,
    places.paused_pools,
    owners.one_advertiser,
    owners.unknown_drivers,
    cuda.cuda_drivers,
    cuda.cuda_features,
    cuda.cuda_models,
    cuda.cuda_architectures,
    cuda.driver_models,
    cuda.old_drivers,
    cuda_names.unpublished_tags,
    cuda_names.contradicted_cuda,
    cuda_names.unknown_versions,
    versions.operator_kubernetes,
    versions.kubernetes_support,
    versions.arc_versions,
    versions.ami_faults,
    versions.runner_ages,
    capacity.mixed_sizes,
    capacity.spot_fallback,
    capacity.scarce_spot,
    capacity.reservation_types,
    capacity.capacity_blocks,
    capacity.unlisted_preemptible,
    capacity.quota_needs,
    counts.over_commitment,
    counts.stranded,
    counts.shared_pools,
    counts.idle_gpus,
    order.spot_behind,
    order.dear_first,
    order.dear_fallback,
    order.unused_pools,
    lanes.gpu_models,
    lanes.gpu_memory,
    lanes.devices,
    lanes.runtime_classes,
    lanes.managers,
    gpu_access.driver_capabilities,
    gpu_access.docker_gpus,
    gpu_access.hidden_gpus,
    gpu_access.unopened_devices,
    gpu_access.unused_gpu_stacks,
    gpu_access.unused_devices,
    lanes.runner_groups,
    images.unqualified_images,
    images.runner_images,
    images.unpulled_images,
    images.small_image_disks,
    security.privileges,
    security.public_endpoints,
    security.wide_access,
    security.secrets_in_env,
    security.unpinned_images,
    words.same_words,
    words.shared_words,
    words.names_as_labels,
    words.untagged_jobs,
    words.shared_tokens,
    oke.autoscaler_node,
    oke.pool_order,
    regions.unknown_regions,
    regions.other_regions,
    regions.evictions,
    forges.instance_runners,
    forges.kept_at_gitlab,
    forges.hosted_labels,
    forges.model_words,
    forges.plain_http,
)

_REFUSALS: Final = frozenset(
    {"missing", "null", "rule", "secrets", "shape", "silence", "unknown-pool"}
)
"""Rules of findings without a check: the file cannot be used while they are told."""

_ALIKE: Final = 0.8
"""How alike a misspelt identifier is to the one that is meant, from 0 to 1."""

IDENTIFIERS: Final = tuple(dict.fromkeys(check.identifier for check in CHECKS))


def judge(view: View) -> Iterator[Finding]:
    """Every finding about a stack, silenced or not."""
    for check in CHECKS:
        yield from check.findings(view)


def unknown_silences(silenced: Iterable[str]) -> Iterator[Finding]:
    """Rules that the stack file silences and no check has."""
    for key in silenced:
        rule = key.partition("@")[0]
        if rule in IDENTIFIERS:
            continue
        near = get_close_matches(rule, IDENTIFIERS, n=1, cutoff=_ALIKE)
        if rule in _REFUSALS or not near:
            remedy = (
                "remove it: what a file is refused for cannot be silenced, only mended; the rules "
                "that can are those of docs/troubleshooting.md"
            )
        else:
            remedy = f"did you mean {near[0]}? write the one that the finding shows, or remove it"
        yield Finding(
            rule="silence",
            path=f"silence.{key}",
            message=(
                "is no check, but a refusal of the file"
                if rule in _REFUSALS
                else "is the identifier of no check"
            ),
            remedy=remedy,
        )
