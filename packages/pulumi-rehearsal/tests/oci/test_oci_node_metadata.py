"""The start-up script and the kubelet's arguments: both present, both the same, both understood."""

from __future__ import annotations

import base64

import pytest
from oci_tenancy import GPU_TAINT, script
from pulumi_rehearsal.standin.oci import node_metadata
from pulumi_rehearsal.standin.oci.oke_nodes import has_taints, taints_of

TWO = "--register-with-taints=nvidia.com/gpu=:NoSchedule,team=ml:NoExecute --max-pods=31"


def reasons(**metadata):
    inputs = {"nodeMetadata": metadata}
    return {path.rpartition(".")[2]: reason for path, reason in node_metadata.problems(inputs)}


def test_the_same_taints_in_both_places_are_fine():
    assert reasons(user_data=script(GPU_TAINT), **{"kubelet-extra-args": GPU_TAINT}) == {}
    assert reasons(user_data=script(TWO), **{"kubelet-extra-args": TWO}) == {}
    assert reasons(user_data=script()) == {}
    assert reasons() == {}


def test_taints_that_only_the_autoscaler_knows_are_invalid():
    found = reasons(**{"kubelet-extra-args": GPU_TAINT})
    assert "is missing" in found["user_data"]
    assert (
        "passes the taints none"
        in reasons(user_data=script(), **{"kubelet-extra-args": GPU_TAINT})["user_data"]
    )


def test_taints_that_only_the_nodes_know_are_invalid():
    assert "tells the autoscaler none" in reasons(user_data=script(GPU_TAINT))["user_data"]


def test_taints_that_differ_are_invalid():
    found = reasons(user_data=script(TWO), **{"kubelet-extra-args": GPU_TAINT})
    assert "nvidia.com/gpu=:NoSchedule: make the two the same" in found["user_data"]


def test_user_data_that_is_no_base64_is_invalid():
    assert "is no base64" in reasons(user_data="#!/bin/bash")["user_data"]


@pytest.mark.parametrize("first", ["# Copyright of somebody", "", " #!/bin/bash"])
def test_a_script_whose_first_bytes_are_no_shebang_is_invalid(first):
    found = reasons(user_data=script(first=first))
    assert "does not begin with '#!'" in found["user_data"]


def test_a_script_that_does_not_start_oke_is_invalid():
    alone = base64.b64encode(b"#!/bin/bash\n/usr/libexec/oci-growfs -y\n").decode()
    assert "the nodes would never join" in reasons(user_data=alone)["user_data"]


def test_too_much_metadata_is_invalid():
    found = reasons(user_data=script("--v=4" * 8000))
    assert "the limit is 32000" in found["nodeMetadata"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--register-with-taints=a=b:NO_SCHEDULE", "'NO_SCHEDULE' is none of"),
        ("--register-with-taints=a b", "is none of NoExecute"),
        ('--register-with-taints="a=b:NoSchedule"', "has quotes around the taints"),
        ("--register-with-taints=a/b/c=:NoSchedule", "is no taint of Kubernetes"),
        ("--taints=a=b:NoSchedule", "not as --register-with-taints"),
    ],
)
def test_taints_that_nobody_understands_are_invalid(arguments, words):
    found = reasons(user_data=script(arguments), **{"kubelet-extra-args": arguments})
    assert words in found["kubelet-extra-args"]


def test_oke_taints_gpu_and_preemptible_nodes_by_itself(fleet):
    placed = fleet.placement(preemptibleNodeConfig={"preemptionAction": {"type": "TERMINATE"}})
    pool = fleet.pool(nodeMetadata=None, nodeConfigDetails=fleet.details(0, placed))
    assert [(taint["key"], taint["value"]) for taint in taints_of(pool)] == [
        ("nvidia.com/gpu", ""),
        ("oci.oraclecloud.com/oke-is-preemptible", "present"),
    ]
    assert has_taints(pool)
    assert not has_taints(fleet.system_pool())


def test_a_taint_that_is_declared_too_is_there_once(fleet):
    pool = fleet.pool(nodeMetadata={"user_data": script(TWO), "kubelet-extra-args": TWO})
    assert [taint["key"] for taint in taints_of(pool)] == ["nvidia.com/gpu", "team"]
