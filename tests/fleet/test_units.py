from dataclasses import FrozenInstanceError

import pytest

from fleet.kubernetes.resources import (
    Resources,
    format_cpu,
    format_memory,
    parse_cpu,
    parse_memory_mib,
)


@pytest.mark.parametrize(
    ("quantity", "cpu_m"),
    [
        ("500m", 500),
        ("2", 2000),
        ("1.5", 1500),
        (".25", 250),
        ("0", 0),
        ("+1", 1000),
        ("1e3m".removesuffix("m"), 1_000_000),
        ("2k", 2_000_000),
    ],
)
def test_a_cpu_quantity_becomes_millicores(quantity: str, cpu_m: int) -> None:
    assert parse_cpu(quantity) == cpu_m


def test_a_fraction_of_a_millicore_counts_as_a_whole_one() -> None:
    assert parse_cpu("0.0001") == 1
    assert parse_cpu("1500001u") == 1501


@pytest.mark.parametrize(
    ("quantity", "memory_mib"),
    [
        ("16Gi", 16 * 1024),
        ("512Mi", 512),
        ("1.5Gi", 1536),
        ("1G", 953),
        ("1048575", 0),
        ("1048576", 1),
        ("2097152Ki", 2048),
        ("1Ti", 1024 * 1024),
        ("1E", 953_674_316_406),
        ("1e9", 953),
    ],
)
def test_a_memory_quantity_becomes_whole_mib_rounded_down(quantity: str, memory_mib: int) -> None:
    assert parse_memory_mib(quantity) == memory_mib


@pytest.mark.parametrize("wrong", ["", "m", "1 Gi", "16GB", "16gi", "-1", "1e", "1.2.3", "0x10"])
def test_what_is_not_a_quantity_is_refused_with_what_to_write(wrong: str) -> None:
    with pytest.raises(ValueError, match=r'not a Kubernetes quantity: write cores such as "2"'):
        parse_cpu(wrong)
    with pytest.raises(ValueError, match=r"not a Kubernetes quantity: write a number and a unit"):
        parse_memory_mib(wrong)


@pytest.mark.parametrize(("cpu_m", "text"), [(2500, "2500m"), (2000, "2"), (80, "80m"), (0, "0")])
def test_millicores_are_written_as_kubernetes_writes_them(cpu_m: int, text: str) -> None:
    assert format_cpu(cpu_m) == text


@pytest.mark.parametrize(
    ("memory_mib", "text"), [(16384, "16Gi"), (1234, "1234Mi"), (512, "512Mi"), (0, "0Mi")]
)
def test_mib_are_written_as_kubernetes_writes_them(memory_mib: int, text: str) -> None:
    assert format_memory(memory_mib) == text


@pytest.mark.parametrize("amount", [0, 1, 999, 1000, 1024, 123_456, 2_048_000])
def test_what_is_written_is_read_back_as_the_same_amount(amount: int) -> None:
    assert parse_cpu(format_cpu(amount)) == amount
    assert parse_memory_mib(format_memory(amount)) == amount


def test_resources_add_and_subtract_each_kind_on_its_own() -> None:
    node = Resources(cpu_m=4000, memory_mib=16384, disk_mib=1000)
    pod = Resources(cpu_m=500, memory_mib=1024, disk_mib=1)

    assert node + pod == Resources(cpu_m=4500, memory_mib=17408, disk_mib=1001)
    assert node - pod == Resources(cpu_m=3500, memory_mib=15360, disk_mib=999)
    assert (pod - node).cpu_m == -3500, "a negative difference is what is missing"
    assert pod.scaled(3) == Resources(cpu_m=1500, memory_mib=3072, disk_mib=3)


@pytest.mark.parametrize("kind", ["cpu_m", "memory_mib", "disk_mib"])
def test_resources_fit_only_where_every_kind_does(kind: str) -> None:
    amounts = {"cpu_m": 10, "memory_mib": 10, "disk_mib": 10}
    node = Resources(**amounts)

    assert Resources(**amounts).fits_in(node), "equal amounts fit"
    assert not Resources(**{**amounts, kind: 11}).fits_in(node)


def test_resources_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Resources(cpu_m=1, memory_mib=1).cpu_m = 2  # type: ignore[misc]
