"""Limits of names and lists that a cloud, a chart, GitHub or GitLab enforces.

Lengths are in characters. `pattern` is a regular expression of the whole name.
"""

from dataclasses import dataclass
from typing import Final

_DNS_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"


@dataclass(frozen=True, slots=True)
class NameLimit:
    """The maximum length and the allowed characters of a name; an empty pattern allows any."""

    max_length: int
    pattern: str = ""


# actions/actions-runner-controller charts/gha-runner-scale-set/templates (fails above 45).
# Inferred: the pattern, since the name becomes the name of Kubernetes objects.
SCALE_SET: Final = NameLimit(45, _DNS_LABEL)

HELM_RELEASE: Final = NameLimit(53, _DNS_LABEL)
"""helm/helm pkg/chartutil/validate_name.go."""

# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
EKS_NODE_GROUP: Final = NameLimit(63, r"[0-9A-Za-z][A-Za-z0-9_-]*")
EKS_LABEL: Final = NameLimit(63)
"""Key or value of a label of an EKS managed node group: botocore 1.44.5 labelKey, labelValue."""

# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
KUBERNETES_LABEL: Final = NameLimit(63, _DNS_LABEL)
"""Namespace, Service or other DNS label."""

# gitlabhq/gitlabhq app/models/ci/tag.rb (validates :name)
GITLAB_TAG: Final = NameLimit(255)

# https://docs.oracle.com/en-us/iaas/Content/Tagging (from memory, not confirmed)
OCI_TAG_KEY: Final = NameLimit(100, r"[^\s.]+")
"""Key of a free-form tag."""

OCI_MAX_FREEFORM_TAGS: Final = 10
"""Free-form tags of one OCI resource (yugabyte/yugabyte-db OCICloudUtil.java checks it)."""

OKE_MIN_BOOT_VOLUME_GB: Final = 50
OKE_MAX_BOOT_VOLUME_GB: Final = 32_768
"""Boot volume of a node. Minimum: pulumi_oci containerengine.NodePool; maximum: from memory."""

GITLAB_RUNNER_MAX_TAGS: Final = 50
"""Tags of one GitLab runner: TAG_LIST_MAX_LENGTH in GitLab's app/models/ci/runner.rb."""

AWS_MAX_TAGS: Final = 50
"""Tags of one AWS resource: botocore 1.44.5 EKS TagMap and IAM tagListType; EC2 has the same."""

AWS_TAG_PATTERN: Final = r"[\w .:/=+\-@]+"
"""Characters of keys and values of tags: those of IAM, which are the narrowest.

Source: https://docs.aws.amazon.com/IAM/latest/APIReference/API_Tag.html . IAM compares keys without
case (IAM's user guide on tags, from memory).
"""
