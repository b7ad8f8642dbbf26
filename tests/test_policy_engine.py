"""The policy pack in a rehearsal with the real engine: a violation stops the preview."""

import json
import shutil
from pathlib import Path

import pulumi
import pulumi_aws as aws
import pytest
import yaml
from pulumi_rehearsal.errors import RehearsalError
from pulumi_rehearsal.policies import pack_of

from policy import rules
from rehearsal.run import rehearse
from tests import stackfiles
from tests.stackfiles import ROOT

PACK = ROOT / "policy"

engine = pytest.mark.engine
PACK_IS_COMPLETE = (PACK / ".venv/bin/python").exists()
with_pack = pytest.mark.skipif(
    not PACK_IS_COMPLETE, reason="make policy creates the environment of the pack"
)


def insecure() -> None:
    provider = aws.Provider("aws", region="us-west-2")
    aws.ec2.LaunchTemplate(
        "insecure",
        tags={"token": "glpat-abcdefghijklmnopqrst"},
        block_device_mappings=[
            aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
                device_name="/dev/xvda",
                ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(volume_size=200),
            )
        ],
        opts=pulumi.ResourceOptions(provider=provider),
    )
    aws.eks.NodeGroup(
        "large",
        cluster_name="ci",
        node_role_arn="arn:aws:iam::111122223333:role/node",
        subnet_ids=["subnet-1"],
        instance_types=["g4dn.xlarge"],
        scaling_config=aws.eks.NodeGroupScalingConfigArgs(min_size=0, max_size=2, desired_size=0),
        opts=pulumi.ResourceOptions(provider=provider),
    )


@pytest.fixture
def pack_of_one_gpu(tmp_path: Path) -> Path:
    pack = tmp_path / "policy"
    shutil.copytree(PACK, pack, ignore=shutil.ignore_patterns(".venv", "__pycache__"))
    (pack / ".venv").symlink_to(PACK / ".venv")
    (tmp_path / "fleet").symlink_to(ROOT / "fleet")
    (pack / "staging.json").write_text(json.dumps({rules.CEILING: {"max_gpus": 1}}))
    return pack


@engine
@with_pack
def test_a_violation_stops_the_preview_and_names_resource_and_remedy(
    tmp_path: Path, pack_of_one_gpu: Path
) -> None:
    result = rehearse(
        ROOT / "Pulumi.staging.yaml",
        folder=tmp_path / "left",
        program=insecure,
        policy=pack_of_one_gpu,
    )
    problems = "\n".join(result.problems)
    for rule in ("imds-v2", "encrypted-disks", "no-plaintext-tokens"):
        assert f"LaunchTemplate insecure: policy {rule}: " in problems
    assert "set it to required" in problems
    assert "policy gpu-ceiling: the pools of this stack can grow to 2 GPUs" in problems, (
        "max_gpus comes from the configuration of the pack"
    )
    assert [phase.title for phase in result.phases] == ["preview"], "nothing was created"


@engine
@with_pack
def test_the_pack_checks_only_the_last_revision(tmp_path: Path, pack_of_one_gpu: Path) -> None:
    data = {"config": stackfiles.config("staging")}
    pools = data["config"]["gpu-runners:stack"]["clusters"]["ci-staging"]["eks"]["pools"]
    pools["t4"]["max_size"] = 1
    smaller = tmp_path / "Pulumi.staging.yaml"
    smaller.write_text(yaml.safe_dump(data))
    result = rehearse(
        ROOT / "Pulumi.staging.yaml", to=smaller, folder=tmp_path / "left", policy=pack_of_one_gpu
    )
    assert result.problems == (), "a stack above max_gpus can be reduced"
    assert not [one for one in result.warnings if "policy" in one]


def test_a_folder_without_a_pack_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RehearsalError, match="holds no PulumiPolicy"):
        pack_of(tmp_path, "staging")


def test_a_pack_without_its_environment_is_refused(tmp_path: Path) -> None:
    (tmp_path / "PulumiPolicy.yaml").touch()
    with pytest.raises(RehearsalError, match=r"has no \.venv"):
        pack_of(tmp_path, "staging").host(tmp_path)


def test_a_pack_is_configured_by_the_name_of_the_stack() -> None:
    assert pack_of(PACK, "prod").config == PACK / "prod.json"
    assert pack_of(PACK, "no-such-stack").config is None
    assert "policy_pack_configs" not in pack_of(PACK, "no-such-stack").options
