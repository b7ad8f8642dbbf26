import re

import pytest

from fleet.catalog.charts import GPU_OPERATOR
from fleet.catalog.cuda import DRIVER_BRANCHES
from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.gpu_operator import OPERATOR_RELEASES, OperatorRelease, operator_release
from fleet.catalog.gpus import GPU_MODELS

EVERY_RELEASE = pytest.mark.parametrize(
    "release", OPERATOR_RELEASES.values(), ids=lambda release: release.name
)


def _number(release: OperatorRelease) -> tuple[int, ...]:
    return tuple(map(int, release.name.split(".")))


def test_the_pinned_chart_is_a_release_that_nvidia_supports() -> None:
    release = operator_release(GPU_OPERATOR.version)
    assert release is not None
    assert release.status == "supported"


@pytest.mark.parametrize("minor", KUBERNETES_VERSIONS)
def test_the_pinned_chart_runs_on_every_kubernetes_version_that_is_offered(minor: str) -> None:
    release = operator_release(GPU_OPERATOR.version)
    assert release is not None
    assert release.runs_on(minor)


# The pages of 26.7 and 26.3: "1.33---1.36" and "1.32---1.35".
@pytest.mark.parametrize(
    ("version", "kubernetes", "listed"),
    [
        ("v26.7.0", "1.32", False),
        ("v26.7.0", "1.33", True),
        ("v26.7.1", "1.36", True),
        ("v26.7.0", "1.37", False),
        ("v26.3.3", "1.32", True),
        ("26.3.0", "1.36", False),
        ("v26.7.0", "1.35.8", True),
        ("v26.7.0", "2.35", False),
    ],
)
def test_a_release_lists_a_range_of_kubernetes_versions(
    version: str, kubernetes: str, listed: bool
) -> None:
    release = operator_release(version)
    assert release is not None
    assert release.runs_on(kubernetes) is listed


def test_a_release_that_the_table_lacks_is_not_made_up() -> None:
    assert operator_release("v24.9.2") is None
    assert operator_release("v27.1.0") is None


def test_only_the_newest_release_is_supported_and_only_the_one_before_it_deprecated() -> None:
    newest_first = sorted(OPERATOR_RELEASES.values(), key=_number, reverse=True)
    statuses = [release.status for release in newest_first]
    assert statuses == ["supported", "deprecated"] + ["ended"] * (len(statuses) - 2)


def test_a_newer_release_lists_no_older_kubernetes() -> None:
    oldest_first = sorted(OPERATOR_RELEASES.values(), key=_number)
    ranges = [(r.oldest_kubernetes, r.newest_kubernetes) for r in oldest_first]
    assert ranges == sorted(ranges)
    assert all(oldest < newest for oldest, newest in ranges)


@EVERY_RELEASE
def test_the_default_driver_is_on_the_list_of_its_release(release: OperatorRelease) -> None:
    assert release.default_driver in release.drivers
    assert all(re.fullmatch(r"\d{3}\.\d{2,3}\.\d{2}", driver) for driver in release.drivers)
    branches = {int(driver.partition(".")[0]) for driver in release.drivers}
    assert branches <= set(DRIVER_BRANCHES), "each branch has an end of life that a check can name"


def test_the_default_driver_of_the_pinned_chart_ends_the_life_of_pascal_and_volta() -> None:
    release = operator_release(GPU_OPERATOR.version)
    assert release is not None
    branch = int(release.default_driver.partition(".")[0])
    lost = {
        name
        for name, model in GPU_MODELS.items()
        if model.last_driver_branch is not None and model.last_driver_branch < branch
    }
    assert lost == {"P100", "V100", "V100-32GB", "P40"}


@EVERY_RELEASE
def test_no_release_has_a_driver_container_for_amazon_or_oracle_linux(
    release: OperatorRelease,
) -> None:
    assert not any("Amazon" in name or "Oracle" in name for name in release.driver_systems)
    assert "Ubuntu 24.04" in release.driver_systems
