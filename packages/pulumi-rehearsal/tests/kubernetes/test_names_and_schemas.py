"""Quantities of Kubernetes, and its schemas by version."""

from decimal import Decimal

import pytest
from pulumi_rehearsal.standin import kubernetes_names as names
from pulumi_rehearsal.standin.kubernetes import manifest
from pulumi_rehearsal.standin.values import UNKNOWN


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1),
        (2, 2),
        ("500m", "0.5"),
        ("1.5", "1.5"),
        ("2Gi", 2 * 1024**3),
        ("2G", 2 * 10**9),
        ("1e3", 1000),
        ("2E", 2 * 10**18),
        ("100k", 100_000),
        ("1Ei", 1024**6),
        ("3u", "0.000003"),
    ],
)
def test_quantity(text, number):
    assert names.quantity(text) == Decimal(number)


@pytest.mark.parametrize("text", ["", "two", "1 Gi", "1KB", "1gi", "--1", True, UNKNOWN, "."])
def test_invalid_quantity(text):
    assert names.quantity(text) is None


def test_schema_is_the_newest_that_is_not_newer_than_the_cluster():
    assert manifest.nearest("1.30") == "1.30"
    assert manifest.nearest("9.99") == manifest.nearest("10.0")
    assert manifest.nearest("1.2") == "1.25", "the oldest packaged version"


def test_unknown_kind_has_no_schema():
    found = manifest.problems({"apiVersion": "v1", "kind": "Nonsense", "metadata": {"name": "x"}})
    assert found == [("kind", "Kubernetes 1.35 has no Nonsense in v1")]
