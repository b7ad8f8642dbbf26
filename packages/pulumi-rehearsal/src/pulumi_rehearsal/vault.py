"""A stand-in for HashiCorp Vault, from which the engine gets the key of the scratch stack.

With a passphrase, the engine derives the key anew in each command, which takes 0.2 s of computing.
Vault's transit engine encrypts the key once, and each command lets it decrypt the key: see
https://developer.hashicorp.com/vault/api-docs/secret/transit.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

PROVIDER: Final = "hashivault://rehearsal"
"""Value of `--secrets-provider`; the name of the key is arbitrary."""


@contextmanager
def served() -> Generator[dict[str, str]]:
    """Serve until the end; yield the environment by which the engine finds the server."""
    keys: dict[str, str] = {}
    token = secrets.token_hex(16)

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.headers["X-Vault-Token"] != token:
                self.send_error(403)
                return
            if "plaintext" in sent:
                name = f"vault:v1:{secrets.token_hex(16)}"
                keys[name] = sent["plaintext"]
                answer = {"ciphertext": name}
            else:
                answer = {"plaintext": keys[sent["ciphertext"]]}
            body = json.dumps({"data": answer}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        port = server.server_address[1]
        yield {"VAULT_SERVER_URL": f"http://127.0.0.1:{port}", "VAULT_SERVER_TOKEN": token}
    finally:
        server.shutdown()
        server.server_close()
