"""Container images that this program names itself, each at a tag that exists.

References are fully qualified, because OKE's CRI-O refuses short names from Kubernetes 1.34 on.
Tags, not digests: a mirror keeps the tag and may not keep the digest.

Releases of the GitHub runner: days of 2.328.0 to 2.337.0 as GitHub's releases API gave them on
2026-09-29 (UTC), 2.338.0 from a public note; none newer was seen by 2026-10-10. The rule that
retires them: https://github.blog/changelog/2026-06-12-github-actions-minimum-version-enforcement-
timeline-for-self-hosted-runners/ and
https://docs.github.com/en/actions/reference/runners/self-hosted-runners .
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final

from fleet.catalog.image_names import split_reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """One image reference; `current_on` is a day on which a public note calls it the newest."""

    reference: str
    current_on: date | None
    source: str


GITHUB_RUNNER: Final = Image(
    reference="ghcr.io/actions/actions-runner:2.338.0",
    current_on=date(2026, 10, 10),
    source=(
        "newest release by `RUNNER_RELEASES`; GitHub stops giving jobs to a runner 30 days after "
        "the next one, so this pin must follow releases"
    ),
)
DOCKER_IN_DOCKER: Final = Image(
    reference="docker.io/library/docker:29.8.2-dind",
    current_on=date(2026, 10, 1),
    source="in public use beside the runner image above; 29.9.0 was seen too",
)
CUDA_BASE: Final = Image(
    reference="docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04",
    current_on=None,
    source=(
        "tag in wide public use; CUDA 12 runs on every GPU of the catalog with the 580 driver, "
        "CUDA 13 not on P100 and V100"
    ),
)
GENERIC_DEVICE_PLUGIN: Final = Image(
    reference="ghcr.io/squat/generic-device-plugin:0.2.0",
    current_on=None,
    source="tag in public use beside runner images of 2026; that it is the newest is not confirmed",
)

RUNNER_RELEASES: Final[Mapping[str, date]] = MappingProxyType(
    {
        "2.328.0": date(2025, 8, 13),
        "2.329.0": date(2025, 10, 14),
        "2.330.0": date(2025, 11, 19),
        "2.331.0": date(2026, 1, 9),
        "2.332.0": date(2026, 2, 25),
        "2.333.0": date(2026, 3, 18),
        "2.333.1": date(2026, 3, 27),
        "2.334.0": date(2026, 4, 21),
        "2.335.0": date(2026, 6, 8),
        "2.335.1": date(2026, 6, 9),
        "2.336.0": date(2026, 7, 20),
        "2.337.0": date(2026, 8, 26),
        "2.338.0": date(2026, 10, 6),
    }
)
"""Release of the GitHub runner -> its day, the oldest first."""

RUNNER_REGISTRATION_FLOOR: Final = "2.329.0"
"""Older runners cannot register with github.com at all."""

RUNNER_GRACE: Final = timedelta(days=30)
"""How long a runner gets jobs after the release that follows it, patch releases included.

Enforced on github.com for good since 2026-09-25 (GHE.com: 2026-07-31); before that GitHub left 63
days (2.332.0 until 2026-05-20, 2.333.1 until 2026-06-23, 2.334.0 until 2026-08-10). A critical
security release ends it at once. GitHub Enterprise Server brings its own version: not concerned.
"""

_RUNNER_REPOSITORY: Final = "actions/actions-runner"
_RUNNER_TAG: Final = re.compile(r"v?(\d+\.\d+\.\d+)(?:-|$)")


def runner_version(reference: str) -> str | None:
    """Return the runner's version in a `ghcr.io/actions/actions-runner` image or a mirror of it.

    None for any other image, which may hold any runner, and for a tag without a version.
    """
    repository, tag, _ = split_reference(reference)
    if not f"/{repository}".endswith(f"/{_RUNNER_REPOSITORY}"):
        return None
    version = _RUNNER_TAG.match(tag or "")
    return version[1] if version is not None else None


def runner_refused_from(version: str) -> date | None:
    """Return the day from which GitHub gives no jobs to that runner, None while it is the newest.

    Only releases of the table count: a newer one that it lacks brings the day nearer.
    """
    number = _number(version)
    newer = [day for name, day in RUNNER_RELEASES.items() if _number(name) > number]
    return min(newer) + RUNNER_GRACE if newer else None


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
