import pytest

from fleet.catalog.charts import GPU_OPERATOR
from fleet.catalog.cuda import DRIVER_BRANCHES
from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.gpu_operator import OPERATOR_RELEASES, OperatorRelease, operator_release
from fleet.catalog.gpus import GPU_MODELS


def _number(release: OperatorRelease) -> tuple[int, ...]:
    return tuple(map(int, release.name.split(".")))


@pytest.mark.parametrize("minor", KUBERNETES_VERSIONS)
def test_the_pinned_chart_supports_every_offered_kubernetes_version(minor: str) -> None:
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
def test_a_release_supports_a_range_of_kubernetes_versions(
    version: str, kubernetes: str, listed: bool
) -> None:
    release = operator_release(version)
    assert release is not None
    assert release.runs_on(kubernetes) is listed


def test_an_unknown_release_is_none() -> None:
    assert operator_release("v24.9.2") is None
    assert operator_release("v27.1.0") is None


def test_a_newer_release_supports_no_older_kubernetes() -> None:
    oldest_first = sorted(OPERATOR_RELEASES.values(), key=_number)
    ranges = [(r.oldest_kubernetes, r.newest_kubernetes) for r in oldest_first]
    assert ranges == sorted(ranges)
    assert all(oldest < newest for oldest, newest in ranges)


def test_the_default_driver_of_the_pinned_chart_drops_pascal_and_volta() -> None:
    release = operator_release(GPU_OPERATOR.version)
    assert release is not None
    branch = int(release.default_driver.partition(".")[0])
    assert branch in DRIVER_BRANCHES, "its end of life is known"
    lost = {
        name
        for name, model in GPU_MODELS.items()
        if model.last_driver_branch is not None and model.last_driver_branch < branch
    }
    assert lost == {"P100", "V100", "V100-32GB", "P40"}
