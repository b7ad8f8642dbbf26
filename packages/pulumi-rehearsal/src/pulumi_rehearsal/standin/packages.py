"""The stand-ins that the package brings along.

A rehearsal serves all of them. None imports an SDK before the program uses one of its types.
"""

from __future__ import annotations

from typing import Final

from pulumi_rehearsal.standin import aws, gitlab, kubernetes, oci, random
from pulumi_rehearsal.standin.server import Package

PACKAGES: Final[tuple[Package, ...]] = (
    aws.PACKAGE,
    oci.PACKAGE,
    kubernetes.PACKAGE,
    random.PACKAGE,
    gitlab.PACKAGE,
)
