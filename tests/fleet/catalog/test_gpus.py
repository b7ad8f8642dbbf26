import re

import pytest

from fleet.catalog import gpus
from fleet.catalog.gpus import GPU_MODELS, GpuModel, usable_gpu_memory_mib
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
