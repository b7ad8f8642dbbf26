"""EKS clusters, access and pod identity."""

from __future__ import annotations

import base64
import re

import pytest
from pulumi_rehearsal.standin.aws import tokens
from pulumi_rehearsal.standin.kind import Invalid, Refusal

ADMIN = "arn:aws:iam::111122223333:role/platform"
POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"


def test_a_cluster_outputs_the_values_of_a_kubeconfig(fleet):
    outputs = fleet.cluster.outputs
    assert re.fullmatch(
        r"https://[0-9A-F]{32}\.gr7\.us-west-2\.eks\.amazonaws\.com", outputs["endpoint"]
    )
    assert base64.b64decode(outputs["certificateAuthority"]["data"]).startswith(b"-----BEGIN")
    issuer = outputs["identities"][0]["oidcs"][0]["issuer"]
    assert issuer.startswith("https://oidc.eks.us-west-2.amazonaws.com/id/")


def test_a_cluster_has_a_security_group_of_its_own_that_goes_with_it(fleet):
    group_id = fleet.cluster.outputs["vpcConfig"]["clusterSecurityGroupId"]
    assert fleet.world.get(group_id, tokens.SECURITY_GROUP) is not None
    fleet.delete(fleet.cluster)
    assert fleet.world.get(group_id, tokens.SECURITY_GROUP) is None


def test_a_cluster_keeps_what_eks_added_when_its_network_changes(fleet):
    before = fleet.cluster.outputs["vpcConfig"]["clusterSecurityGroupId"]
    network = {"subnetIds": fleet.private_ids, "endpointPrivateAccess": True}
    after = fleet.change(fleet.cluster, vpcConfig=network).outputs["vpcConfig"]
    assert after["clusterSecurityGroupId"] == before
    assert after["endpointPrivateAccess"] is True


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("accessConfig", {"authenticationMode": "api"}),
        ("enabledClusterLogTypes", ["api", "audits"]),
        ("kubernetesNetworkConfig", {"ipFamily": "ipv5"}),
        ("upgradePolicy", {"supportType": "NONE"}),
        ("name", "-ci"),
        ("name", "c" * 101),
    ],
)
def test_a_misspelt_choice_of_a_cluster_is_invalid(fleet, field, value):
    with pytest.raises(Invalid, match=field):
        fleet.make_cluster("other", **{field: value})


def test_a_cluster_name_is_taken_once(fleet):
    with pytest.raises(Refusal, match="ResourceInUseException"):
        fleet.make_cluster("ci")


def test_a_cluster_needs_subnets_in_two_zones(fleet):
    with pytest.raises(Refusal, match="at least two zones"):
        fleet.make_cluster("other", vpcConfig={"subnetIds": fleet.private_ids[:1]})


def test_a_cluster_in_subnets_of_two_vpcs_is_refused(fleet):
    stray = fleet.subnet(fleet.vpc("other", "10.1.0.0/16"), "stray", "10.1.0.0/24", "b")
    with pytest.raises(Refusal, match="must be in one VPC"):
        fleet.make_cluster("other", vpcConfig={"subnetIds": [fleet.private_ids[0], stray.id]})


def test_a_cluster_with_a_security_group_of_another_vpc_is_refused(fleet):
    other = fleet.vpc("other", "10.1.0.0/16")
    group = fleet.make(tokens.SECURITY_GROUP, "stray", vpcId=other.id)
    network = {"subnetIds": fleet.private_ids, "securityGroupIds": [group.id]}
    with pytest.raises(Refusal, match="use a group of the subnets' VPC"):
        fleet.make_cluster("other", vpcConfig=network)


def test_subnets_that_the_stack_did_not_make_are_taken_on_trust(fleet):
    ids = ["subnet-0aaaaaaaaaaaaaaaa", "subnet-0bbbbbbbbbbbbbbbb"]
    assert fleet.make_cluster("other", vpcConfig={"subnetIds": ids}).id == "other"


def test_a_cluster_role_that_does_not_exist_is_refused(fleet):
    with pytest.raises(Refusal, match=r"does not exist \(yet\)"):
        fleet.make_cluster("other", roleArn="arn:aws:iam::111122223333:role/nobody")


def test_a_cluster_role_that_does_not_trust_eks_is_refused(fleet):
    role = fleet.role("wrong", "ec2.amazonaws.com", "AmazonEKSClusterPolicy")
    with pytest.raises(Refusal, match=r"eks\.amazonaws\.com"):
        fleet.make_cluster("other", roleArn=role.outputs["arn"])


def test_a_cluster_role_without_its_policy_is_refused(fleet):
    role = fleet.role("bare", "eks.amazonaws.com")
    with pytest.raises(Refusal, match="does not have AmazonEKSClusterPolicy"):
        fleet.make_cluster("other", roleArn=role.outputs["arn"])


def test_a_kubernetes_version_that_eks_does_not_have_is_refused(fleet):
    with pytest.raises(Refusal, match=r"unsupported Kubernetes version '1.3'"):
        fleet.make_cluster("other", version="1.3")


def test_a_control_plane_does_not_go_back(fleet):
    with pytest.raises(Refusal, match="cannot go back"):
        fleet.change(fleet.cluster, version="1.34")


def test_a_control_plane_does_not_skip_a_minor(fleet):
    cluster = fleet.make_cluster("old", version="1.33")
    with pytest.raises(Refusal, match="one minor at a time"):
        fleet.change(cluster, version="1.35")
    assert fleet.change(cluster, version="1.34").outputs["version"] == "1.34"


