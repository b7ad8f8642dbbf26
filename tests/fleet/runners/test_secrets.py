"""Which secrets a stack names, and what to run for those that are not there."""

from __future__ import annotations

from fleet.config.references import secret_uses
from tests.fleet.samples import SHIPPED, every_key, loaded, refused, shipped_stack

APP = "clusters.ci.github.app.private_key"
API = "clusters.ci.gitlab.api_token"
TOKEN = "clusters.ci.gitlab.lanes.token.token"
HONEY = "clusters.honey.gitlab.lanes.ska-gpu-a100.token"


def test_every_secret_of_a_stack_is_listed_with_its_place() -> None:
    assert list(secret_uses(every_key())) == [
        (APP, "githubAppKey"),
        (API, "gitlabApiToken"),
        (TOKEN, "runnerToken"),
        (HONEY, "runnerToken"),
    ]


def test_each_missing_secret_is_told_with_the_command_that_sets_it() -> None:
    findings = refused(every_key(), has_secrets=False)
    assert [(one.path, one.remedy) for one in findings] == [
        (APP, "run: pulumi config set --secret gpu-runners:githubAppKey"),
        (API, "run: pulumi config set --secret gpu-runners:gitlabApiToken"),
        (TOKEN, "run: pulumi config set --secret gpu-runners:runnerToken"),
        (HONEY, "run: pulumi config set --secret gpu-runners:runnerToken"),
    ]
    assert {one.rule for one in findings} == {"secrets"}


def test_a_place_that_names_no_secret_is_not_asked_for_one() -> None:
    data = every_key({APP: "-----BEGIN"})
    assert [one.path for one in refused(data, has_secrets=False)] == [APP, API, TOKEN, HONEY]
    assert (
        "is text, but a stack file never contains the value of a secret"
        in refused(data, has_secrets=False)[0].message
    )


def test_a_shipped_stack_needs_these_two() -> None:
    for name in SHIPPED:
        assert loaded(shipped_stack(name)).secret_names == {"githubAppKey", "gitlabApiToken"}


def test_no_secret_is_named_in_what_is_sent_to_a_chart() -> None:
    plan = loaded(every_key()).plan
    sent = repr(
        [
            lane.release.values
            for cluster in plan.clusters
            for side in (cluster.github, cluster.gitlab)
            if side is not None
            for lane in side.lanes
        ]
    )
    assert not [one for one in ("githubAppKey", "gitlabApiToken", "runnerToken") if one in sent]
