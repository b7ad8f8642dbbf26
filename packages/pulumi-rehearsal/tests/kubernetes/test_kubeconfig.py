"""The scope of a provider's configuration."""

import json

import pytest
from pulumi_rehearsal.standin.kind import UNKNOWN
from pulumi_rehearsal.standin.kubernetes import scope

TWO = json.dumps(
    {
        "clusters": [
            {"name": "a", "cluster": {"server": "https://a.example.org"}},
            {"name": "b", "cluster": {"server": "https://b.example.org"}},
        ],
        "contexts": [
            {"name": "to-a", "context": {"cluster": "a"}},
            {"name": "to-b", "context": {"cluster": "b"}},
        ],
        "current-context": "to-a",
    }
)


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ({"kubeconfig": TWO}, "kubernetes:https://a.example.org"),
        ({"kubeconfig": TWO, "context": "to-b"}, "kubernetes:https://b.example.org"),
        ({"kubeconfig": UNKNOWN}, "kubernetes:?"),
        ({"kubeconfig": TWO, "context": UNKNOWN}, "kubernetes:?"),
        ({"kubeconfig": "~/.kube/prod", "context": "prod"}, "kubernetes:prod"),
        ({"kubeconfig": "~/.kube/prod"}, "kubernetes:prod"),
        ({"context": "prod"}, "kubernetes:prod"),
        ({}, "kubernetes:current-context"),
    ],
    ids=[
        "the current context",
        "a named context",
        "an unknown kubeconfig",
        "an unknown context",
        "a file and a context",
        "a file",
        "a context",
        "nothing",
    ],
)
def test_scope_of(configuration, expected):
    assert scope(configuration) == expected
