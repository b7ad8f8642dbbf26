"""A client for the REST API of GitHub or GitLab: JSON, pagination, one small download.

Sources: https://docs.github.com/en/rest and https://docs.gitlab.com/api/rest/ (both paginate with
the Link header).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import requests

TIMEOUT_S: Final = 30.0


class ForgeError(Exception):
    """The API refused a request or sent an unusable answer. The message contains no token."""


class Forge:
    """One API. The header with the token is not sent on a redirect to another host."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url = url.rstrip("/")
        self._session = requests.Session()
        # With trust_env, a .netrc file would replace the header.
        self._session.trust_env = False
        self._session.headers.update(headers)

    def get(self, path: str, **query: str) -> Any:
        """Return the JSON at that path. Raises ForgeError."""
        return self._json(self._request("GET", self._url + path, params=query))

    def pages(self, path: str, key: str | None = None, **query: str) -> Iterator[dict[str, Any]]:
        """Yield the items of a paginated list, or of the list under `key` of an object.

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
                raise ForgeError(
                    f"the next page of {path} is on another host; it was not requested"
                )

    def send(self, method: str, path: str, body: Mapping[str, str]) -> Any:
        """Send JSON by POST, PUT or PATCH and return the JSON of the answer. Raises ForgeError."""
        return self._json(self._request(method, self._url + path, json=body))

    def download(self, path: str, limit: int) -> bytes:
        """Return the content at that path. Raises ForgeError if it is larger than `limit` bytes."""
        with self._request("GET", self._url + path, stream=True) as response:
            data = b""
            for part in response.iter_content(65536):
                data += part
                if len(data) > limit:
                    raise ForgeError(f"{path} is larger than {limit} bytes; it was not used")
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
                f"{method} {path}: status {response.status_code}; with 401, 403 or 404 the token "
                "lacks a permission (docs/ci.md lists them)"
            )
        return response

    @staticmethod
    def _json(response: requests.Response) -> Any:
        try:
            return response.json()
        except requests.JSONDecodeError:
            raise ForgeError(
                f"{response.url} did not answer with JSON; check the URL of the API"
            ) from None
