"""The stand-ins that a rehearsal serves, one package each.

A program that uses only some leaves the others unasked, and their SDKs unimported.
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
