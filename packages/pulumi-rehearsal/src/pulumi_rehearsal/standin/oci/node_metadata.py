"""What a node pool's metadata says: the start-up script, and the kubelet's arguments in it.

`user_data` is base64 of a script that cloud-init runs; `kubelet-extra-args` is what the cluster
autoscaler parses for the taints of an empty pool. Sources:
https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contengusingcustomcloudinitscripts.htm ,
https://cloudinit.readthedocs.io/en/latest/explanation/format.html (a script begins with `#!`),
kubernetes/autoscaler cluster-autoscaler/cloudprovider/oci/nodepools/registered_taints.go,
https://github.com/oracle/karpenter-provider-oci/issues/79 (nested quotes swallow the taints).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from pulumi_rehearsal.standin.kind import Properties
from pulumi_rehearsal.standin.kubernetes_names import LABEL_KEY, LABEL_VALUE
from pulumi_rehearsal.standin.properties import strings
from pulumi_rehearsal.standin.rules import Problem

USER_DATA: Final = "user_data"
KUBELET_ARGUMENTS: Final = "kubelet-extra-args"

MAX_BYTES: Final = 32_000
"""https://docs.oracle.com/en-us/iaas/api/#/en/iaas/latest/datatypes/LaunchInstanceDetails , all
of the metadata together."""

_EFFECTS: Final = ("NoExecute", "NoSchedule", "PreferNoSchedule")
_TAINTS: Final = re.compile(r"-?-register-with-taints[= ](\S*)")
_PASSED: Final = "--kubelet-extra-args"
_START: Final = re.compile(r"oke_init_script|oke-init\.sh|oke bootstrap|oke-install\.sh")
_CLOUD_INIT: Final = ("#!", "#cloud-config", "#include", "## template:", "Content-Type:", "MIME-")

Taint = dict[str, str]
"""`key`, `value` (often empty) and `effect`, in Kubernetes' words."""


def problems(inputs: Properties) -> Iterator[Problem]:
    """What OCI, cloud-init or the kubelet would not take of a node pool's metadata."""
    metadata = strings(inputs, "nodeMetadata")
    path = f"nodeMetadata.{USER_DATA}"
    size = sum(len(key) + len(value) for key, value in metadata.items())
    if size > MAX_BYTES:
        yield "nodeMetadata", f"has {size} bytes, the limit is {MAX_BYTES}: shorten the script"
    arguments = metadata.get(KUBELET_ARGUMENTS, "")
    for reason in _argument_problems(arguments):
        yield f"nodeMetadata.{KUBELET_ARGUMENTS}", reason
    encoded = metadata.get(USER_DATA)
    if encoded is None:
        if _TAINTS.search(arguments):
            yield (
                path,
                f"is missing: {KUBELET_ARGUMENTS} tells the autoscaler of taints, and only a "
                "script that passes the same arguments to the start-up script taints the nodes",
            )
        return
    script = decoded(encoded)
    if script is None:
        yield path, "is no base64; encode the script"
        return
    yield from ((path, reason) for reason in _script_problems(script, arguments))


def decoded(encoded: str) -> str | None:
    """The script behind base64; None where it is none."""
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def script_of(inputs: Properties) -> str:
    """The pool's start-up script; empty where it has Oracle's default one."""
    return decoded(strings(inputs, "nodeMetadata").get(USER_DATA, "")) or ""


def grows_volume(script: str) -> bool:
    """Whether the file system is grown to the boot volume's size."""
    return "oci-growfs" in script or "growpart" in script


def taints_of(arguments: str) -> tuple[Taint, ...]:
    """The taints in a string of kubelet arguments, as the autoscaler reads them."""
    found = _TAINTS.search(arguments)
    if found is None:
        return ()
    taints: list[Taint] = []
    for one in found.group(1).strip("\"'").split(","):
        named, _, effect = one.rpartition(":")
        key, _, value = named.partition("=")
        taints.append({"key": key, "value": value, "effect": effect})
    return tuple(taints)


def declared_taints(inputs: Properties) -> tuple[Taint, ...]:
    """The taints that the autoscaler knows of."""
    return taints_of(strings(inputs, "nodeMetadata").get(KUBELET_ARGUMENTS, ""))


def _argument_problems(arguments: str) -> Iterator[str]:
    found = _TAINTS.search(arguments)
    if found is None:
        if "taint" in arguments:
            yield "names taints, but not as --register-with-taints=<key>=<value>:<effect>"
        return
    if set(found.group(1)) & set("\"'"):
        yield "has quotes around the taints: the autoscaler takes them for part of the key"
    for taint in taints_of(arguments):
        if not LABEL_KEY.fullmatch(taint["key"]) or not LABEL_VALUE.fullmatch(taint["value"]):
            yield f"{taint['key']}={taint['value']} is no taint of Kubernetes"
        if taint["effect"] not in _EFFECTS:
            yield f"{taint['effect']!r} is none of {', '.join(_EFFECTS)}"


def _script_problems(script: str, arguments: str) -> Iterator[str]:
    if not script.startswith(_CLOUD_INIT):
        yield (
            "does not begin with '#!' or another mark of cloud-init as its first bytes, so that "
            "cloud-init runs nothing of it: put the shebang on the first line"
        )
    if not _START.search(script):
        yield (
            "does not run OKE's own start-up script (metadata oke_init_script), which custom user "
            "data replaces: the nodes would never join"
        )
    in_script = taints_of(script) if _PASSED in script else ()
    if _sorted(in_script) != _sorted(taints_of(arguments)):
        yield (
            f"passes the taints {_words(in_script)} to the kubelet, {KUBELET_ARGUMENTS} tells the "
            f"autoscaler {_words(taints_of(arguments))}: make the two the same"
        )


def _sorted(taints: tuple[Taint, ...]) -> list[tuple[str, str, str]]:
    return sorted((taint["key"], taint["value"], taint["effect"]) for taint in taints)


def _words(taints: tuple[Taint, ...]) -> str:
    spelled = (f"{one['key']}={one['value']}:{one['effect']}" for one in taints)
    return ", ".join(spelled) or "none"
