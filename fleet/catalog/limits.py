"""Limits of names and lists that a cloud, a chart or a forge enforces.

Lengths are in characters. `pattern` is a regular expression of the whole name, where one is known.
"""

from dataclasses import dataclass
from typing import Final

_DNS_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_KUBERNETES_NAMES: Final = (
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/"
)
_EKS_API: Final = "https://docs.aws.amazon.com/eks/latest/APIReference"


@dataclass(frozen=True, slots=True, kw_only=True)
class NameLimit:
    """How long a name may be and what it may be made of."""

    subject: str
    max_length: int
    pattern: str | None
    source: str


SCALE_SET: Final = NameLimit(
    subject="ARC runner scale set",
    max_length=45,
    pattern=_DNS_LABEL,
    source=(
        "actions/actions-runner-controller charts/gha-runner-scale-set/templates (fails above "
        "45); pattern inferred: it becomes the name of Kubernetes objects"
    ),
)
EKS_CLUSTER: Final = NameLimit(
    subject="EKS cluster",
    max_length=100,
    pattern=r"[0-9A-Za-z][A-Za-z0-9_-]*",
    source=f"{_EKS_API}/API_CreateCluster.html",
)
EKS_NODE_GROUP: Final = NameLimit(
    subject="EKS node group",
    max_length=63,
    pattern=r"[0-9A-Za-z][A-Za-z0-9_-]*",
    source=f"{_EKS_API}/API_CreateNodegroup.html",
)
KUBERNETES_SUBDOMAIN: Final = NameLimit(
    subject="Kubernetes object",
    max_length=253,
    pattern=rf"{_DNS_LABEL}(\.{_DNS_LABEL})*",
    source=_KUBERNETES_NAMES,
)
KUBERNETES_LABEL: Final = NameLimit(
    subject="Kubernetes namespace, Service or other DNS label",
    max_length=63,
    pattern=_DNS_LABEL,
    source=_KUBERNETES_NAMES,
)
LABEL_VALUE: Final = NameLimit(
    subject="Kubernetes label value",
    max_length=63,
    pattern=r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?",
    source="https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/",
)
HELM_RELEASE: Final = NameLimit(
    subject="Helm release",
    max_length=53,
    pattern=rf"{_DNS_LABEL}(\.{_DNS_LABEL})*",
    source="helm/helm pkg/chartutil/validate_name.go (maxReleaseNameLen and validName)",
)
IAM_ROLE: Final = NameLimit(
    subject="IAM role",
    max_length=64,
    pattern=r"[\w+=,.@-]+",
    source="https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html",
)
LAUNCH_TEMPLATE: Final = NameLimit(
    subject="EC2 launch template",
    max_length=128,
    pattern=r"[a-zA-Z0-9().\-/_]{3,}",
    source="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html",
)
EKS_LABEL: Final = NameLimit(
    subject="key, or value, of a label of an EKS managed node group; no value may be empty",
    max_length=63,
    pattern=None,
    source="botocore 1.44.5 EKS service model: labelKey and labelValue",
)
SCALE_SET_LABEL: Final = NameLimit(
    subject="label of an ARC runner scale set",
    max_length=255,
    pattern=None,
    source=(
        "actions/actions-runner-controller charts/gha-runner-scale-set/templates (shorter than "
        "256, since 0.14.0)"
    ),
)
GITLAB_RUNNER_DESCRIPTION: Final = NameLimit(
    subject="description of a GitLab runner",
    max_length=1024,
    pattern=None,
    source="gitlabhq/gitlabhq app/models/ci/runner.rb (validates :description)",
)
GITLAB_TAG: Final = NameLimit(
    subject="tag of a GitLab runner",
    max_length=255,
    pattern=None,
    source="gitlabhq/gitlabhq app/models/ci/tag.rb (validates :name)",
)
GITHUB_RUNNER: Final = NameLimit(
    subject="GitHub runner (not its group, for which GitHub names no limit)",
    max_length=64,
    pattern=None,
    source="myoung34/docker-github-actions-runner pull request 465, which met the limit",
)
OCI_DISPLAY_NAME: Final = NameLimit(
    subject="OKE cluster, OKE node pool or other OCI resource",
    max_length=255,
    pattern=None,
    source="OCI's API reference gives display names 1 to 255 characters (from memory)",
)
OCI_IAM_NAME: Final = NameLimit(
    subject="OCI policy or dynamic group",
    max_length=100,
    pattern=r"[A-Za-z0-9._-]+",
    source="OCI's Identity API reference (from memory, not confirmed)",
)
OCI_DNS_LABEL: Final = NameLimit(
    subject="DNS label of a VCN or subnet",
    max_length=15,
    pattern=r"[A-Za-z][A-Za-z0-9]*",
    source="pattern: pulumi_oci core.Vcn dns_label; length: OCI's API (from memory)",
)
OCI_TAG_KEY: Final = NameLimit(
    subject="key of an OCI free-form tag",
    max_length=100,
    pattern=r"[^\s.]+",
    source="https://docs.oracle.com/en-us/iaas/Content/Tagging (from memory, not confirmed)",
)
OCI_TAG_VALUE: Final = NameLimit(
    subject="value of an OCI free-form tag",
    max_length=256,
    pattern=None,
    source="https://docs.oracle.com/en-us/iaas/Content/Tagging (from memory, not confirmed)",
)

OCI_MAX_FREEFORM_TAGS: Final = 10
"""Free-form tags of one OCI resource (yugabyte/yugabyte-db OCICloudUtil.java, which checks it)."""

OCI_METADATA_MAX_BYTES: Final = 32_000
"""Metadata of one instance, user_data included: pulumi_oci core.Instance metadata."""

OCI_NSGS_PER_VNIC: Final = 5
"""Network security groups of one VNIC, so also of a pool or endpoint.

Source: https://docs.cloud.oracle.com/en-us/iaas/Content/Network/Concepts/securityrules.htm
"""

OKE_MIN_BOOT_VOLUME_GB: Final = 50
OKE_MAX_BOOT_VOLUME_GB: Final = 32_768
"""Boot volume of a node. Least: pulumi_oci containerengine.NodePool; most: from memory."""

GITLAB_RUNNER_MAX_TAGS: Final = 50
"""Tags of one GitLab runner: TAG_LIST_MAX_LENGTH in GitLab's app/models/ci/runner.rb."""

NODE_GROUP_MAX_TAINTS: Final = 50
"""Taints of one EKS managed node group: API_CreateNodegroup."""

AWS_MAX_TAGS: Final = 50
"""Tags of one AWS resource: botocore 1.44.5 EKS TagMap and IAM tagListType; EC2 has the same."""

AWS_TAG_PATTERN: Final = r"[\w .:/=+\-@]+"
"""What keys and values of tags are made of: the narrowest of the services used here, IAM.

Source: https://docs.aws.amazon.com/IAM/latest/APIReference/API_Tag.html ; that IAM does not tell
keys apart by case: IAM's user guide on tags, from memory.
"""
