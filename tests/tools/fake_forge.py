"""A REST API on loopback with the answers of a test, which records every request."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class FakeForge:
    url: str = ""
    answers: dict[tuple[str, str], Any] = field(default_factory=dict)
    """By method and path: JSON, bytes, an int (a status), or text (the target of a redirect)."""
    next_pages: dict[str, str] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def writes(self) -> list[Request]:
        return [one for one in self.requests if one.method != "GET"]


@contextmanager
def served(forge: FakeForge) -> Generator[FakeForge]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            forge.requests.append(
                Request(
                    self.command, parts.path, dict(parse_qsl(parts.query)), dict(self.headers), body
                )
            )
            found = forge.answers.get((self.command, parts.path), 404)
            status, data = 200, b""
            if isinstance(found, int):
                status = found
            elif isinstance(found, str):
                status = 302
            else:
                data = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(status)
            if isinstance(found, str):
                self.send_header("Location", found)
            if self.path in forge.next_pages:
                self.send_header("Link", f'<{forge.next_pages[self.path]}>; rel="next"')
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = answer  # noqa: N815 (the base class names them)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    forge.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
