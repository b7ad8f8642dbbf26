"""URLs and words of forges, addresses, and who may do what: what is refused in one model."""

from typing import Any

from tests.cases import for_each
from tests.fleet.samples import GONE, every_key, loaded, reported

GITHUB = "clusters.ci.github"
SERVER = {f"{GITHUB}.server_version": "3.21"}
EKS = "clusters.ci.eks"
ROLE = "arn:aws:iam::111122223333:role/platform"
ACCESS = "clusters.honey.github.lanes.mig.kubernetes_access.permissions.0"


@for_each(
    ("url", "message", "remedy"),
    [
        ("https://github.com/org/settings/actions", "page below", "write https://github.com/org"),
        ("https://github.com/org/project/settings", "page below", "https://github.com/org/project"),
        (
            "https://github.com/org/project/tree/main",
            "page below",
            "https://github.com/org/project",
        ),
        ("https://github.com/org?tab=repositories", "page below", "write https://github.com/org"),
        ("https://github.com/org/project.git", "clone URL", "write https://github.com/org/project"),
        (
            "https://ghes.example.com/org/a.git/",
            "clone URL",
            "write https://ghes.example.com/org/a",
        ),
        (
            "https://github.com/enterprises",
            "has no enterprise",
            "https://github.com/enterprises/ and",
        ),
        ("https://ghes.example.com/enterprises/", "has no enterprise", "the enterprise's slug"),
        (
            "https://github.com/enterprises/a/settings",
            "page below",
            "https://github.com/enterprises/a",
        ),
        ("https://github.com/orgs/example", "page of GitHub", "write https://github.com/example"),
        ("https://github.com/organizations/a/settings", "page of GitHub", "https://github.com/a"),
        ("https://github.com//", "has no owner", "https://github.com/owner/repository"),
        ("https://gitlab.com/group", "URL of GitLab", "to gitlab:"),
        ("https://[github.com/org", "is not a URL", "write it like"),
    ],
)
def test_a_url_without_an_owner_is_one_finding_with_a_remedy(
    url: str, message: str, remedy: str
) -> None:
    ((path, text, what),) = reported(every_key({f"{GITHUB}.url": url}))
    assert path == f"{GITHUB}.url"
    assert message in text
    assert remedy in what
    assert "/settings" not in what


def test_a_token_in_a_url_is_refused_and_not_repeated() -> None:
    for key in (GITHUB, "clusters.ci.gitlab"):
        findings = reported(every_key({f"{key}.url": "https://me:hidden@git.example.com/org"}))
        assert [one[:2] for one in findings] == [
            (f"{key}.url", "contains a user or a token, and a stack file never holds a secret")
        ]
        assert "hidden" not in str(findings)


@for_each(
    "url",
    [
        "https://github.com/example-org/",
        "https://github.com/example-org/project",
        "https://github.com/example-org/settings",  # a repository, like probot's
        "https://octo.ghe.com/org/project",
    ],
)
def test_an_owner_or_repository_of_github_is_let_through_without_a_version(url: str) -> None:
    loaded(every_key({f"{GITHUB}.url": url}))
    (finding,) = reported(every_key({f"{GITHUB}.url": url, **SERVER}))
    assert finding == (
        f"{GITHUB}.server_version",
        "is set, but url is not that of a GitHub Enterprise Server",
        "remove it, or write the server's url",
    )


def test_an_owner_on_a_server_of_its_own_is_let_through() -> None:
    loaded(every_key({f"{GITHUB}.url": "https://ghes.example.com:8443/org", **SERVER}))


@for_each("version", [3.2, "3.21.4", "v3.21"])
def test_the_version_of_a_server_is_a_quoted_minor_version(version: Any) -> None:
    url = {f"{GITHUB}.url": "https://ghes.example.com/org"}
    ((path, _, remedy),) = reported(every_key({**url, f"{GITHUB}.server_version": version}))
    assert path == f"{GITHUB}.server_version"
    assert '"3.2' in remedy


@for_each(("host", "more"), [("github.com", {}), ("ghes.example.com", SERVER)])
def test_an_enterprise_takes_a_token_and_no_app(host: str, more: dict[str, str]) -> None:
    url = {f"{GITHUB}.url": f"https://{host}/enterprises/example", **more}
    ((path, message, remedy),) = reported(every_key(url))
    assert path == f"{GITHUB}.app"
    assert "no App for the runners of an enterprise" in message
    assert "existing_secret" in remedy
    assert "github_token" in remedy
    loaded(every_key({**url, f"{GITHUB}.app": GONE, f"{GITHUB}.existing_secret": "token"}))


