"""The little of a forge's REST API that the comments of CI need: JSON, pages, one small download.

No units but bytes and seconds. Sources: https://docs.github.com/en/rest and
https://docs.gitlab.com/api/rest/ (both page by the Link header).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import requests

TIMEOUT_S: Final = 30.0


class ForgeError(Exception):
    """The forge refused a request, or answered what nobody can use; the message names no token."""


class Forge:
    """One API, with one token in a header that no redirect to another host gets to see."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url = url.rstrip("/")
        self._session = requests.Session()
        # A .netrc of the machine would replace the header.
        self._session.trust_env = False
        self._session.headers.update(headers)

    def get(self, path: str, **query: str) -> Any:
        """Return the JSON at that path. Raises ForgeError."""
        return self._json(self._request("GET", self._url + path, params=query))

    def pages(self, path: str, key: str | None = None, **query: str) -> Iterator[dict[str, Any]]:
        """Yield the items of a list, page after page; `key` is where they stand in an object.

        Raises ForgeError.
        """
        url: str | None = self._url + path
        parameters: Mapping[str, str] = {"per_page": "100", **query}
        while url is not None:
            response = self._request("GET", url, params=parameters)
            answer = self._json(response)
            yield from answer if key is None else answer[key]
            url = response.links.get("next", {}).get("url")
            parameters = {}
            if url is not None and not url.startswith(f"{self._url}/"):
                raise ForgeError(f"the next page of {path} is at another host; nothing was read")

    def send(self, method: str, path: str, body: Mapping[str, str]) -> Any:
        """Send JSON by POST, PUT or PATCH and return the answer's. Raises ForgeError."""
        return self._json(self._request(method, self._url + path, json=body))

    def download(self, path: str, limit: int) -> bytes:
        """Return what lies there, at most `limit` bytes. Raises ForgeError where it is more."""
        with self._request("GET", self._url + path, stream=True) as response:
            data = b""
            for part in response.iter_content(65536):
                data += part
                if len(data) > limit:
                    raise ForgeError(f"{path} is larger than {limit} bytes; nothing was taken")
        return data

    def _request(self, method: str, url: str, **options: Any) -> requests.Response:
        path = url.removeprefix(self._url)
        try:
            response = self._session.request(method, url, timeout=TIMEOUT_S, **options)
        except requests.RequestException as error:
            raise ForgeError(
                f"{method} {path}: {type(error).__name__}; run the job again"
            ) from None
        if not response.ok:
            raise ForgeError(
                f"{method} {path}: status {response.status_code}; 401, 403 and 404 mean that the "
                "token lacks a permission, which docs/ci.md lists"
            )
        return response

    @staticmethod
    def _json(response: requests.Response) -> Any:
        try:
            return response.json()
        except requests.JSONDecodeError:
            raise ForgeError(
                f"{response.url} answers no JSON; is the API's address right?"
            ) from None
