"""Random stacks for property tests: clusters of each platform, their pools, GPU stack and lanes."""

from typing import Any

from hypothesis import strategies as st

from fleet.catalog.ec2 import INSTANCE_TYPES
from fleet.catalog.oci import SHAPES

_NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,18}[a-z0-9])?", fullmatch=True)
_LANE_NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,43}[a-z0-9])?", fullmatch=True)
_SYSTEM = "system"
_GPU_TYPES = [kind for kind, each in INSTANCE_TYPES.items() if each.gpu not in (None, "V100")]
_GPU_SHAPES = [name for name, shape in SHAPES.items() if shape.gpu == "A10"]
_PLUGIN: list[dict[str, Any]] = [
    {"advertiser": "device_plugin"},
    {"advertiser": "operator", "operator": {}},
]
_GPU_STACKS: list[dict[str, Any]] = [{}, {"operator": {"metrics": True}}, *_PLUGIN]
_DRIVER_BY_OPERATOR: dict[str, Any] = {"operator": {"driver": True, "toolkit": True}}
_SHARING = st.sampled_from([None, {"time_slicing": 2}, {"time_slicing": 5}])
_LABELS = st.dictionaries(
    st.sampled_from(["example.com/team", "example.com/tier", "zone-of.example.com/rack"]),
    st.sampled_from(["a", "b", "true"]),
    max_size=2,
)
_TAINTS = st.lists(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(["nvidia.com/gpu", "dedicated", "example.com/gpu"]),
            "value": st.sampled_from(["", "true", "ml"]),
            "effect": st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
        }
    ),
    max_size=2,
    unique_by=lambda taint: taint["key"],
)


def _given(**keys: Any) -> dict[str, Any]:
    """Return the keys that have a value."""
    return {key: value for key, value in keys.items() if value is not None}


@st.composite
def _eks(draw: st.DrawFn, gpu_stack: dict[str, Any]) -> dict[str, Any]:
    pools: dict[str, Any] = {
        _SYSTEM: {"instance_types": ["m6i.2xlarge"], "min_size": 2, "max_size": 9}
    }
    for name in draw(st.lists(_NAMES, min_size=1, max_size=3, unique=True)):
        most = draw(st.integers(1, 5))
        pools[name] = _given(
            instance_types=[draw(st.sampled_from(_GPU_TYPES))],
            min_size=draw(st.integers(0, most)),
            max_size=most,
            capacity_type=draw(st.sampled_from([None, "SPOT"])),
            sharing=draw(_SHARING),
            labels=draw(_LABELS),
            paused=draw(st.sampled_from([None, None, True])),
        )
    return {
        "region": "us-west-2",
        "version": draw(st.sampled_from(["1.33", "1.34", "1.35"])),
        "network": {"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"]},
        "pools": pools,
    }


@st.composite
def _oke(draw: st.DrawFn, gpu_stack: dict[str, Any]) -> dict[str, Any]:
    system = {"shape": "VM.Standard.E5.Flex", "ocpus": 8, "memory_gb": 64}
    pools: dict[str, Any] = {_SYSTEM: {**system, "min_size": 2, "max_size": 2}}
    for name in draw(st.lists(_NAMES, min_size=1, max_size=3, unique=True)):
        most = draw(st.integers(1, 5))
        shape = draw(st.sampled_from(_GPU_SHAPES))
        pools[name] = _given(
            shape=shape,
            min_size=draw(st.integers(0, most)),
            max_size=most,
            preemptible=draw(st.sampled_from([None, True])) if shape.startswith("VM.") else None,
            sharing=draw(_SHARING) if gpu_stack in _PLUGIN else None,
            labels=draw(_LABELS),
        )
    return {
        "region": "us-ashburn-1",
        "compartment_id": "ocid1.compartment.oc1..aaaaaaaaexample",
        "availability_domains": ["Uocm:US-ASHBURN-AD-1"],
        "version": draw(st.sampled_from(["1.34", "1.35"])),
        "network": {"cidr": "10.2.0.0/16"},
        "pools": pools,
    }


@st.composite
def _existing(draw: st.DrawFn, gpu_stack: dict[str, Any]) -> dict[str, Any]:
    node = {"cpu": 32, "memory": "256Gi", "disk": "900Gi", "count": 3}
    drivers = [None] if gpu_stack == _DRIVER_BY_OPERATOR else ["580.95.05", None]
    sharing = draw(_SHARING)
    pools: dict[str, Any] = {_SYSTEM: {**node, "labels": {"example.com/pool": _SYSTEM}}}
    for name in draw(st.lists(_NAMES, min_size=1, max_size=3, unique=True)):
        pools[name] = {
            **node,
            "labels": {"example.com/pool": name, **draw(_LABELS)},
            "taints": draw(_TAINTS),
            "gpu": draw(st.sampled_from(["T4", "A100-40GB", "L4"])),
            "gpus": draw(st.integers(1, 4)),
            **_given(
                driver=draw(st.sampled_from(drivers)),
                sharing=sharing,
                devices=draw(st.sampled_from([None, {"dri": 2}])),
            ),
        }
    return {"context": "site", "version": "1.35", "pools": pools}


@st.composite
def stacks(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the data of a stack with one cluster, most of them ones that may be deployed."""
    kind = draw(st.sampled_from(["eks", "oke", "existing"]))
    gpu_stacks = [*_GPU_STACKS, _DRIVER_BY_OPERATOR] if kind == "existing" else _GPU_STACKS
    gpu_stack = draw(st.sampled_from(gpu_stacks))
    platform = draw({"eks": _eks, "oke": _oke, "existing": _existing}[kind](gpu_stack))
    pools = [name for name in platform["pools"] if name != _SYSTEM]
    orders = st.lists(st.sampled_from(pools), min_size=1, max_size=2, unique=True)
    github = {
        name: _given(
            pools=draw(orders),
            gpus=1,
            max_runners=draw(st.integers(1, 9)),
            container_mode=draw(
                st.sampled_from([None, "kubernetes", "kubernetes-novolume", "dind"])
            ),
            labels=draw(st.sampled_from([None, ["cuda"]])),
        )
        for name in draw(st.lists(_LANE_NAMES, max_size=2, unique=True))
    }
    gitlab = {
        name: _given(
            pools=draw(orders),
            gpus=1,
            concurrent=draw(st.integers(1, 9)),
            services=draw(st.sampled_from([None, 1])),
            runner={"group_id": 1},
        )
        for name in draw(st.lists(_LANE_NAMES, max_size=2, unique=True))
    }
    cpu = {"pools": [_SYSTEM], "cpu": 1, "memory": "2Gi", "max_runners": 1}
    url = "https://github.com/example-org"
    cluster = {
        kind: platform,
        "gpu_stack": gpu_stack,
        "github": {"url": url, "existing_secret": "app", "lanes": {**github, "cpu": cpu}},
        **({"gitlab": {"api_token": {"secret": "token"}, "lanes": gitlab}} if gitlab else {}),
    }
    version = draw(st.sampled_from([None, None, "0.14.1"]))
    name = draw(st.from_regex(r"[a-z]([-a-z0-9]{0,32}[a-z0-9])?", fullmatch=True))
    return {
        "clusters": {name: cluster},
        **({"charts": {"arc_version": version}} if version else {}),
    }
