"""Values of AWS's `aws-efa-k8s-device-plugin` chart, v0.5.30: advertises `vpc.amazonaws.com/efa`.

The chart has no `affinity`: it selects nodes by `supportedInstanceLabels`, label keys and the
values that each may have, by default a list of instance types. Both are lists, so given here they
replace the default, and the plugin is tied to pools instead. It tolerates only what is given.
Source: aws/eks-charts:stable/aws-efa-k8s-device-plugin (values.yaml, templates/daemonset.yaml)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fleet.kubernetes.pods import ResourceRequirements, Toleration
from fleet.kubernetes.values import key


@dataclass(frozen=True, kw_only=True, slots=True)
class EfaPluginValues:
    """The values of the plugin: it runs on nodes where a label of `labels` has one of `values`.

    Raises ValueError when either is empty, because the plugin would then run nowhere.
    """

    labels: tuple[str, ...] = field(metadata=key("supportedInstanceLabels", "keys"))
    values: tuple[str, ...] = field(metadata=key("supportedInstanceLabels", "values"))
    tolerations: tuple[Toleration, ...]
    resources: ResourceRequirements | None = None
    image_repository: str | None = field(default=None, metadata=key("image", "repository"))

    def __post_init__(self) -> None:
        if not self.labels or not self.values:
            raise ValueError(
                "the EFA plugin would run on no node: give the pool label in `labels` and the "
                "pools with EFA in `values`"
            )
