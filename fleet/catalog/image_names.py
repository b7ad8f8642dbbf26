"""Facts in the name of a container image: its CUDA version, and whether its tag moves.

CUDA versions are (major, minor). No function here contacts a registry.

Sources:
- `NGC_CUDA`: "is based on CUDA ..." of
  https://docs.nvidia.com/deeplearning/triton-inference-server/release-notes/rel-26-10.html and its
  siblings of other months, pytorch-release-notes/rel-25-12.html and
  cuda-dl-release-notes/rel-26-03.html under https://docs.nvidia.com/deeplearning/frameworks ;
- the version of a tag of nvidia/cuda has three numbers: tensorchord/envd pull request 951, and
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
"""Month of a release of NVIDIA's framework images -> its CUDA version.

From memory: 23.01 to 23.03, 23.09 to 23.11, 24.11 to 25.02, 25.07 and 25.11. The other months were
read in the release notes, or lie between two such months with the same CUDA.
"""

NGC_FRAMEWORKS: Final = frozenset(
    {"cuda-dl-base", "jax", "pytorch", "tensorflow", "tensorrt", "tritonserver"}
)
"""Images of nvcr.io/nvidia with the versions of `NGC_CUDA`."""

_MONTH: Final = re.compile(r"(\d\d\.\d\d)(?:-|$)")

# Matches `cuda12.1`, `cuda-12.4.1`, `cuda118`, `cu121` and `cu1241`, but neither `barracuda` nor a
# major alone (`cuda12`), which leaves the minor open.
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
"""A tag with one of these words moves."""

_MOVING_BRANCHES: Final = frozenset({"develop", "main", "master", "trunk"})
"""A tag that begins with one of these words moves."""

_MOVING_TAGS: Final = frozenset(
    {"current", "dev", "devel", "prod", "production", "release", "stable", "staging", "test"}
)
"""These whole tags move; as a part of a tag (`release-2.1`) the words do not matter."""

_FIXED_PART: Final = re.compile(
    r"(?:^|[-_.])(?:20\d{6}|(?=[0-9a-f]*\d)[0-9a-f]{7,40}|(?:canary|nightly)\.\d+)(?=$|[-_.])"
)
"""A day, a commit or a build number in a tag, which identifies one build."""


def split_reference(reference: str) -> tuple[str, str | None, str | None]:
    """Return the repository with its registry, the tag and the digest of an image reference."""
    name, _, digest = reference.strip().partition("@")
    folder, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    return f"{folder}{slash}{last}", tag or None, digest or None


def cuda_of_image(reference: str) -> tuple[int, int] | None:
    """Return the CUDA version in the name of an image; `None` if the name has none.

    The sources, in this order: the tag of an image named `cuda`, the month of an NVIDIA framework
    image, a word such as `cuda12.1` or `cu121` in the tag, such a word in the repository's path.
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
    """Return whether the name shows that the reference can point to another image later.

    A digest never moves; a missing tag is `latest`. A tag such as `12.4.1` counts as fixed,
    although its owner could push it again.
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
    """Return whether it is an `nvidia/cuda` tag with two numbers, which NVIDIA does not publish."""
    repository, tag, digest = split_reference(reference.lower())
    return (
        digest is None
        and tag is not None
        and f"/{_path(repository)}".endswith("/nvidia/cuda")
        and _TWO_PART_TAG.match(tag) is not None
    )


def _path(repository: str) -> str:
    """Return the repository without its registry."""
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
    # With two versions in one name, it is unknown which of them the image needs.
    return found.pop() if len(found) == 1 else None
