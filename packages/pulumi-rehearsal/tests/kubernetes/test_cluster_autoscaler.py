"""The cluster-autoscaler chart on EKS."""

import pytest
from kubernetes_cluster import RELEASE, Cluster


def autoscaler(**values):
    given = {
        "autoDiscovery": {"clusterName": "ci"},
        "awsRegion": "us-west-2",
        "image": {"tag": "v1.35.0"},
        "rbac": {"serviceAccount": {"name": "cluster-autoscaler"}},
    }
    return {
        "chart": "cluster-autoscaler",
        "name": "cluster-autoscaler",
        "namespace": "kube-system",
        "repositoryOpts": {"repo": "https://kubernetes.github.io/autoscaler"},
        "values": {**given, **values},
        "version": "9.59.0",
    }


def associate(cluster: Cluster, account="cluster-autoscaler"):
    inputs = {"clusterName": "ci", "namespace": "kube-system", "serviceAccount": account}
    cluster.put("aws:eks/podIdentityAssociation:PodIdentityAssociation", "ca", inputs, inputs)


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"autoDiscovery": {}}, "values.autoDiscovery.clusterName"),
        ({"extraArgs": {"expander": "priority"}}, "values.expanderPriorities"),
    ],
    ids=["no cluster name", "no priorities"],
)
def test_check_refuses(cluster: Cluster, values, path):
    assert "is required" in cluster.invalid(RELEASE, autoscaler(**values))[path]


def test_install_with_a_pod_identity(eks_cluster: Cluster):
    associate(eks_cluster)
    assert eks_cluster.release(autoscaler()).id == "kube-system/cluster-autoscaler"


def test_install_with_a_role_annotation(eks_cluster: Cluster):
    annotations = {"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/autoscaler"}
    rbac = {"serviceAccount": {"name": "cluster-autoscaler", "annotations": annotations}}
    assert eks_cluster.release(autoscaler(rbac=rbac))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"autoDiscovery": {"clusterName": "other"}},
            "autoDiscovery.clusterName is 'other', the cluster is called 'ci'",
        ),
        ({"awsRegion": None}, "awsRegion is 'us-east-1' .*, the cluster is in us-west-2"),
        (
            {"rbac": {"serviceAccount": {"name": "another"}}},
            "no Pod Identity association for kube-system/another exists yet",
        ),
    ],
    ids=["another cluster's name", "another region", "an account without an identity"],
)
def test_install_refuses(eks_cluster: Cluster, refused, values, message):
    associate(eks_cluster)
    with refused(message):
        eks_cluster.release(autoscaler(**values))


def test_account_is_named_after_release_and_provider(eks_cluster: Cluster):
    associate(eks_cluster, account="cluster-autoscaler-aws-cluster-autoscaler")
    assert eks_cluster.release(autoscaler(rbac={"create": True}))
