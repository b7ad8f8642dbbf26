"""What gives jobs, or strangers, more than they need: shown, and errors where a stack is strict."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from ipaddress import IPv4Network
from math import log2
from typing import Final

from fleet.catalog.image_names import moving_tag, split_reference
from fleet.catalog.tokens import TOKEN
from fleet.checks.check import Problem, check
from fleet.checks.view import View
from fleet.clusters.eks import EksPlan
from fleet.clusters.oke import OkePlan
from fleet.config.github import GitHubLane
from fleet.config.gitlab import GitLabLane
from fleet.kubernetes.labels import Namespaces
from fleet.runners.access import JobAccess

_WIDEST = 8
"""Prefix of a range that is more than one organisation's."""

_PRIVILEGED_NAMESPACES: Final = (
    Namespaces.operator,
    Namespaces.device_plugin,
    Namespaces.efa_plugin,
    Namespaces.host_devices,
)
"""This program lets privileged pods into them."""

_SECRET_NAME: Final = re.compile(
    r"(?:^|_)(?:TOKEN|PASSWORD|PASSWD|SECRET|APIKEY|KEY)$", re.IGNORECASE
)
_PUBLIC_NAME: Final = re.compile(
    r"PUBLIC|CACHE|SORT|PRIMARY|FOREIGN|PARTITION|(?:^|_)(?:GPG|PGP)_KEY$", re.IGNORECASE
)
"""Keys that are none of a lock; GPG_KEY is a fingerprint in many Dockerfiles."""

_RANDOM: Final = re.compile(r"[A-Za-z0-9+/=_.~!@#%^&*-]{16,}")
_RANDOM_BITS = 3.0
"""Entropy of a character; 16 random hexadecimal digits have about 3.3."""

_RANDOM_PART = 12
_AWS_SECRET_KEY: Final = re.compile(r"[A-Za-z0-9/+]{40}")


@check("public-endpoint", "warning", strict=True)
def public_endpoints(view: View) -> Iterator[Problem]:
    """Kubernetes APIs that anybody may reach, or a range too wide to be somebody's own."""
    for cluster in view.plan.clusters:
        platform = cluster.platform
        if not isinstance(platform, EksPlan | OkePlan):
            continue
        wide = [one for one in platform.allow if IPv4Network(one).prefixlen <= _WIDEST]
        if wide:
            kind = "eks" if isinstance(platform, EksPlan) else "oke"
            yield Problem(
                path=f"clusters.{cluster.name}.{kind}.api.allow",
                message=(
                    f"holds {', '.join(wide)}: "
                    f"{'everybody' if '0.0.0.0/0' in wide else 'millions of strangers'} may try "
                    "the cluster's API"
                ),
                remedy=(
                    "name the ranges from which people and CI come, or none for a private endpoint"
                ),
            )


@check("wide-access", "warning", strict=True)
def wide_access(view: View) -> Iterator[Problem]:
    """Jobs that may read secrets, mint tokens, or deploy where others run with more rights.

    Wildcards, and verbs by which jobs would give themselves rights, the stack file refuses.
    """
    for lane in view.lanes:
        access = lane.plan.access
        if access is not None:
            yield from _secrets(lane.path, access)
            yield from _namespaces(lane.path, access)


def _secrets(path: str, access: JobAccess) -> Iterator[Problem]:
    for rule in access.permissions:
        named = [one for one in rule.resources if one in ("secrets", "serviceaccounts/token")]
        if named and "" in rule.api_groups:
            yield Problem(
                path=f"{path}.kubernetes_access.permissions",
                message=(
                    f"let jobs {', '.join(rule.verbs)} {' and '.join(named)} in "
                    f"{', '.join(access.namespaces)}: what lies there is every job's"
                ),
                remedy="remove it; give jobs their secrets through GitHub or GitLab",
            )


def _namespaces(path: str, access: JobAccess) -> Iterator[Problem]:
    for name in access.namespaces:
        shared = name == "default" or name.startswith("kube-")
        if shared or name in _PRIVILEGED_NAMESPACES:
            why = "is everybody's" if shared else "admits privileged pods, which own their node"
            key = "namespaces" if name in access.made_namespaces else "existing_namespaces"
            yield Problem(
                path=f"{path}.kubernetes_access.{key}",
                message=f"let jobs deploy into {name}, which {why}",
                remedy="give the jobs a namespace of their own",
            )


