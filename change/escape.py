"""Make hostile text harmless in Markdown, as GitHub and GitLab render it.

Every string of a document is shown as code: code spans and fenced blocks render no markup, links,
mentions or references (https://github.github.com/gfm/#code-spans). This module makes sure that no
text ends its span, cell or block early, and that it has no invisible characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
BROKEN_BAR: Final = "\N{BROKEN BAR}"

MAX_OF_TEXT: Final = 300
MAX_ITEMS: Final = 3_000
MAX_DEPTH: Final = 12
MAX_NUMBER: Final = 10**15

_ALIKE: Final = str.maketrans(
    {
        "`": "\N{MODIFIER LETTER GRAVE ACCENT}",
        "<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
        ">": "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
        "[": "(",
        "]": ")",
        "|": BROKEN_BAR,
        "\\": "\N{FULLWIDTH REVERSE SOLIDUS}",
        "@": "\N{FULLWIDTH COMMERCIAL AT}",
        "#": "\N{FULLWIDTH NUMBER SIGN}",
        "$": "\N{FULLWIDTH DOLLAR SIGN}",
        "&": "\N{FULLWIDTH AMPERSAND}",
        "*": "\N{ASTERISK OPERATOR}",
        "~": "\N{TILDE OPERATOR}",
        "!": "\N{FULLWIDTH EXCLAMATION MARK}",
        "%": "\N{FULLWIDTH PERCENT SIGN}",
    }
)
Phrase = Sequence[str]
"""A sentence in parts: each `Name` in it may be hostile, the other parts are ours."""


class Name(str):
    """A text from a document, which Markdown shows as code."""

    __slots__ = ()


_SLASH: Final = "\N{DIVISION SLASH}"


def visible(text: str) -> str:
    """Return one line without invisible characters: controls, directions, zero widths.

    It also breaks the start of HTML comments: a workflow finds its own comment by one.
    """
    shown = text if text.isprintable() else "".join(map(_visible, text))
    return shown.replace("<!--", "<! --")


def visible_lines(text: str) -> list[str]:
    """Return the lines of a text, each without invisible characters."""
    return [visible(line) for line in re.split(r"\r\n|[\n\r\u2028\u2029]", text)]


def clipped(text: str, limit: int) -> str:
    """Return a text, cut to at most `limit` characters and marked if it is longer."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def code(text: str, limit: int = 120) -> str:
    """Return a code span. A bar in it is replaced, because it would end a table's cell."""
    shown = clipped(visible(text), limit).replace("|", BROKEN_BAR)
    if not shown.strip():
        return '`""`'
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith(("`", " ")) or shown.endswith(("`", " ")) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def fenced(lines: Iterable[str], language: str = "") -> list[str]:
    """Return a fenced block; its fence is longer than any run of backticks in it.

    No line starts with a slash, which GitLab could take for a quick action
    (https://docs.gitlab.com/user/project/quick_actions/).
    """
    body = [f" {line}" if line.startswith("/") else line for line in map(visible, lines)]
    fence = "`" * max(3, 1 + max(map(_longest_run, body), default=0))
    return [f"{fence}{language}", *body, fence]


def harmless(value: Any, depth: int = 0) -> Any:
    """Return JSON without Markdown in its texts, for a renderer that does not escape them.

    Active characters are replaced by similar ones; numbers, sizes and depth are limited.
    """
    if isinstance(value, str):
        return _inert(clipped(visible(value), MAX_OF_TEXT))
    if isinstance(value, int | float):
        # The comparison is false for NaN.
        return value if abs(value) <= MAX_NUMBER else 0
    if isinstance(value, Mapping) and depth < MAX_DEPTH:
        items = list(cast("Mapping[Any, Any]", value).items())[:MAX_ITEMS]
        return {harmless(str(key)): harmless(item, depth + 1) for key, item in items}
    if isinstance(value, list) and depth < MAX_DEPTH:
        items = cast("list[Any]", value)[:MAX_ITEMS]
        return [harmless(item, depth + 1) for item in items]
    return None


def _inert(text: str) -> str:
    text = text.translate(_ALIKE).replace("://", f":{_SLASH}{_SLASH}")
    # Addresses and issue numbers become links without markup, also after an underscore.
    linked = r"(?i)(?<![^\W_])(?:www\.|gh-(?=\d))"
    return re.sub(linked, lambda found: f"{found[0][:-1]}\u2011", text)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)


def _visible(char: str) -> str:
    if char in "\n\r\t\u2028\u2029":
        return " "
    hidden = unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn"}
    return REPLACEMENT if hidden else char
