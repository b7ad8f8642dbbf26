"""Metadata of nodes: the start-up script and the kubelet's arguments; taints of nodes."""

from __future__ import annotations

import base64

import pytest
from oci_tenancy import GPU_TAINT, script
from pulumi_rehearsal.standin.oci import oke_nodes
from pulumi_rehearsal.standin.oci.oke_nodes import has_taints, taints_of

TWO = "--register-with-taints=nvidia.com/gpu=:NoSchedule,team=ml:NoExecute --max-pods=31"


def reasons(**metadata):
    inputs = {"nodeMetadata": metadata}
    return {path.rpartition(".")[2]: reason for path, reason in oke_nodes.metadata_problems(inputs)}


def test_valid_metadata():
    assert reasons(user_data=script(GPU_TAINT), **{"kubelet-extra-args": GPU_TAINT}) == {}
    assert reasons(user_data=script(TWO), **{"kubelet-extra-args": TWO}) == {}
    assert reasons(user_data=script()) == {}
    assert reasons() == {}


def test_taints_without_a_script_are_invalid():
    found = reasons(**{"kubelet-extra-args": GPU_TAINT})
    assert "is missing" in found["user_data"]
    assert (
        "other taints to the kubelet (none)"
        in reasons(user_data=script(), **{"kubelet-extra-args": GPU_TAINT})["user_data"]
    )


def test_taints_without_kubelet_arguments_are_invalid():
    assert "declares to the autoscaler (none)" in reasons(user_data=script(GPU_TAINT))["user_data"]


def test_different_taints_are_invalid():
    found = reasons(user_data=script(TWO), **{"kubelet-extra-args": GPU_TAINT})
    assert "(nvidia.com/gpu=:NoSchedule): make them the same" in found["user_data"]


def test_user_data_that_is_not_base64_is_invalid():
    assert "is not base64" in reasons(user_data="#!/bin/bash")["user_data"]


@pytest.mark.parametrize("first", ["# Copyright", "", " #!/bin/bash"])
def test_script_without_a_shebang_at_its_beginning_is_invalid(first):
    found = reasons(user_data=script(first=first))
    assert "does not begin with '#!'" in found["user_data"]


def test_script_that_does_not_run_the_start_up_script_of_oke_is_invalid():
    alone = base64.b64encode(b"#!/bin/bash\n/usr/libexec/oci-growfs -y\n").decode()
    assert "the nodes would never join" in reasons(user_data=alone)["user_data"]


def test_metadata_above_the_limit_is_invalid():
    found = reasons(user_data=script("--v=4" * 8000))
    assert "the limit is 32000" in found["nodeMetadata"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--register-with-taints=a=b:NO_SCHEDULE", "'NO_SCHEDULE' is none of"),
        ("--register-with-taints=a b", "is none of NoExecute"),
        ('--register-with-taints="a=b:NoSchedule"', "has quotes around the taints"),
        ("--register-with-taints=a/b/c=:NoSchedule", "is not a valid taint"),
        ("--taints=a=b:NoSchedule", "in another form than --register-with-taints"),
    ],
)
def test_invalid_taints(arguments, message):
    found = reasons(user_data=script(arguments), **{"kubelet-extra-args": arguments})
    assert message in found["kubelet-extra-args"]


def test_oke_adds_taints_to_gpu_and_preemptible_nodes(oke):
    placed = oke.placement(preemptibleNodeConfig={"preemptionAction": {"type": "TERMINATE"}})
    pool = oke.pool(nodeMetadata=None, nodeConfigDetails=oke.details(0, placed))
    assert [(taint["key"], taint["value"]) for taint in taints_of(pool)] == [
        ("nvidia.com/gpu", ""),
        ("oci.oraclecloud.com/oke-is-preemptible", "present"),
    ]
    assert has_taints(pool)
    assert not has_taints(oke.system_pool())


def test_declared_taint_is_not_added_again(oke):
    pool = oke.pool(nodeMetadata={"user_data": script(TWO), "kubelet-extra-args": TWO})
    assert [taint["key"] for taint in taints_of(pool)] == ["nvidia.com/gpu", "team"]
