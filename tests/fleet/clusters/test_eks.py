"""An EKS cluster as it will be, the kubeconfig's credentials, and what nodes are told at boot."""

import base64
import email
from typing import Any

import pytest
import yaml

from fleet.clusters.eks import kubeconfig_user, user_data
from tests.fleet.samples import GONE, eks_of, pool_of

T4 = "clusters.ci.eks.pools.t4"


def test_local_disks_are_joined_by_the_config_of_the_node() -> None:
    encoded = user_data(pool_of())
    assert encoded is not None
    message = email.message_from_bytes(base64.b64decode(encoded, validate=True))
    assert message.get_content_type() == "multipart/mixed"
    (part,) = message.get_payload()
    assert part.get_content_type() == "application/node.eks.aws"
    assert yaml.safe_load(part.get_payload()) == {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {"instance": {"localStorage": {"strategy": "RAID0"}}},
    }


@pytest.mark.parametrize(
    "changes", [{f"{T4}.instance_store": "unused"}, {f"{T4}.instance_types": ["p3.2xlarge"]}]
)
def test_a_node_without_joined_disks_boots_as_eks_has_it(changes: dict[str, Any]) -> None:
    assert user_data(pool_of(changes)) is None


def test_the_kubeconfig_asks_the_aws_cli_and_holds_no_token() -> None:
    plugin = kubeconfig_user(eks_of())["exec"]
    assert isinstance(plugin, dict)
    assert [plugin["command"], *plugin["args"]] == [
        *("aws", "--region", "us-west-2", "eks", "get-token"),
        *("--cluster-name", "ci", "--output", "json"),
    ]
    assert plugin["env"] == [{"name": "AWS_PROFILE", "value": "ci"}]
    assert plugin["interactiveMode"] == "Never"


def test_without_a_profile_the_kubeconfig_names_none() -> None:
    plugin = kubeconfig_user(eks_of({"clusters.ci.eks.profile": GONE}))["exec"]
    assert isinstance(plugin, dict)
    assert plugin["env"] is None


def test_the_plan_is_what_the_stack_file_says() -> None:
    eks = eks_of()
    assert (eks.name, eks.region, eks.version, eks.profile) == ("ci", "us-west-2", "1.35", "ci")
    assert eks.allow == ("203.0.113.0/24",)
    assert eks.admins == ("arn:aws:iam::111122223333:role/platform",)
    assert eks.tags == {"environment": "test", "gpu-runners/cluster": "ci"}


def test_pools_keep_the_order_of_the_file_and_know_their_side() -> None:
    eks = eks_of()
    assert [pool.name for pool in eks.pools] == ["system", "t4", "a100"]
    assert [pool.name for pool in eks.system_pools] == ["system"]
    assert [pool.name for pool in eks.gpu_pools] == ["t4", "a100"]