@for_each(
    ("url", "message", "remedy"),
    [
        ("https://gitlab.com/group", "a group or project", "write https://gitlab.com, and"),
        ("https://gitlab.com/group/sub/project", "a group or project", "runner: {group_id: 42}"),
        ("https://github.com/org", "URL of GitHub", "to github:"),
        ("http://git.example.com", "without which up is refused", "write it like https://"),
        ("http://localhost:8080", "without which up is refused", "write it like https://"),
        ("git.example.com", "is not a URL with https://", "write it like https://"),
        ("https:///path", "is not a URL with https://", "write it like https://"),
        (
            "https://git.example.com/api/v4/",
            "the paths of its API",
            "write https://git.example.com",
        ),
        ("https://git.example.com/git?a=b", "the paths of its API", "git.example.com/git"),
        ("https://git.example.com/#top", "the paths of its API", "write https://git.example.com"),
    ],
)
def test_the_url_of_gitlab_is_the_servers(url: str, message: str, remedy: str) -> None:
    data = every_key({"clusters.existing.gitlab.url": url})
    ((path, text, what),) = reported(data)
    assert path == "clusters.existing.gitlab.url"
    assert message in text
    assert remedy in what


@for_each("url", ["https://gitlab.com/", "https://git.example.com/gitlab"])
def test_the_url_of_gitlab_may_have_a_path(url: str) -> None:
    loaded(every_key({"clusters.existing.gitlab.url": url}))


@for_each("path", [f"{GITHUB}.lanes.gpu.labels", "clusters.ci.gitlab.lanes.gl.tags"])
def test_a_comma_makes_two_words_of_one(path: str) -> None:
    ((place, message, remedy),) = reported(every_key({path: ["cuda,x64"]}))
    assert (place, message) == (f"{path}[0]", "contains a comma, which separates labels and tags")
    assert "an entry for each" in remedy
    loaded(every_key({path: ["cuda", "x64"]}))


@for_each("place", [f"{EKS}.api.allow", "clusters.oci.oke.api.allow"])
def test_an_address_needs_its_mask(place: str) -> None:
    ((path, message, remedy),) = reported(every_key({place: ["185.12.64.7"]}))
    assert (path, message) == (f"{place}[0]", "is an address without a mask")
    assert remedy == "write 185.12.64.7/32 for this one address"
    loaded(every_key({place: ["185.12.64.7/32"]}))


def test_a_subnet_lies_in_one_zone() -> None:
    network = "clusters.existing.eks.network"
    same = {f"eu-central-1{zone}": "subnet-0123456789abcdef0" for zone in "ab"}
    ((path, message, _),) = reported(every_key({f"{network}.subnet_ids": same}))
    assert path == f"{network}.subnet_ids"
    assert message == "lists one subnet for two zones, but a subnet belongs to one zone"


@for_each(
    ("path", "value", "message", "remedy"),
    [
        (f"{ACCESS}.verbs", "*", "is a wildcard", "name each one, like"),
        (f"{ACCESS}.resources", "pods/*", "is a wildcard", "name each one, like"),
        (f"{ACCESS}.api_groups", "*", "is a wildcard", "name each one, like"),
        (f"{ACCESS}.verbs", "Get", "the required form", "write it like pods/log"),
        (f"{ACCESS}.api_groups", "Apps", "the required form", "write it like apps"),
        (
            f"{EKS}.admins",
            "arn:aws:sts::111122223333:assumed-role/platform/me",
            "is the ARN of a session",
            "use the ARN of the role",
        ),
        (f"{EKS}.admins", "arn:aws:iam::1:role/x", "is not the ARN of an IAM role", ROLE),
    ],
)
def test_a_remedy_has_an_example_and_no_pattern(
    path: str, value: Any, message: str, remedy: str
) -> None:
    ((place, text, what),) = reported(every_key({path: [value]}))
    assert place == f"{path.replace('permissions.0', 'permissions[0]')}[0]"
    assert message in text
    assert remedy in what
    assert "^" not in text + what
