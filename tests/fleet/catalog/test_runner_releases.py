"""Releases of the GitHub runner, and when GitHub stops sending jobs to them."""

from datetime import date

from fleet.catalog.images import GITHUB_RUNNER, RUNNER_RELEASES, runner_refused_from, runner_version
from tests.cases import for_each


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_newer_releases_have_later_days() -> None:
    by_version = sorted(RUNNER_RELEASES, key=_number)
    assert list(RUNNER_RELEASES) == by_version
    days = [RUNNER_RELEASES[version] for version in by_version]
    assert days == sorted(set(days))


def test_the_pinned_runner_is_the_newest_release_of_the_table() -> None:
    version = runner_version(GITHUB_RUNNER)
    assert version == max(RUNNER_RELEASES, key=_number)
    assert runner_refused_from(version or "") is None


# The day of the next release (GitHub's releases API) and 30 days.
@for_each(
    ("version", "day"),
    [
        ("2.337.0", date(2026, 11, 5)),
        ("2.336.0", date(2026, 9, 25)),
        ("2.335.0", date(2026, 7, 9)),
        ("2.333.0", date(2026, 4, 26)),
        ("2.311.0", date(2025, 9, 12)),
    ],
)
def test_a_runner_is_refused_30_days_after_the_release_that_follows_it(
    version: str, day: date
) -> None:
    assert runner_refused_from(version) == day


def test_a_patch_release_starts_the_period_too() -> None:
    # 2.335.1 came a day after 2.335.0 and six weeks before 2.336.0.
    refused = runner_refused_from("2.335.0")
    assert refused is not None
    assert refused < RUNNER_RELEASES["2.336.0"]


def test_versions_are_compared_as_numbers() -> None:
    assert runner_refused_from("2.1000.0") is None, "newer than any, although 1 sorts before 3"


@for_each(
    ("reference", "version"),
    [
        ("ghcr.io/actions/actions-runner:2.338.0", "2.338.0"),
        ("actions/actions-runner:v2.338.0", "2.338.0"),
        ("ghcr.io/actions/actions-runner:2.338.0-ubuntu24.04", "2.338.0"),
        ("mirror.example.com:5000/ghcr.io/actions/actions-runner:2.331.0", "2.331.0"),
        ("ghcr.io/actions/actions-runner:2.338.0@sha256:" + "0f" * 32, "2.338.0"),
        ("ghcr.io/actions/actions-runner:latest", None),
        ("ghcr.io/actions/actions-runner", None),
        ("ghcr.io/actions/actions-runner:2.338", None),
        ("ghcr.io/example/runner-gpu:2.338.0", None),
        ("ghcr.io/notactions/actions-runner-plus:2.338.0", None),
        ("ghcr.io/myactions/actions-runner:2.338.0", None),
    ],
)
def test_only_githubs_own_image_has_a_runner_version(reference: str, version: str | None) -> None:
    assert runner_version(reference) == version
