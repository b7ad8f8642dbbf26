"""The stand-in for Vault: it gives a key back only to the engine of this rehearsal."""

from __future__ import annotations

import pytest
import requests
from pulumi_rehearsal import vault


def test_a_key_is_encrypted_and_decrypted_with_the_token_only() -> None:
    with vault.served() as environment:
        url = f"{environment['VAULT_SERVER_URL']}/v1/transit"
        token = {"X-Vault-Token": environment["VAULT_SERVER_TOKEN"]}

        def answer(path: str, sent: dict[str, str], headers: dict[str, str]) -> requests.Response:
            return requests.put(f"{url}/{path}/rehearsal", json=sent, headers=headers, timeout=5)

        encrypted = answer("encrypt", {"plaintext": "a2V5"}, token).json()["data"]
        assert "a2V5" not in encrypted["ciphertext"]
        assert answer("decrypt", encrypted, token).json()["data"] == {"plaintext": "a2V5"}
        assert answer("decrypt", encrypted, {}).status_code == 403
    with pytest.raises(requests.ConnectionError):
        answer("decrypt", encrypted, token)
