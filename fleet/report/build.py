"""The report of a fleet: totals, clusters with their pools and lanes, quotas and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from functools import reduce
from operator import add

from fleet.catalog.cuda import DRIVER_BRANCHES
from fleet.catalog.gpus import GPU_MODELS
from fleet.clusters.eks import EksPool
from fleet.clusters.eks_network import ExistingNetwork, NewNetwork
from fleet.clusters.existing import ExistingPlan
from fleet.clusters.nodes import Pool
from fleet.clusters.oke import OkePlan, OkePool
from fleet.clusters.oke_network import OkeExistingNetwork, OkeNewNetwork
from fleet.config.stack import Cluster
from fleet.cost import MonthlyCost, Price, monthly_cost, not_counted, price
from fleet.findings import Finding
from fleet.load import Fleet
from fleet.plan import ClusterPlan
from fleet.quotas import quotas
from fleet.report import model
from fleet.report.lanes import lane_section, waiting_nodes


def build_report(fleet: Fleet, *, stack: str | None = None) -> model.Report:
    """Return the report of a fleet; `stack` is its name. It contains no secret."""
    clusters = fleet.plan.clusters
    waiting = {cluster.name: waiting_nodes(cluster.lanes) for cluster in clusters}
    return model.Report(
        version=model.VERSION,
        stack=stack,
        date=fleet.today.isoformat(),
        totals=_totals(clusters, waiting),
        clusters={
            one.name: _cluster(one, fleet.stack.clusters[one.name], waiting[one.name])
            for one in clusters
        },
        quotas=[model.Quota.model_validate(asdict(need)) for need in quotas(fleet.plan)],
        findings=[finding_section(one) for one in fleet.findings],
        silenced=[
            model.Silenced(**finding_section(one.finding).model_dump(), reason=one.reason)
            for one in fleet.silenced
        ],
    )


def _totals(
    clusters: Collection[ClusterPlan], waiting: Mapping[str, Mapping[str, int]]
) -> model.Totals:
    pools = [(pool, waiting[one.name].get(pool.name, 0)) for one in clusters for pool in one.pools]
    gpus: Counter[str] = Counter()
    dates: list[str] = []
    for pool, _ in pools:
        if pool.gpu is not None:
            gpus[_model(pool)] += 0 if pool.paused else pool.nodes[0].gpus * pool.max_size
        found = price(pool)
        if found is not None and found.date is not None:
            dates.append(found.date.isoformat())
    return model.Totals(
        usd_per_month=_cost(pools),
        price_dates=[min(dates), max(dates)] if dates else [],
        gpus={model: gpus[model] for model in sorted(gpus)},
        lanes=sum(len(one.lanes) for one in clusters),
        pools=len(pools),
    )


def _cost(pools: Iterable[tuple[Pool, int]]) -> model.Range:
    """Return the monthly cost of pools, each with its number of nodes for waiting runners."""
    return _range(reduce(add, (monthly_cost(pool, waiting=n) for pool, n in pools), MonthlyCost()))


def _range(cost: MonthlyCost) -> model.Range:
    return model.Range(floor=round(cost.floor, 2), ceiling=round(cost.ceiling, 2))


def _model(pool: Pool) -> str:
    """Return the GPU model, with the memory of a fraction of a card."""
    model, memory = pool.gpu or "", _gpu_memory_gb(pool)
    whole = GPU_MODELS[model].memory_gb
    is_card = memory == whole or pool.mig_instances > 1
    return model if is_card else f"{model} ({memory} of {whole} GB)"


def _gpu_memory_gb(pool: Pool) -> int | None:
    return pool.nodes[0].gpu_memory_gb if pool.gpu is not None else None


def finding_section(finding: Finding) -> model.Finding:
    """Return a finding as a part of the report."""
    return model.Finding(
        rule=finding.rule,
        severity=finding.severity,
        path=finding.path,
        message=finding.message,
        remedy=finding.remedy,
    )


def _driver_end(driver: str) -> str | None:
    branch = DRIVER_BRANCHES.get(int(driver.partition(".")[0]))
    return "{}-{:02}".format(*branch.end_of_life) if branch is not None else None


def _cluster(cluster: ClusterPlan, spec: Cluster, waiting: Mapping[str, int]) -> model.Cluster:
    platform = cluster.platform
    existing = isinstance(platform, ExistingPlan)
    pools = [(pool, waiting.get(pool.name, 0)) for pool in cluster.pools]
    end = platform.supported_until
    drivers = sorted({pool.driver for pool in cluster.pools if pool.driver is not None})
    return model.Cluster(
        kind=platform.kind,
        region=platform.region,
        account=platform.profile,
        compartment=platform.compartment_id if isinstance(platform, OkePlan) else None,
        context=platform.context if existing else None,
        version=platform.version,
        support_end=end.isoformat() if end is not None else None,
        support_rule=platform.support_rule,
        network=None if existing else _network(platform.network),
        tags={} if existing else platform.tags,
        drivers={driver: _driver_end(driver) for driver in drivers},
        charts={one.chart.rpartition("/")[2]: one.version for one in cluster.releases},
        usd_per_month=None if existing else _cost(pools),
        pools={pool.name: _pool(pool, number) for pool, number in pools},
        lanes={f"{lane.forge}/{lane.name}": lane_section(lane, spec) for lane in cluster.lanes},
    )


def _network(
    network: NewNetwork | ExistingNetwork | OkeNewNetwork | OkeExistingNetwork,
) -> model.Network:
    match network:
        case NewNetwork():
            subnets = {zone.name: zone.private_cidr for zone in network.zones}
            return model.Network(id=None, cidr=network.cidr, subnets=subnets)
        case ExistingNetwork():
            return model.Network(id=network.vpc_id, cidr=None, subnets=network.subnet_ids)
        case OkeNewNetwork():
            return model.Network(id=None, cidr=network.cidr, subnets={**network.subnets})
        case OkeExistingNetwork():
            return model.Network(id=network.vcn_id, cidr=None, subnets={**network.subnet_ids})


def _pool(pool: Pool, waiting: int) -> model.Pool:
    node, found, free = pool.nodes[0], price(pool), pool.free()
    return model.Pool(
        path=pool.path,
        role=pool.role,
        kinds=list(pool.kinds),
        gpu=pool.gpu,
        gpu_memory_gb=_gpu_memory_gb(pool),
        gpus=node.gpus,
        advertised=node.advertised,
        time_slices=pool.time_slices,
        mig_instances=pool.mig_instances,
        min=pool.min_size,
        max=pool.max_size,
        idle=min(max(pool.min_size, waiting), pool.max_size),
        capacity=pool.capacity,
        not_counted=not_counted(pool),
        zones=_zones(pool),
        driver=pool.driver,
        free=model.Amounts(**asdict(free)),
        devices=dict(pool.devices),
        paused=pool.paused,
        drain_minutes=pool.drain_minutes,
        price=_price(found) if found is not None else None,
        usd_per_month=_range(monthly_cost(pool, waiting=waiting)) if found is not None else None,
        made_of=_made_of(pool),
        labels=dict(pool.labels),
        taints=[f"{taint.key}={taint.value}:{taint.effect}" for taint in pool.taints],
    )


def _price(price: Price) -> model.Price:
    return model.Price(
        usd_per_hour=round(price.usd_per_hour, 6),
        kind=price.kind,
        region=price.region,
        date=price.date.isoformat() if price.date is not None else None,
        source=price.source,
    )


def _zones(pool: Pool) -> list[str]:
    if isinstance(pool, EksPool):
        return list(pool.zones)
    return list(pool.availability_domains) if isinstance(pool, OkePool) else []


def _made_of(pool: Pool) -> model.MadeOf:
    eks = pool if isinstance(pool, EksPool) else None
    oke = pool if isinstance(pool, OkePool) else None
    made = eks or oke
    return model.MadeOf(
        image_type=eks.ami_type if eks else None,
        image=eks.release_version if eks else oke.image_id if oke else None,
        disk_gib=eks.disk_gib if eks else oke.boot_volume_gb if oke else None,
        raid0=eks.raid0 if eks else None,
        efa_interfaces=eks.efa_interfaces if eks else None,
        reservation=made.capacity_reservation_id if made else None,
        ocpus=oke.ocpus if oke else None,
        memory_gb=oke.memory_gb if oke else None,
        max_pods=oke.max_pods if oke else None,
        cycling=oke.node_cycling if oke else None,
    )
