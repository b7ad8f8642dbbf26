"""Permissions of jobs, secrets, and public access: warnings, or errors if `strict: true`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from ipaddress import IPv4Network
from math import log2
from typing import Final

from fleet.catalog.image_names import moving_tag, split_reference
from fleet.catalog.tokens import TOKEN
from fleet.checks.check import check
from fleet.checks.view import View
from fleet.config.github import GitHubLane
from fleet.findings import Finding
from fleet.kubernetes.labels import Namespaces
from fleet.runners.lanes import JobAccess

_WIDEST_PREFIX = 8
"""A range with this prefix or a shorter one belongs to more than one organisation."""

_PRIVILEGED_NAMESPACES: Final = (
    Namespaces.operator,
    Namespaces.device_plugin,
    Namespaces.efa_plugin,
    Namespaces.host_devices,
)
"""Namespaces to which this program admits privileged pods."""

_SECRET_NAME: Final = re.compile(
    r"(?:^|_)(?:TOKEN|PASSWORD|PASSWD|SECRET|APIKEY|KEY)$", re.IGNORECASE
)
_PUBLIC_NAME: Final = re.compile(
    r"PUBLIC|CACHE|SORT|PRIMARY|FOREIGN|PARTITION|(?:^|_)(?:GPG|PGP)_KEY$", re.IGNORECASE
)
"""Keys that are not secret; GPG_KEY is a fingerprint in many Dockerfiles."""

_RANDOM: Final = re.compile(r"[A-Za-z0-9+/=_.~!@#%^&*-]{16,}")
_RANDOM_BITS = 3.0
"""Least entropy of a character; 16 random hexadecimal digits have about 3.3."""

_RANDOM_PART = 12
_AWS_SECRET_KEY: Final = re.compile(r"[A-Za-z0-9/+]{40}")


@check("public-endpoint", "warning", strict=True)
def public_endpoints(view: View) -> Iterator[Finding]:
    """Kubernetes APIs that the whole internet, or a range of millions of addresses, may reach."""
    for cluster in view.plan.clusters:
        allow = cluster.platform.allow or ()
        wide = [one for one in allow if IPv4Network(one).prefixlen <= _WIDEST_PREFIX]
        if wide:
            who = "anyone on the internet" if "0.0.0.0/0" in wide else "millions of strangers"
            yield public_endpoints.finding(
                f"{cluster.platform.path}.api.allow",
                message=f"has {', '.join(wide)}: {who} can send requests to the cluster's API",
                remedy=("use the ranges of people and CI, or remove allow for a private endpoint"),
            )


@check("wide-access", "warning", strict=True)
def wide_access(view: View) -> Iterator[Finding]:
    """Jobs that may read secrets, create tokens, or deploy into namespaces with more rights.

    The stack file refuses wildcards, and verbs by which jobs could give themselves rights.
    """
    for lane in view.lanes:
        access = lane.plan.access
        if access is not None:
            yield from _secrets(lane.path, access)
            yield from _namespaces(lane.path, access)


def _secrets(path: str, access: JobAccess) -> Iterator[Finding]:
    for rule in access.permissions:
        named = [one for one in rule.resources if one in ("secrets", "serviceaccounts/token")]
        if named and "" in rule.api_groups:
            yield wide_access.finding(
                f"{path}.kubernetes_access.permissions",
                message=(
                    f"lets jobs {', '.join(rule.verbs)} {' and '.join(named)} in "
                    f"{', '.join(access.namespaces)}: every job can read the secrets of these "
                    "namespaces"
                ),
                remedy="remove it, and give jobs their secrets through GitHub or GitLab",
            )


def _namespaces(path: str, access: JobAccess) -> Iterator[Finding]:
    for name in access.namespaces:
        shared = name == "default" or name.startswith("kube-")
        if shared or name in _PRIVILEGED_NAMESPACES:
            why = (
                "which other users and Kubernetes itself use"
                if shared
                else "which admits privileged pods: they control their node"
            )
            key = "namespaces" if name in access.made_namespaces else "existing_namespaces"
            yield wide_access.finding(
                f"{path}.kubernetes_access.{key}",
                message=f"lets jobs deploy into {name}, {why}",
                remedy="use a separate namespace for the jobs, like ci-jobs",
            )


@check("secret-in-env")
def secrets_in_env(view: View) -> Iterator[Finding]:
    """Variables whose value is a secret, which every job and the stack file would show.

    A value with the form of a known token; or, in a variable called TOKEN, PASSWORD, SECRET or
    KEY, a literal of 16 or more characters that look random. The message never has the value.
    """
    for lane in view.lanes:
        for name, value in lane.spec.env.items():
            by_form = TOKEN.search(value) is not None
            if by_form or _is_random_secret(name, value):
                what = (
                    "a token or key" if by_form else f"a secret of {len(value)} random characters"
                )
                yield secrets_in_env.finding(
                    f"{lane.path}.env.{name}",
                    message=(
                        f"looks like {what}: the stack file, the state and every job would show it"
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
    # Words, versions and paths have separators; random text mixes its classes within a part.
    longest = max(re.split(r"[-_./]", value), key=len)
    if len(longest) < _RANDOM_PART:
        return False
    every_class = all(re.search(one, longest) for one in (r"[a-z]", r"[A-Z]", r"\d"))
    scattered = len(re.findall(r"\d+", longest)) >= 3 and re.search(r"[A-Za-z]", longest)
    return every_class or bool(scattered)


def _entropy(text: str) -> float:
    """Return Shannon's entropy in bits for each character."""
    return -sum(count / len(text) * log2(count / len(text)) for count in Counter(text).values())


