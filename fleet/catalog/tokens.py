"""Patterns of tokens and keys, so that none is printed, deployed or committed.

Sources: GitLab's prefixes, https://docs.gitlab.com/security/tokens/#token-prefixes ; the
prefixes of the other issuers are from memory.
"""

from __future__ import annotations

import re
from typing import Final

_GITLAB = r"gl(?:pat|rt|rtr|dt|oas|cbt|ptt|ft|imt|agent|soat|ffct|wt)-"

TOKEN_START: Final = re.compile(rf"{_GITLAB}|gh[a-z]_|github_pat_")
"""Prefix of a GitLab or GitHub token, for values that must be a name."""

TOKEN: Final = re.compile(
    rf"\b{_GITLAB}[\w-]{{6,}}"
    # gha_ is the prefix of ARC's metrics, not of a token.
    r"|\bgh[b-z]_(?:[A-Za-z0-9]{10,}|[\w.-]{16,})|\bgithub_pat_\w{10,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"
    r"|\bxox[abeoprs]-[\w-]{10,}|\bhf_[A-Za-z0-9]{30,}|\bnvapi-[\w-]{16,}"
    r"|\bdckr_pat_[\w-]{10,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-AgE[\w-]{16,}|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\."
)
"""GitLab, GitHub, AWS, private keys, Slack, Hugging Face, NGC, Docker, npm, PyPI, Google, JWT."""
