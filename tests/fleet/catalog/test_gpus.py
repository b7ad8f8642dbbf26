import re

import pytest

from fleet.catalog import gpus
from fleet.catalog.charts import GPU_OPERATOR
from fleet.catalog.cuda import DRIVER_BRANCHES, MINIMUM_DRIVER, TOOLKIT_DRIVER, DriverBranch
from fleet.catalog.eks import KUBERNETES_VERSIONS
from fleet.catalog.gpu_operator import OPERATOR_RELEASES, OperatorRelease, operator_release
from fleet.catalog.gpus import FIRST_CUDA_OF_MAJOR, GPU_MODELS, GpuModel, usable_gpu_memory_mib
from fleet.catalog.mig import MIG_INSTANCES, mig_usable_mib
from tests.cases import for_each

# https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")


@for_each("model", GPU_MODELS.values(), ids=lambda model: model.name)
def test_the_labels_of_a_model_are_valid_label_values(model: GpuModel) -> None:
    assert LABEL_VALUE.fullmatch(model.accelerator_label)
    assert model.product is None or LABEL_VALUE.fullmatch(model.product)


def test_no_two_models_share_a_product_label() -> None:
    products = [model.product for model in GPU_MODELS.values() if model.product]
    assert len(products) == len(set(products)), "a node's label must name one model"


def test_every_model_with_mig_has_profiles() -> None:
    assert {name for name, model in GPU_MODELS.items() if model.mig} == set(MIG_INSTANCES)


def test_names_of_models_are_unique() -> None:
    names = [row[0] for row in gpus._ROWS]  # pyright: ignore[reportPrivateUsage]
    assert len(names) == len(set(names))


@for_each("model", GPU_MODELS.values(), ids=lambda model: model.name)
def test_the_usable_memory_is_slightly_less_than_the_data_sheet(model: GpuModel) -> None:
    assert 0.93 < model.usable_mib / (model.memory_gb * 1024) <= 1


def test_a_fraction_of_a_card_has_its_share_of_the_usable_memory() -> None:
    assert usable_gpu_memory_mib("L4", 24) == 23034
    assert usable_gpu_memory_mib("L4", 3) == 23034 // 8
    assert usable_gpu_memory_mib(None, 0) == 0


@for_each(("profile", "shown"), [("1g.5gb", 4864), ("3g.40gb", 40448)])
def test_the_memory_of_a_mig_instance_is_close_to_nvidia_smi(profile: str, shown: int) -> None:
    assert mig_usable_mib(profile) == pytest.approx(shown, rel=0.03)


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


EVERY_BRANCH = for_each("branch", DRIVER_BRANCHES.values(), ids=lambda branch: str(branch.branch))
EVERY_MODEL = for_each("model", GPU_MODELS.values(), ids=lambda model: model.name)


@for_each(("toolkit", "driver"), TOOLKIT_DRIVER.items())
def test_the_driver_of_a_toolkit_is_at_least_the_minimum_of_its_major(
    toolkit: tuple[int, int], driver: tuple[int, ...]
) -> None:
    assert driver[0] >= MINIMUM_DRIVER[toolkit[0]]


def test_a_newer_toolkit_needs_a_newer_driver() -> None:
    drivers = [driver for _, driver in sorted(TOOLKIT_DRIVER.items())]
    assert drivers == sorted(drivers)


def test_the_minimum_of_a_major_is_the_branch_of_its_first_toolkit() -> None:
    for major, floor in MINIMUM_DRIVER.items():
        first = min(toolkit for toolkit in TOOLKIT_DRIVER if toolkit[0] == major)
        assert TOOLKIT_DRIVER[first][0] == floor, major


@EVERY_BRANCH
def test_an_end_of_life_is_a_plausible_month(branch: DriverBranch) -> None:
    year, month = branch.end_of_life
    assert 2020 < year < 2035
    assert 1 <= month <= 12


@EVERY_MODEL
def test_the_first_driver_of_a_gpu_supports_its_first_cuda(model: GpuModel) -> None:
    driver = TOOLKIT_DRIVER.get(model.first_cuda)
    if driver is not None:
        assert model.first_driver_branch >= driver[0]
    else:
        assert model.first_cuda < min(TOOLKIT_DRIVER), "a toolkit older than the table"
        assert model.first_driver_branch < min(TOOLKIT_DRIVER.values())[0]


@EVERY_MODEL
def test_the_last_driver_of_a_gpu_runs_its_last_cuda(model: GpuModel) -> None:
    last = model.last_driver_branch
    assert last is None or model.first_driver_branch < last
    if last is not None:
        assert DRIVER_BRANCHES[last].max_cuda_major >= (model.last_cuda_major or 0)


@EVERY_MODEL
def test_the_first_cuda_of_a_major_is_not_newer_than_that_of_its_cards(model: GpuModel) -> None:
    assert FIRST_CUDA_OF_MAJOR[model.compute_capability[0]] <= model.first_cuda


def test_an_image_of_cuda_11_1_has_machine_code_for_an_l4_but_none_for_an_h100() -> None:
    assert FIRST_CUDA_OF_MAJOR[GPU_MODELS["L4"].compute_capability[0]] <= (11, 1)
    assert FIRST_CUDA_OF_MAJOR[GPU_MODELS["H100"].compute_capability[0]] > (11, 1)