@check("image-pin", "warning", strict=True)
def unpinned_images(view: View) -> Iterator[Finding]:
    """Lanes whose image has a moving tag, or none."""
    for lane in view.lanes:
        image = lane.spec.image
        if image is not None and moving_tag(image):
            tag = split_reference(image)[1]
            what = "whose tag moves" if tag is not None else "without a tag, which means latest"
            yield unpinned_images.finding(
                f"{lane.path}.image",
                message=f"is {image}, {what}: jobs change without a change of the stack file",
                remedy="use a version, like 2.338.0, or a digest, like image@sha256:…",
            )


@check("privileged", "warning", strict=True)
def privileges(view: View) -> Iterator[Finding]:
    """Jobs that run privileged or as root."""
    for lane in view.github_lanes:
        yield from _github_privileges(lane.path, lane.spec)
    for lane in view.gitlab_lanes:
        if lane.spec.privileged:
            yield privileges.finding(
                f"{lane.path}.privileged",
                message=(
                    "is on: jobs see every GPU of the node, also those of other jobs, and can "
                    "take over the node"
                ),
                remedy="remove it: CUDA needs no privileges; build images without a Docker daemon",
            )


def _github_privileges(path: str, lane: GitHubLane) -> Iterator[Finding]:
    if lane.device_access == "privileged":
        yield privileges.finding(
            f"{path}.device_access",
            message=("is privileged: jobs see every device of the node and can take over the node"),
            remedy="use device_access: plugin unless a job needs more than its device",
        )
    if lane.run_as_root:
        yield privileges.finding(
            f"{path}.run_as_root",
            message=(
                "is on: jobs run as root in their container, which makes an escape to the node "
                "easier"
            ),
            remedy="if only a device needs it, use its group, like supplemental_groups: [109]",
        )
    if lane.container_mode == "dind":
        yield privileges.finding(
            f"{path}.container_mode",
            message=(
                "is dind: the Docker daemon of each job is privileged, so a job that uses it "
                "can take over the node"
            ),
            remedy="use kubernetes-novolume for jobs with a container, or a separate pool",
        )
