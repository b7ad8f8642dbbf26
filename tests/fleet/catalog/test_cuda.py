"""CUDA toolkits, driver branches, and the GPUs that need them."""

from fleet.catalog.cuda import DRIVER_BRANCHES, MINIMUM_DRIVER, TOOLKIT_DRIVER, DriverBranch
from fleet.catalog.gpus import FIRST_CUDA_OF_MAJOR, GPU_MODELS, GpuModel
from tests.cases import for_each

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
