import pytest

from tests.tools.fake_forge import FakeForge, served
from tools.forge import Forge, ForgeError

TOKEN = "ghs_a-token"


def client(forge: FakeForge) -> Forge:
    return Forge(f"{forge.url}/api", {"Authorization": f"Bearer {TOKEN}"})


def test_every_request_has_the_token(forge: FakeForge) -> None:
    forge.answers["GET", "/api/user"] = {"id": 1}
    assert client(forge).get("/user") == {"id": 1}
    assert forge.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"


def test_every_page_of_a_list_is_read(forge: FakeForge) -> None:
    forge.answers["GET", "/api/notes"] = {"notes": [{"id": 1}]}
    forge.answers["GET", "/api/more"] = {"notes": [{"id": 2}]}
    forge.next_pages["/api/notes?per_page=100"] = f"{forge.url}/api/more"
    assert [one["id"] for one in client(forge).pages("/notes", key="notes")] == [1, 2]


def test_a_next_page_on_another_host_is_not_requested(forge: FakeForge) -> None:
    forge.answers["GET", "/api/notes"] = [{"id": 1}]
    forge.next_pages["/api/notes?per_page=100"] = "http://127.0.0.2:1/api/more"
    with pytest.raises(ForgeError, match="another host"):
        list(client(forge).pages("/notes"))


def test_a_download_follows_a_redirect_without_the_token(forge: FakeForge) -> None:
    with served(FakeForge()) as storage:
        storage.answers["GET", "/blob"] = b"archive"
        other_host = storage.url.replace("127.0.0.1", "localhost")
        forge.answers["GET", "/api/zip"] = f"{other_host}/blob"
        assert client(forge).download("/zip", 100) == b"archive"
        assert "Authorization" not in storage.requests[0].headers, "the storage is another host"


def test_a_download_above_the_limit_is_refused(forge: FakeForge) -> None:
    forge.answers["GET", "/api/zip"] = b"x" * 101
    with pytest.raises(ForgeError, match="larger than 100 bytes"):
        client(forge).download("/zip", 100)
    assert client(forge).download("/zip", 101) == b"x" * 101


@pytest.mark.parametrize(
    ("answer", "message"),
    [(403, "status 403.*docs/ci.md"), (500, "status 500"), (b"<html>", "did not answer with JSON")],
)
def test_an_error_of_the_api_is_reported_without_the_token(
    forge: FakeForge, answer: int | bytes, message: str
) -> None:
    forge.answers["GET", "/api/user"] = answer
    with pytest.raises(ForgeError, match=message) as caught:
        client(forge).get("/user")
    assert TOKEN not in str(caught.value)


def test_an_unreachable_api_is_reported() -> None:
    with pytest.raises(ForgeError, match="ConnectionError; run the job again"):
        Forge("http://127.0.0.1:1", {}).get("/user")