def test_a_control_plane_does_not_leave_its_nodes_behind(fleet):
    cluster = fleet.make_cluster("old", version="1.33")
    pool = fleet.pool(clusterName="old", version="1.30", releaseVersion=None)
    with pytest.raises(Refusal, match="upgrade the nodes first"):
        fleet.change(cluster, version="1.34")
    fleet.change(pool, version="1.31")
    assert fleet.change(cluster, version="1.34").outputs["version"] == "1.34"


def test_encryption_of_secrets_is_not_turned_off(fleet):
    key = fleet.make(tokens.KMS_KEY, "secrets")
    config = {"provider": {"keyArn": key.outputs["arn"]}, "resources": ["secrets"]}
    cluster = fleet.make_cluster("other", encryptionConfig=config)
    with pytest.raises(Refusal, match="cannot be turned off"):
        fleet.change(cluster, encryptionConfig=None)


def test_a_key_that_does_not_exist_is_refused(fleet):
    config = {
        "provider": {"keyArn": "arn:aws:kms:us-west-2:111122223333:key/none"},
        "resources": ["secrets"],
    }
    with pytest.raises(Refusal, match=r"KMS key .* does not exist"):
        fleet.make_cluster("other", encryptionConfig=config)


def test_the_authentication_mode_does_not_go_back(fleet):
    with pytest.raises(Refusal, match="cannot go back from API"):
        fleet.change(fleet.cluster, accessConfig={"authenticationMode": "API_AND_CONFIG_MAP"})


def test_a_cluster_with_node_groups_is_not_deleted(fleet):
    pool = fleet.pool()
    with pytest.raises(Refusal, match="has node groups attached"):
        fleet.delete(fleet.cluster)
    fleet.delete(pool)
    fleet.delete(fleet.cluster)


def test_a_cluster_with_deletion_protection_is_not_deleted(fleet):
    cluster = fleet.make_cluster("other", deletionProtection=True)
    with pytest.raises(Refusal, match="has deletion protection"):
        fleet.delete(cluster)


def entry(fleet, **inputs):
    given = {"clusterName": "ci", "principalArn": ADMIN}
    return fleet.make(tokens.ACCESS_ENTRY, "admin", **{**given, **inputs})


def association(fleet, **inputs):
    given = {
        "clusterName": "ci",
        "principalArn": ADMIN,
        "policyArn": POLICY,
        "accessScope": {"type": "cluster"},
    }
    return fleet.make(tokens.ACCESS_POLICY_ASSOCIATION, "admin", **{**given, **inputs})


def test_a_cluster_that_authenticates_by_config_map_takes_no_entries(fleet):
    fleet.make_cluster("old", accessConfig={"authenticationMode": "CONFIG_MAP"})
    with pytest.raises(Refusal, match="has no access entries"):
        entry(fleet, clusterName="old")


def test_a_principal_has_one_entry_a_cluster(fleet):
    entry(fleet)
    with pytest.raises(Refusal, match="has an access entry"):
        entry(fleet)


def test_the_entry_of_a_node_role_is_made_by_eks(fleet):
    fleet.pool()
    with pytest.raises(Refusal, match="EKS creates those of node roles"):
        entry(fleet, principalArn=fleet.node_role.outputs["arn"], type="EC2_LINUX")


def test_a_principal_that_is_no_role_or_user_is_invalid(fleet):
    with pytest.raises(Invalid, match="not an IAM role or user"):
        entry(fleet, principalArn="platform")


def test_a_reserved_kubernetes_group_is_invalid(fleet):
    with pytest.raises(Invalid, match="reserved prefix"):
        entry(fleet, kubernetesGroups=["system:masters"])


def test_a_policy_association_before_its_entry_is_refused(fleet):
    with pytest.raises(Refusal, match="depend on the AccessEntry"):
        association(fleet)
    entry(fleet)
    assert association(fleet).id == f"ci#{ADMIN}#{POLICY}"


def test_an_access_policy_that_eks_does_not_have_is_invalid(fleet):
    entry(fleet)
    with pytest.raises(Invalid, match="policyArn"):
        association(fleet, policyArn="arn:aws:iam::aws:policy/AdministratorAccess")


def test_a_namespace_scope_without_namespaces_is_invalid(fleet):
    entry(fleet)
    with pytest.raises(Invalid, match="needs at least one"):
        association(fleet, accessScope={"type": "namespace"})


def identity(fleet, role, name="scaler", account="cluster-autoscaler"):
    return fleet.make(
        tokens.POD_IDENTITY_ASSOCIATION,
        name,
        clusterName=fleet.cluster.id,
        namespace="kube-system",
        serviceAccount=account,
        roleArn=role.outputs["arn"],
    )


def test_a_pod_role_must_let_pods_tag_the_session(fleet):
    role = fleet.role("pod", "pods.eks.amazonaws.com")
    with pytest.raises(Refusal, match="sts:TagSession"):
        identity(fleet, role)
    good = fleet.role(
        "good", "pods.eks.amazonaws.com", actions=("sts:AssumeRole", "sts:TagSession")
    )
    assert identity(fleet, good).id.startswith("a-")


def test_a_service_account_has_one_association(fleet):
    role = fleet.role("pod", "pods.eks.amazonaws.com", actions=("sts:AssumeRole", "sts:TagSession"))
    identity(fleet, role)
    with pytest.raises(Refusal, match="keep one of the two"):
        identity(fleet, role, name="again")


def test_pod_identity_without_its_agent_is_warned_of(fleet):
    role = fleet.role("pod", "pods.eks.amazonaws.com", actions=("sts:AssumeRole", "sts:TagSession"))
    identity(fleet, role)
    assert not fleet.warnings()
    fleet.delete(fleet.world.get("ci:eks-pod-identity-agent"))
    identity(fleet, role, name="other", account="other")
    assert any("eks-pod-identity-agent" in detail for detail in fleet.warnings())
