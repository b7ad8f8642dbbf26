"""The default container images, and the releases of the GitHub runner.

References contain the registry, because OKE's CRI-O refuses short names from Kubernetes 1.34 on.
They have tags and no digests, because a mirror keeps the tag but not always the digest.

Releases of the GitHub runner: days of 2.328.0 to 2.337.0 from GitHub's releases API on 2026-09-29
(UTC), 2.338.0 from a public note; none newer was seen by 2026-10-10.
Support of old runners: https://github.blog/changelog/2026-06-12-github-actions-minimum-version-enforcement-
timeline-for-self-hosted-runners/ and
https://docs.github.com/en/actions/reference/runners/self-hosted-runners .
"""

import re
from collections.abc import Mapping
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final

from fleet.catalog.image_names import split_reference

# The newest release of `RUNNER_RELEASES`. GitHub sends no jobs to a runner 30 days after the next
# release, so this version must follow the releases.
GITHUB_RUNNER: Final = "ghcr.io/actions/actions-runner:2.338.0"

# In public use together with the runner image above; 29.9.0 was seen too.
DOCKER_IN_DOCKER: Final = "docker.io/library/docker:29.8.2-dind"

# In wide public use. CUDA 12 runs on every GPU of the catalog with the 580 driver; CUDA 13 does not
# run on P100 and V100.
CUDA_BASE: Final = "docker.io/nvidia/cuda:12.9.1-base-ubuntu24.04"

# In public use together with runner images of 2026; not confirmed that it is the newest.
GENERIC_DEVICE_PLUGIN: Final = "ghcr.io/squat/generic-device-plugin:0.2.0"

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
"""Release of the GitHub runner -> day of the release, the oldest first."""

RUNNER_GRACE: Final = timedelta(days=30)
"""Period in which a runner gets jobs after the next release, patch releases included.

Enforced on github.com since 2026-09-25 (GHE.com: 2026-07-31). Before, the period was 63 days
(2.332.0 until 2026-05-20, 2.333.1 until 2026-06-23, 2.334.0 until 2026-08-10). A critical security
release ends it immediately. GitHub Enterprise Server has its own runner version and no such rule.
"""

_RUNNER_REPOSITORY: Final = "actions/actions-runner"
_RUNNER_TAG: Final = re.compile(r"v?(\d+\.\d+\.\d+)(?:-|$)")


def runner_version(reference: str) -> str | None:
    """Return the runner version of a `ghcr.io/actions/actions-runner` image or a mirror of it.

    `None` for any other image, whose runner is unknown, and for a tag without a version.
    """
    repository, tag, _ = split_reference(reference)
    if not f"/{repository}".endswith(f"/{_RUNNER_REPOSITORY}"):
        return None
    version = _RUNNER_TAG.match(tag or "")
    return version[1] if version is not None else None


def runner_refused_from(version: str) -> date | None:
    """Return the day from which GitHub sends no jobs to that runner; `None` for the newest runner.

    The table may lack newer releases, which would make the day earlier.
    """
    number = _number(version)
    newer = [day for name, day in RUNNER_RELEASES.items() if _number(name) > number]
    return min(newer) + RUNNER_GRACE if newer else None


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
