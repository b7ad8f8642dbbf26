"""What the name of a container image says: its CUDA version, and whether its tag moves.

CUDA versions are (major, minor). Nothing here asks a registry: a name that says nothing gives None.

Sources:
- `NGC_CUDA`: "is based on CUDA ..." of
  https://docs.nvidia.com/deeplearning/triton-inference-server/release-notes/rel-26-10.html and its
  siblings of other months, pytorch-release-notes/rel-25-12.html and
  cuda-dl-release-notes/rel-26-03.html under https://docs.nvidia.com/deeplearning/frameworks ;
- a tag of nvidia/cuda has three numbers: tensorchord/envd pull request 951, and
  "nvidia/cuda:12.4-devel-ubuntu22.04: not found" in public notes.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# month of the release -> CUDA, one row per CUDA minor
_NGC_ROWS: Final[tuple[tuple[tuple[int, int], str], ...]] = (
    ((12, 0), "23.01 23.02"),
    ((12, 1), "23.03 23.04 23.05 23.06 23.07"),
    ((12, 2), "23.08 23.09 23.10"),
    ((12, 3), "23.11 23.12 24.01 24.02"),
    ((12, 4), "24.03 24.04 24.05"),
    ((12, 5), "24.06 24.07"),
    ((12, 6), "24.08 24.09 24.10 24.11 24.12"),
    ((12, 8), "25.01 25.02 25.03"),
    ((12, 9), "25.04 25.05 25.06 25.07"),
    ((13, 0), "25.08 25.09 25.10 25.11"),
    ((13, 1), "25.12 26.01 26.02"),
    ((13, 2), "26.03 26.04 26.05"),
    ((13, 3), "26.06 26.07"),
    ((13, 4), "26.08 26.09 26.10"),
)

NGC_CUDA: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {month: cuda for cuda, months in _NGC_ROWS for month in months.split()}
)
"""Month of a release of NVIDIA's framework images -> CUDA in it.

From memory, though between two read months: 23.01 to 23.03, 23.09 to 23.11, 24.11 to 25.02, 25.07
and 25.11. The other months were read, or lie between two read ones with the same CUDA.
"""

NGC_FRAMEWORKS: Final = frozenset(
    {"cuda-dl-base", "jax", "pytorch", "tensorflow", "tensorrt", "tritonserver"}
)
"""Images of nvcr.io/nvidia that follow `NGC_CUDA`."""

_MONTH: Final = re.compile(r"(\d\d\.\d\d)(?:-|$)")

# `cuda12.1`, `cuda-12.4.1`, `cuda118`, `cu121`, `cu1241`: a word of its own, so neither `barracuda`
# nor a bare major (`cuda12`, which leaves the minor open) counts.
_CUDA_WORD: Final = re.compile(
    r"(?:(?<![a-z])cuda[-_]?|(?<![a-z0-9])cu)"
    r"(?:(?P<major>9|1\d)\.(?P<minor>\d)(?!\d)"
    r"|(?P<digits>(?:9|1\d)\d)\d?(?![\d.]))"
)
_CUDA_TAG: Final = re.compile(r"(9|1\d)\.(\d)(?!\d)")
_TWO_PART_TAG: Final = re.compile(r"\d+\.\d+(?:-|$)")

_MOVING_WORDS: Final = frozenset(
    {"canary", "edge", "head", "latest", "nightly", "rolling", "snapshot", "unstable"}
)
"""Words that make a tag move wherever they stand in it."""

_MOVING_BRANCHES: Final = frozenset({"develop", "main", "master", "trunk"})
"""Words that make a tag move where they begin it."""

_MOVING_TAGS: Final = frozenset(
    {"current", "dev", "devel", "prod", "production", "release", "stable", "staging", "test"}
)
"""Tags that move by themselves, but not as part of another (`release-2.1`)."""

_FIXED_PART: Final = re.compile(
    r"(?:^|[-_.])(?:20\d{6}|(?=[0-9a-f]*\d)[0-9a-f]{7,40}|(?:canary|nightly)\.\d+)(?=$|[-_.])"
)
"""A day, a commit or a running number inside a tag, which names one build."""


def split_reference(reference: str) -> tuple[str, str | None, str | None]:
    """Return repository (with its registry), tag and digest of an image reference."""
    name, _, digest = reference.strip().partition("@")
    folder, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    return f"{folder}{slash}{last}", tag or None, digest or None


def cuda_of_image(reference: str) -> tuple[int, int] | None:
    """Return the CUDA version that the image's name gives, None where it gives none.

    Read in this order: the tag of an image named `cuda`, the month of an NVIDIA framework image, a
    word such as `cuda12.1` or `cu121` in the tag, the same in the repository's path.
    """
    repository, tag, _ = split_reference(reference.lower())
    path = _path(repository)
    last = path.rpartition("/")[2]
    if tag is not None:
        if last in {"cuda", "cudagl"}:
            version = _CUDA_TAG.match(tag)
            if version is not None:
                return int(version[1]), int(version[2])
        if last in NGC_FRAMEWORKS and f"/{path}".endswith(f"/nvidia/{last}"):
            month = _MONTH.match(tag)
            return NGC_CUDA.get(month[1]) if month is not None else None
    return _cuda_word(tag or "") or _cuda_word(path)


def moving_tag(reference: str) -> bool:
    """Return whether the same reference can name another image tomorrow.

    A digest never moves, a missing tag is `latest`. Of tags, those are named that say so; whether
    `12.4.1` is ever pushed again, only its owner knows.
    """
    _, tag, digest = split_reference(reference)
    if digest is not None:
        return False
    if tag is None:
        return True
    if _FIXED_PART.search(tag.lower()) is not None:
        return False
    words = re.split(r"[-_.]", tag.lower())
    return (
        tag.lower() in _MOVING_TAGS
        or words[0] in _MOVING_BRANCHES
        or not _MOVING_WORDS.isdisjoint(words)
    )


def cuda_tag_without_patch(reference: str) -> bool:
    """Return whether this is an `nvidia/cuda` tag of two numbers, which NVIDIA does not publish."""
    repository, tag, digest = split_reference(reference.lower())
    return (
        digest is None
        and tag is not None
        and f"/{_path(repository)}".endswith("/nvidia/cuda")
        and _TWO_PART_TAG.match(tag) is not None
    )


def _path(repository: str) -> str:
    """Return the repository without its registry, which may look like anything."""
    host, slash, path = repository.partition("/")
    is_registry = slash and ("." in host or ":" in host or host == "localhost")
    return path if is_registry else repository


def _cuda_word(text: str) -> tuple[int, int] | None:
    found = {
        (int(word["major"]), int(word["minor"]))
        if word["major"]
        else (int(word["digits"][:-1]), int(word["digits"][-1]))
        for word in _CUDA_WORD.finditer(text)
    }
    # Two versions in one name: which of them the image needs is not to be known from it.
    return found.pop() if len(found) == 1 else None
