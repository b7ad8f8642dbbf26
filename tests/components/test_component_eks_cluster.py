"""The EKS control plane: access, requirements of nodes that join, and the kubeconfig."""

import json
from typing import Any

import pulumi
import pulumi_aws as aws

from components.aws.cluster import EksCluster
from fleet.catalog.eks import ADDONS_AFTER_NODES, ADDONS_BEFORE_NODES
from tests import fleets
from tests.engine import Registered, deploy_both, remembered


@remembered
def made(**eks: Any) -> Registered:
    plan = fleets.cluster({"eks": eks}).platform

    def program() -> None:
        subnets = {"us-west-2a": "subnet-1", "us-west-2b": "subnet-2"}
        cluster = EksCluster(
            "eks",
            plan=plan,
            vpc_id="vpc-1",
            subnet_ids=subnets,
            protect=True,
            opts=fleets.providers(),
        )
        pulumi.export("kubeconfig", cluster.kubeconfig)
        pulumi.export("ready", [resource.urn for resource in cluster.ready_for_nodes])

    return deploy_both(program)


def kubeconfig(found: Registered) -> dict[str, Any]:
    return json.loads(found.stack_outputs.data["kubeconfig"])


def test_access_is_by_entries_and_not_by_a_config_map() -> None:
    cluster = made().one(aws.eks.Cluster)
    assert cluster.inputs["accessConfig"]["authenticationMode"] == "API"
    creator = cluster.inputs["accessConfig"]["bootstrapClusterCreatorAdminPermissions"]
    assert creator is True, "the principal of `pulumi up` installs the charts"


def test_the_cluster_is_called_what_the_stack_file_calls_it() -> None:
    cluster = made().one(aws.eks.Cluster).inputs
    assert (cluster["name"], cluster["version"]) == ("ci", "1.35")
    assert cluster["vpcConfig"]["subnetIds"] == ["subnet-1", "subnet-2"]


def test_without_allowed_ranges_the_endpoint_is_private() -> None:
    network = made(api={"allow": []}).one(aws.eks.Cluster).inputs["vpcConfig"]
    assert network["endpointPrivateAccess"] is True
    assert network["endpointPublicAccess"] is False
    assert "publicAccessCidrs" not in network, "an empty list would mean the whole internet"


def test_allowed_ranges_open_the_public_endpoint_to_them_only() -> None:
    network = made(api={"allow": ["203.0.113.0/24"]}).one(aws.eks.Cluster).inputs["vpcConfig"]
    assert network["endpointPublicAccess"] is True
    assert network["endpointPrivateAccess"] is True, "nodes do not leave the VPC to join"
    assert network["publicAccessCidrs"] == ["203.0.113.0/24"]


def test_control_plane_logs_expire() -> None:
    found = made()
    logs, cluster = found.one(aws.cloudwatch.LogGroup), found.one(aws.eks.Cluster)
    assert logs.inputs["name"] == "/aws/eks/ci/cluster", "EKS writes to this name and no other"
    assert logs.inputs["retentionInDays"] == 30
    assert logs.urn in cluster.depends_on, "EKS would make the group itself, kept for ever"
    assert cluster.inputs["enabledClusterLogTypes"] == ["api", "audit", "authenticator"]


def test_the_role_has_its_policy_before_the_cluster_starts() -> None:
    found = made()
    attached = found.one(aws.iam.RolePolicyAttachment, "eks-control-plane")
    assert attached.inputs["policyArn"].endswith("/AmazonEKSClusterPolicy")
    assert attached.urn in found.one(aws.eks.Cluster).depends_on
    trust = json.loads(found.one(aws.iam.Role, "eks-control-plane").inputs["assumeRolePolicy"])
    assert trust["Statement"][0]["Principal"] == {"Service": "eks.amazonaws.com"}
    assert trust["Statement"][0]["Action"] == ["sts:AssumeRole"]


def test_extended_support_is_never_paid_by_surprise() -> None:
    policy = made().one(aws.eks.Cluster).inputs["upgradePolicy"]
    assert policy == {"supportType": "STANDARD"}