@check("secret-in-env")
def secrets_in_env(view: View) -> Iterator[Problem]:
    """Variables whose value is a secret: it would stand in the stack file, the state and each job.

    A token by its form; or, in a variable called TOKEN, PASSWORD, SECRET or KEY, a literal of 16
    or more characters that look random. The value is never repeated.
    """
    for lane in view.lanes:
        for name, value in lane.spec.env.items():
            by_form = TOKEN.search(value) is not None
            if by_form or _is_random_secret(name, value):
                yield Problem(
                    path=f"{lane.path}.env.{name}",
                    message=(
                        "looks like a token or key"
                        if by_form
                        else f"looks like the secret that its name promises ({len(value)} "
                        "random characters)"
                    ),
                    remedy=(
                        "remove it and revoke the secret; jobs get secrets from GitHub or GitLab, "
                        "and from AWS or OCI by OIDC"
                    ),
                )


def _is_random_secret(name: str, value: str) -> bool:
    if not _SECRET_NAME.search(name) or _PUBLIC_NAME.search(name):
        return False
    if not _RANDOM.fullmatch(value) or value.startswith(("/", "./", "~", "http")):
        return False
    if _entropy(value) < _RANDOM_BITS:
        return False
    if "SECRET" in name.upper() and _AWS_SECRET_KEY.fullmatch(value):
        return True
    # Words, versions and paths hold separators; what is random mixes its classes within a part.
    longest = max(re.split(r"[-_./]", value), key=len)
    if len(longest) < _RANDOM_PART:
        return False
    every_class = all(re.search(one, longest) for one in (r"[a-z]", r"[A-Z]", r"\d"))
    scattered = len(re.findall(r"\d+", longest)) >= 3 and re.search(r"[A-Za-z]", longest)
    return every_class or bool(scattered)


def _entropy(text: str) -> float:
    """Shannon's, in bits a character."""
    return -sum(count / len(text) * log2(count / len(text)) for count in Counter(text).values())


@check("image-pin", "warning", strict=True)
def unpinned_images(view: View) -> Iterator[Problem]:
    """Lanes whose image can be another one tomorrow."""
    for lane in view.lanes:
        image = lane.spec.image
        if image is not None and moving_tag(image):
            tag = split_reference(image)[1]
            yield Problem(
                path=f"{lane.path}.image",
                message=(
                    f"is {image}, whose tag moves: jobs change without a change here"
                    if tag is not None
                    else f"is {image}, without a tag, which is latest: jobs change without a "
                    "change here"
                ),
                remedy="name a version, or a digest: image@sha256:…",
            )


@check("privileged", "warning", strict=True)
def privileges(view: View) -> Iterator[Problem]:
    """Jobs that are privileged or root, and so can leave their lane."""
    for lane in view.lanes:
        if isinstance(lane.spec, GitHubLane):
            yield from _github_privileges(lane.path, lane.spec)
        elif isinstance(lane.spec, GitLabLane) and lane.spec.privileged:
            yield Problem(
                path=f"{lane.path}.privileged",
                message="jobs run privileged: they see every GPU of the node, and can take it over",
                remedy="remove it: CUDA needs no privileges; build images without a Docker daemon",
            )


def _github_privileges(path: str, lane: GitHubLane) -> Iterator[Problem]:
    if lane.device_access == "privileged":
        yield Problem(
            path=f"{path}.device_access",
            message="jobs run privileged: they see every device of the node, and can take it over",
            remedy="use device_access: plugin unless a job needs more than its device",
        )
    if lane.run_as_root:
        yield Problem(
            path=f"{path}.run_as_root",
            message="jobs run as root in their container",
            remedy="where it is for a device only, name the device's group in supplemental_groups",
        )
    if lane.container_mode == "dind":
        yield Problem(
            path=f"{path}.container_mode",
            message=(
                "is dind: the Docker daemon beside each job is privileged, and whoever drives it "
                "has the node"
            ),
            remedy="use kubernetes-novolume for jobs with a container, or a lane of its own pool",
        )
