"""How Kubernetes spells label keys, label values and taints.

Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_DOMAIN: Final = r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"

LABEL_KEY: Final = re.compile(f"({_DOMAIN}/)?{_NAME}")
LABEL_VALUE: Final = re.compile(f"({_NAME})?")
NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
