"""EKS add-ons: what stays DEGRADED in the cloud is refused here."""

from __future__ import annotations

import json

import pytest
from pulumi_rehearsal.standin.aws import set_desired_size, tokens
from pulumi_rehearsal.standin.kind import Invalid, Refusal

DEPLOYED = ("coredns", "metrics-server")
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}
POD_ACTIONS = ("sts:AssumeRole", "sts:TagSession")


def ebs_role(fleet, *policies):
    return fleet.role("ebs", "pods.eks.amazonaws.com", *policies, actions=POD_ACTIONS)


def ebs(fleet, role):
    association = {"roleArn": role.outputs["arn"], "serviceAccount": "ebs-csi-controller-sa"}
    return fleet.addon("aws-ebs-csi-driver", podIdentityAssociations=[association])


@pytest.mark.parametrize("name", DEPLOYED)
def test_an_add_on_with_a_deployment_before_any_node_is_refused(fleet, name):
    with pytest.raises(Refusal, match="stays DEGRADED 20 minutes"):
        fleet.addon(name)
    fleet.system_pool()
    assert fleet.addon(name).id == f"ci:{name}"


def test_a_node_group_without_nodes_is_no_place_for_coredns(fleet):
    fleet.pool(sizes=(0, 0, 4))
    with pytest.raises(Refusal, match="stays DEGRADED"):
        fleet.addon("coredns")


def test_the_live_size_is_used_and_not_the_last_applied_one(fleet):
    fleet.pool("plain", sizes=(0, 0, 4))
    set_desired_size(fleet.world, "ci", "plain", 1)
    assert fleet.addon("coredns").id == "ci:coredns"


def test_a_tainted_node_group_is_no_place_for_coredns(fleet):
    fleet.pool(sizes=(1, 1, 4), taints=[GPU_TAINT])
    with pytest.raises(Refusal, match="no taint they do not tolerate"):
        fleet.addon("coredns")


def test_a_taint_that_only_prefers_is_no_obstacle(fleet):
    fleet.pool(sizes=(1, 1, 4), taints=[{**GPU_TAINT, "effect": "PREFER_NO_SCHEDULE"}])
    assert fleet.addon("coredns").id == "ci:coredns"


def test_a_toleration_in_the_configuration_counts(fleet):
    fleet.pool(sizes=(1, 1, 4), taints=[GPU_TAINT])
    values = {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
    assert fleet.addon("coredns", configurationValues=json.dumps(values)).id == "ci:coredns"


def test_a_node_selector_that_no_group_has_keeps_the_add_on_degraded(fleet):
    fleet.system_pool()
    values = {"nodeSelector": {"gpu-runners/role": "systems"}}
    with pytest.raises(Refusal, match="stays DEGRADED"):
        fleet.addon("coredns", configurationValues=json.dumps(values))


def test_the_ebs_driver_without_a_role_is_refused(fleet):
    fleet.system_pool()
    with pytest.raises(Refusal, match="has no role"):
        fleet.addon("aws-ebs-csi-driver")


def test_the_ebs_driver_before_any_node_is_refused(fleet):
    with pytest.raises(Refusal, match="stays DEGRADED"):
        ebs(fleet, ebs_role(fleet, "service-role/AmazonEBSCSIDriverPolicy"))


def test_the_ebs_driver_with_a_role_without_policy_is_refused(fleet):
    fleet.system_pool()
    role = ebs_role(fleet)
    with pytest.raises(Refusal, match="has no policy"):
        ebs(fleet, role)
    fleet.attach(role, "service-role/AmazonEBSCSIDriverPolicy")
    assert ebs(fleet, role).id == "ci:aws-ebs-csi-driver"


def test_an_add_on_with_pod_identity_but_no_agent_is_refused(fleet):
    fleet.system_pool()
    fleet.delete(fleet.world.get("ci:eks-pod-identity-agent"))
    with pytest.raises(Refusal, match="eks-pod-identity-agent"):
        ebs(fleet, ebs_role(fleet, "service-role/AmazonEBSCSIDriverPolicy"))


def test_a_service_account_role_must_trust_the_issuer_of_the_cluster(fleet):
    fleet.system_pool()
    role = ebs_role(fleet, "service-role/AmazonEBSCSIDriverPolicy")
    with pytest.raises(Refusal, match="does not trust the OIDC issuer"):
        fleet.addon("aws-ebs-csi-driver", serviceAccountRoleArn=role.outputs["arn"])


def test_an_issuer_that_is_trusted_will_do(fleet):
    fleet.system_pool()
    issuer = fleet.cluster.outputs["identities"][0]["oidcs"][0]["issuer"]
    provider = fleet.make(tokens.OIDC_PROVIDER, "ci", url=issuer, clientIdLists=["sts"])
    statement = {
        "Effect": "Allow",
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Principal": {"Federated": provider.outputs["arn"]},
    }
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    role = fleet.make(tokens.ROLE, "irsa", assumeRolePolicy=document)
    fleet.attach(role, "service-role/AmazonEBSCSIDriverPolicy")
    made = fleet.addon("aws-ebs-csi-driver", serviceAccountRoleArn=role.outputs["arn"])
    assert made.outputs["addonVersion"].startswith("v")


def test_an_add_on_is_made_once(fleet):
    with pytest.raises(Refusal, match="already"):
        fleet.addon("vpc-cni")


def test_an_add_on_that_eks_may_not_have_is_a_warning(fleet):
    fleet.addon("core-dns")
    assert "cannot check that EKS has an add-on core-dns" in fleet.warnings()


def test_an_add_on_of_a_cluster_that_does_not_exist_is_refused(fleet):
    with pytest.raises(Refusal, match="ResourceNotFoundException"):
        fleet.make(tokens.ADDON, "a", clusterName="other", addonName="vpc-cni")


def test_configuration_that_is_no_json_is_refused(fleet):
    with pytest.raises(Refusal, match="is not JSON"):
        fleet.addon("eks-node-monitoring-agent", configurationValues="a: b")


def test_a_version_without_v_is_invalid(fleet):
    with pytest.raises(Invalid, match="write it as v1"):
        fleet.addon("eks-node-monitoring-agent", addonVersion="1.4.1")


def test_a_misspelt_conflict_rule_is_invalid(fleet):
    with pytest.raises(Invalid, match="resolveConflictsOnCreate"):
        fleet.addon("eks-node-monitoring-agent", resolveConflictsOnCreate="PRESERVE")


def test_deleting_the_network_add_on_under_nodes_is_warned_of(fleet):
    pool = fleet.system_pool()
    fleet.delete(fleet.world.get("ci:vpc-cni"))
    assert any("network interfaces leak" in detail for detail in fleet.warnings())
    fleet.delete(pool)
