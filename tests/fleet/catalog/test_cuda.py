"""CUDA toolkits, driver branches, and the GPUs that need them."""

import pytest

from fleet.catalog.cuda import (
    DRIVER_BRANCHES,
    MINIMUM_DRIVER,
    TOOLKIT_DRIVER,
    DriverBranch,
)
from fleet.catalog.gpus import FIRST_CUDA_OF_MAJOR, GPU_MODELS, GpuModel

EVERY_BRANCH = pytest.mark.parametrize(
    "branch", DRIVER_BRANCHES.values(), ids=lambda branch: str(branch.branch)
)
EVERY_MODEL = pytest.mark.parametrize("model", GPU_MODELS.values(), ids=lambda model: model.name)


@pytest.mark.parametrize(("toolkit", "driver"), TOOLKIT_DRIVER.items())
def test_the_driver_of_a_toolkit_meets_the_floor_of_its_major(
    toolkit: tuple[int, int], driver: tuple[int, ...]
) -> None:
    assert driver[0] >= MINIMUM_DRIVER[toolkit[0]]


def test_a_newer_toolkit_wants_a_newer_driver() -> None:
    drivers = [driver for _, driver in sorted(TOOLKIT_DRIVER.items())]
    assert drivers == sorted(drivers)


def test_the_floor_of_a_major_is_the_branch_of_its_first_toolkit() -> None:
    for major, floor in MINIMUM_DRIVER.items():
        first = min(toolkit for toolkit in TOOLKIT_DRIVER if toolkit[0] == major)
        assert TOOLKIT_DRIVER[first][0] == floor, major


# From NVIDIA's release notes (table of toolkits and drivers), not from the table here.
@pytest.mark.parametrize(
    ("toolkit", "driver"),
    [
        ((11, 0), (450, 51, 5)),
        ((11, 4), (470, 42, 1)),
        ((11, 8), (520, 61, 5)),
        ((12, 4), (550, 54, 14)),
        ((12, 8), (570, 26)),
        ((13, 0), (580, 65, 6)),
        ((13, 3), (610, 43, 2)),
    ],
)
def test_a_toolkit_has_the_driver_of_nvidias_release_notes(
    toolkit: tuple[int, int], driver: tuple[int, ...]
) -> None:
    assert TOOLKIT_DRIVER[toolkit] == driver


def test_there_is_no_cuda_12_7() -> None:
    assert (12, 7) not in TOOLKIT_DRIVER


@EVERY_BRANCH
def test_a_branch_runs_the_newest_major_whose_floor_it_meets(branch: DriverBranch) -> None:
    met = [major for major, floor in MINIMUM_DRIVER.items() if branch.branch >= floor]
    assert branch.max_cuda_major == max(met)


@EVERY_BRANCH
def test_an_end_of_life_is_a_month_and_says_where_it_is_from(branch: DriverBranch) -> None:
    year, month = branch.end_of_life
    assert 2023 <= year <= 2028
    assert 1 <= month <= 12
    assert branch.source


# NVIDIA's page of September 2026 and the notices that its own projects gave.
@pytest.mark.parametrize(
    ("number", "kind", "end"),
    [
        (450, "LTS", (2023, 7)),
        (470, "LTS", (2024, 7)),
        (535, "LTS", (2026, 6)),
        (550, "production", (2025, 6)),
        (570, "production", (2026, 2)),
        (580, "LTS", (2028, 6)),
        (595, "production", (2027, 3)),
        (610, "new feature", (2026, 8)),
    ],
)
def test_a_branch_ends_when_nvidia_says(number: int, kind: str, end: tuple[int, int]) -> None:
    branch = DRIVER_BRANCHES[number]
    assert (branch.kind, branch.end_of_life) == (kind, end)


def test_every_branch_between_the_lts_ones_has_ended_before_580() -> None:
    assert all(
        branch.end_of_life < DRIVER_BRANCHES[580].end_of_life
        for number, branch in DRIVER_BRANCHES.items()
        if number != 580
    )


@EVERY_MODEL
def test_the_first_driver_of_a_gpu_is_the_one_of_its_first_cuda_or_newer(model: GpuModel) -> None:
    driver = TOOLKIT_DRIVER.get(model.first_cuda)
    if driver is not None:
        assert model.first_driver_branch >= driver[0]
    else:
        assert model.first_cuda < min(TOOLKIT_DRIVER), "a toolkit older than the table"
        assert model.first_driver_branch < min(TOOLKIT_DRIVER.values())[0]


def test_an_rtx_pro_6000_wants_a_newer_driver_than_a_b200_and_an_a100_an_older_one() -> None:
    first = {name: model.first_driver_branch for name, model in GPU_MODELS.items()}
    assert first["RTX PRO 6000"] == 575
    assert first["B200"] == 570
    assert first["A100-40GB"] == 450


@EVERY_MODEL
def test_a_gpu_has_a_driver_branch_to_live_on(model: GpuModel) -> None:
    last = model.last_driver_branch
    assert last is None or model.first_driver_branch < last
    if last is not None:
        assert DRIVER_BRANCHES[last].max_cuda_major >= (model.last_cuda_major or 0)


@EVERY_MODEL
def test_the_first_cuda_of_a_major_is_no_newer_than_that_of_any_card_of_it(
    model: GpuModel,
) -> None:
    assert FIRST_CUDA_OF_MAJOR[model.compute_capability[0]] <= model.first_cuda


def test_an_image_of_cuda_11_1_has_machine_code_for_an_l4_but_none_for_an_h100() -> None:
    assert FIRST_CUDA_OF_MAJOR[GPU_MODELS["L4"].compute_capability[0]] <= (11, 1)
    assert FIRST_CUDA_OF_MAJOR[GPU_MODELS["H100"].compute_capability[0]] > (11, 1)
