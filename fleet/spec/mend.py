"""Puts something right in the place of what is wrong, so that the rest of a file can be judged.

What was wrong has been told by then, and a stack with an error is never deployed: nothing of this
reaches a cloud.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.findings import Path
from fleet.spec.eks import Eks, EksNetwork
from fleet.spec.explain import model_at
from fleet.spec.lanes import GitHub, GitHubApp, GitHubLane, GitLabLane
from fleet.spec.pools import EksPool
from fleet.spec.stack import Stack

_CIDR = "10.0.0.0/16"
_MANY = 1_000_000
_NETWORK = {"cidr": _CIDR, "zones": ["us-east-1a", "us-east-1b"]}
_POOL = {"instance_types": ["m6i.large"], "min_size": 1, "max_size": _MANY}
_SECRET = {"secret": "unknown"}

_STAND_INS: dict[type[BaseModel], dict[str, object]] = {
    Eks: {
        "region": "us-east-1",
        "version": next(reversed(KUBERNETES_VERSIONS)),
        "network": _NETWORK,
        "pools": {"system": _POOL},
    },
    EksNetwork: {"cidr": _CIDR, "vpc_id": "vpc-00000000"},
    EksPool: _POOL,
    GitHub: {"url": "https://github.com/unknown"},
    GitHubApp: {"id": 1, "installation_id": 1, "private_key": _SECRET},
    GitHubLane: {"pools": ["unknown"], "max_runners": _MANY},
    GitLabLane: {"pools": ["unknown"]},
}
"""Values by field, for fields without a default and for those whose absence is an error too."""


def mend(data: dict[str, Any], location: Path) -> None:
    """Replace the value at `location`, or remove it where its key need not be there.

    Where neither can be done, what holds it is mended; at the top that empties `data`.
    """
    holders: list[Any] = [data]
    for part in location[:-1]:
        try:
            holders.append(holders[-1][part])
        except (KeyError, IndexError, TypeError):
            return  # an earlier mending has taken it away
    for index in reversed(range(len(location))):
        if _mended(holders[index], location[:index], location[index]):
            return
    data.clear()


def _mended(holder: Any, location: Path, key: str | int) -> bool:
    if not isinstance(holder, dict):
        return False  # one wrong item spoils its list
    model = model_at(Stack, location)
    stand_in = _STAND_INS.get(model, {}).get(str(key)) if model is not None else None
    if stand_in is not None:
        holder[key] = stand_in
        return True
    field = model.model_fields.get(str(key)) if model is not None else None
    if field is not None and field.is_required():
        return False
    holder.pop(key, None)
    return True
