"""User data of an EKS node: a MIME multi-part archive with a NodeConfig, in base64.

Grammar: awslabs/amazon-eks-ami doc/usage (part type `application/node.eks.aws`, document
`node.eks.aws/v1alpha1` `NodeConfig`) and
https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html (EKS merges MIME archives).
"""

from __future__ import annotations

import base64
import binascii
import email
from collections.abc import Iterator
from typing import Any, Final, cast

import yaml

NODE_CONFIG_TYPE: Final = "application/node.eks.aws"
_SCRIPT_TYPES: Final = ("text/x-shellscript", "text/cloud-config", "text/cloud-boothook")
_LIMIT_BYTES: Final = 16 * 1024
"""https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html"""

_STRATEGIES: Final = ("RAID0", "RAID10", "Mount")


def base64_problem(encoded: str) -> str | None:
    """Return EC2's error for user data that is too long or not base64, else `None`."""
    try:
        decoded = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return "InvalidUserData.Malformed: userData is not base64; encode it"
    if len(decoded) > _LIMIT_BYTES:
        return (
            f"InvalidParameterValue: userData has {len(decoded)} bytes, the limit is "
            f"{_LIMIT_BYTES}; shorten it"
        )
    return None


def problems(encoded: str) -> Iterator[str]:
    """Yield what EKS or nodeadm refuses in the user data of an Amazon Linux 2023 node."""
    archive = email.message_from_bytes(base64.b64decode(encoded))
    if not archive.is_multipart():
        yield (
            "userData is not a MIME multi-part archive, to which EKS adds its own part: wrap it in "
            "multipart/mixed"
        )
        return
    for part in archive.walk():
        kind = part.get_content_type()
        payload = part.get_payload(decode=True)
        if part.is_multipart() or not isinstance(payload, bytes):
            continue
        if kind == NODE_CONFIG_TYPE:
            yield from _node_config_problems(payload.decode(errors="replace"))
        elif kind not in _SCRIPT_TYPES:
            yield (
                f"userData has a part of type {kind}, which no program on the node reads: use "
                f"{NODE_CONFIG_TYPE} for a NodeConfig"
            )


def _node_config_problems(document: str) -> Iterator[str]:
    try:
        parsed: Any = yaml.safe_load(document)
    except yaml.YAMLError:
        yield f"the {NODE_CONFIG_TYPE} part of userData is not YAML"
        return
    config = cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else {}
    if config.get("apiVersion") != "node.eks.aws/v1alpha1" or config.get("kind") != "NodeConfig":
        yield (
            f"the {NODE_CONFIG_TYPE} part of userData must be apiVersion node.eks.aws/v1alpha1, "
            "kind NodeConfig"
        )
        return
    storage = _below(config, "spec", "instance", "localStorage")
    strategy = storage.get("strategy")
    if strategy is not None and strategy not in _STRATEGIES:
        yield f"NodeConfig localStorage.strategy {strategy!r} is none of {', '.join(_STRATEGIES)}"


def _below(config: dict[str, Any], *names: str) -> dict[str, Any]:
    found: Any = config
    for name in names:
        found = cast("dict[str, Any]", found).get(name) if isinstance(found, dict) else None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