def test_add_ons_have_one_owner() -> None:
    found = made()
    assert found.one(aws.eks.Cluster).inputs["bootstrapSelfManagedAddons"] is False
    addons = found.find(aws.eks.Addon)
    assert tuple(one.inputs["addonName"] for one in addons) == ADDONS_BEFORE_NODES
    assert not {one.inputs["addonName"] for one in addons} & set(ADDONS_AFTER_NODES), (
        "an add-on that is a Deployment stays DEGRADED for 20 minutes without a node"
    )
    for one in addons:
        assert one.inputs["resolveConflictsOnCreate"] == "OVERWRITE"
        assert one.inputs["resolveConflictsOnUpdate"] == "OVERWRITE"


def test_nodes_wait_for_add_ons_and_policies() -> None:
    found = made()
    needed = [*found.find(aws.eks.Addon)]
    needed += [
        one for one in found.find(aws.iam.RolePolicyAttachment) if one.name != "eks-control-plane"
    ]
    assert len(needed) == len(ADDONS_BEFORE_NODES) + 3
    assert set(found.stack_outputs.data["ready"]) == {one.urn for one in needed}


def test_the_node_role_has_the_least_that_a_node_needs() -> None:
    found = made()
    trust = json.loads(found.one(aws.iam.Role, "eks-node").inputs["assumeRolePolicy"])
    assert trust["Statement"][0]["Principal"] == {"Service": "ec2.amazonaws.com"}
    policies = {
        one.inputs["policyArn"].rpartition("/")[2]
        for one in found.find(aws.iam.RolePolicyAttachment)
        if one.name.startswith("eks-node-")
    }
    assert policies == {
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonEKS_CNI_Policy",
    }


def test_each_admin_gets_an_entry_with_cluster_admin() -> None:
    admins = [f"arn:aws:iam::111122223333:role/{name}" for name in ("one", "two")]
    found = made(admins=admins)
    entries = found.find(aws.eks.AccessEntry)
    assert [one.inputs["principalArn"] for one in entries] == admins
    granted = found.find(aws.eks.AccessPolicyAssociation)
    assert [one.inputs["principalArn"] for one in granted] == admins
    for entry, policy in zip(entries, granted, strict=True):
        assert policy.inputs["policyArn"].endswith("/AmazonEKSClusterAdminPolicy")
        assert policy.inputs["accessScope"] == {"type": "cluster"}
        assert entry.urn in policy.depends_on, "a policy association needs its access entry"


def test_removing_an_admin_keeps_the_entries_of_the_others() -> None:
    one, two = (f"arn:aws:iam::111122223333:role/{name}" for name in ("one", "two"))
    both, rest = made(admins=[one, two]), made(admins=[two])
    for kind in (aws.eks.AccessEntry, aws.eks.AccessPolicyAssociation):
        before = {entry.inputs["principalArn"]: entry.urn for entry in both.find(kind)}
        (after,) = rest.find(kind)
        assert after.urn == before[two], (
            "under another name the entry would be made anew before the old one is gone, and EKS "
            "refuses a second entry of one principal"
        )


def test_the_kubeconfig_holds_no_credential() -> None:
    config = kubeconfig(made())
    (user,) = config["users"]
    assert set(user["user"]) == {"exec"}, "a token would be in the state and would expire"
    command = user["user"]["exec"]
    assert command["command"] == "aws"
    assert "--cluster-name ci" in " ".join(command["args"])
    assert "--region us-west-2" in " ".join(command["args"])
    (cluster,) = config["clusters"]
    assert cluster["cluster"]["server"].startswith("https://ci.")
    assert cluster["cluster"]["certificate-authority-data"] == "Y2VydGlmaWNhdGU="
    (context,) = config["contexts"]
    assert context["context"] == {"cluster": cluster["name"], "user": user["name"]}
    assert config["current-context"] == context["name"]


def test_the_kubeconfig_uses_the_profile_of_the_provider() -> None:
    environment = kubeconfig(made(profile="gpu"))["users"][0]["user"]["exec"]["env"]
    assert environment == [{"name": "AWS_PROFILE", "value": "gpu"}]
