"""The gitlab-runner chart in the stand-in cluster: Secret, token, configuration, rights."""

import pytest
from kubernetes_lab import CONFIG, RELEASE, Lab, gitlab_inputs
from pulumi_rehearsal.standin import gitlab
from pulumi_rehearsal.standin.kubernetes import world_faults
from pulumi_rehearsal.standin.kubernetes.gitlab_config import config_problems

FLAG = "FF_USE_ADVANCED_POD_SPEC_CONFIGURATION"


def values(**changes):
    inputs = gitlab_inputs()
    inputs["values"] = {**inputs["values"], **changes}
    return inputs


def runner(lab: Lab):
    return lab.make(gitlab.RUNNER, {"runnerType": "group_type", "groupId": 7, "tagLists": ["gpu"]})


def test_a_lane_with_all_it_needs_is_installed(lab: Lab):
    lab.gitlab_lane()
    assert world_faults(lab.world) == []


def test_the_secret_has_to_be_there(lab: Lab, refused):
    with refused("runners.secret 'absent' does not exist in namespace 'ci'"):
        lab.gitlab_lane(values={"runners": {"secret": "absent"}})


@pytest.mark.parametrize("key", ["runner-token", "runner-registration-token"])
def test_the_secret_needs_both_keys_that_the_chart_projects(lab: Lab, refused, key):
    lab.namespace("ci")
    keys = {"runner-token": "glrt-x", "runner-registration-token": ""}
    del keys[key]
    lab.secret("ci", "runner", **keys)
    with refused(f"has no key '{key}', which the chart projects"):
        lab.release(gitlab_inputs())


def test_a_secret_of_empty_texts_holds_no_token(lab: Lab, refused):
    with refused("holds no token at all"):
        lab.gitlab_lane(runner_token="")


def test_a_token_belongs_to_a_runner_that_exists(lab: Lab, refused):
    made = runner(lab)
    lab.remove(made)
    with refused("belongs to a GitLab runner that does not exist"):
        lab.gitlab_lane(runner_token=made.outputs["token"])


def test_a_runner_that_is_deleted_afterwards_is_a_fault(lab: Lab):
    made = runner(lab)
    lab.gitlab_lane(runner_token=made.outputs["token"])
    assert world_faults(lab.world) == []
    lab.world.remove(made)
    assert ["runner that does not exist" in fault for fault in world_faults(lab.world)] == [True]


def test_a_token_that_changes_under_a_running_manager_is_a_fault(lab: Lab):
    lane = lab.gitlab_lane(runner_token="glrt-old")
    secret = lab.world.get("ci/runner", "kubernetes:core/v1:Secret", lab.scope)
    lab.change(secret, stringData={"runner-token": "glrt-new"})
    assert ["has another token since" in fault for fault in world_faults(lab.world)] == [True]
    lab.change(lane, values={"podAnnotations": {"runner": "8"}})
    assert world_faults(lab.world) == []


def test_a_removed_lane_leaves_nothing(lab: Lab):
    before = len(lab.world)
    lane = lab.gitlab_lane()
    lab.remove(lane)
    assert len(lab.world) == before + 2, "its namespace and its Secret are the stack's"


def test_the_jobs_namespace_has_to_be_there(lab: Lab, refused):
    config = CONFIG.replace('namespace = "ci"', 'namespace = "jobs"')
    with refused("names the namespace 'jobs', which does not exist"):
        lab.gitlab_lane(values={"runners": {"config": config}})


def test_jobs_and_rights_stay_together(lab: Lab, refused):
    lab.namespace("jobs")
    config = CONFIG.replace('namespace = "ci"', 'namespace = "jobs"')
    with refused("jobs run in namespace 'jobs', the chart's role is in 'ci'"):
        lab.gitlab_lane(values={"runners": {"config": config}})
    assert lab.gitlab_lane(values={"runners": {"config": config, "jobNamespace": "jobs"}})


def test_an_account_that_the_chart_does_not_make_has_to_be_there(lab: Lab, refused):
    with refused("ServiceAccount 'own' does not exist"):
        lab.gitlab_lane(values={"serviceAccount": {"create": False, "name": "own"}})


@pytest.mark.parametrize(
    ("changes", "path", "reason"),
    [
        ({"gitlabUrl": "http://gitlab.com"}, "values.gitlabUrl", "https"),
        ({"runnerToken": "glrt-x"}, "values.runnerToken", "clear text"),
        ({"runnerRegistrationToken": "x"}, "values.runnerRegistrationToken", "clear text"),
        ({"rbac": {}}, "values.rbac.create", "must be set"),
        ({"serviceAccount": {}}, "values.serviceAccount.create", "must be set"),
        ({"runners": {"config": CONFIG}}, "values.runners.secret", "name of a Secret"),
        ({"runners": {"secret": "x"}}, "values.runners.config", "is missing"),
        (
            {"runners": {"secret": "x", "config": CONFIG, "tags": "gpu"}},
            "values.runners.tags",
            "no effect",
        ),
        (
            {"runners": {"secret": "x", "config": CONFIG, "privileged": True}},
            "values.runners.privileged",
            "would ignore it",
        ),
    ],
    ids=[
        "an address without TLS",
        "a token in the values",
        "a registration token in the values",
        "rights left to the default",
        "an account left to the default",
        "no Secret",
        "no config",
        "tags on the manager",
        "a key of an older chart",
    ],
)
def test_a_lane_is_refused_for(lab: Lab, changes, path, reason):
    assert reason in lab.invalid(RELEASE, values(**changes))[path]


def test_a_good_configuration_is_not_objected_to():
    assert list(config_problems(CONFIG)) == []


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ('name = "{{ .Release.Name }}"', "Helm template"),
        ("[[runners]\n", "is no TOML"),
        ("concurrent = 4\n", "found 0"),
        (CONFIG + "\n[[runners]]\n", "found 2"),
        (CONFIG.replace('executor = "kubernetes"', 'executor = "docker"'), "must be 'kubernetes'"),
        (CONFIG.replace("executor =", 'token = "glrt-x"\nexecutor ='), "belongs into the Secret"),
        (
            CONFIG.replace("poll_timeout = 1800", "poll_timout = 1800"),
            "did you mean 'poll_timeout'",
        ),
        (CONFIG.replace("poll_timeout = 1800", "poll_timeout = 180"), "at least 900 s"),
        (CONFIG.replace("poll_timeout = 1800", ""), "at least 900 s"),
        (CONFIG.replace("poll_timeout", "pod_cpu_limit = '1'\npoll_timeout"), "runner 18.10"),
        (CONFIG.replace(f"{FLAG} = true", f"{FLAG} = false"), f"{FLAG} = true"),
        (
            CONFIG.replace('"nvidia.com/gpu" = "NoSchedule"', '"nvidia.com/gpu" = "Forever"'),
            "an effect",
        ),
        (
            CONFIG.replace('patch_type = "strategic"', 'patch_type = "merge"'),
            "replaces all containers",
        ),
        (CONFIG.replace('patch_type = "strategic"', 'patch_type = "overlay"'), "none of json"),
        (CONFIG.replace("name: build", "name: job"), "no container of a job's pod"),
        (CONFIG.replace("containers:", "containers: ["), "neither YAML nor JSON"),
        (CONFIG.replace('      limits: {nvidia.com/gpu: "1"}\n', ""), "set the limit too"),
        (
            CONFIG.replace('limits: {nvidia.com/gpu: "1"}', 'limits: {nvidia.com/gpu: "2"}'),
            "same number",
        ),
    ],
    ids=[
        "a Helm template",
        "broken TOML",
        "no runner",
        "two runners",
        "another executor",
        "a token",
        "a mistyped key",
        "a short poll timeout",
        "the runner's own poll timeout",
        "a key of a later runner",
        "patches without their flag",
        "an effect that is none",
        "a merge patch of containers",
        "an unknown kind of patch",
        "an unknown container",
        "a broken patch",
        "a GPU without a limit",
        "a GPU limit that differs",
    ],
)
def test_a_configuration_is_refused_for(config, reason):
    found = [text for _, text in config_problems(config)]
    assert any(reason in text for text in found), f"expected {reason!r} in {found}"


def test_tolerations_are_a_table_not_a_list():
    config = CONFIG.replace(
        '[runners.kubernetes.node_tolerations]\n"nvidia.com/gpu" = "NoSchedule"',
        '[[runners.kubernetes.node_tolerations]]\nkey = "nvidia.com/gpu"',
    )
    assert "not a list" in dict(config_problems(config))["runners.kubernetes.node_tolerations"]


def test_the_flag_may_be_in_the_environment():
    config = CONFIG.replace(
        f"[runners.feature_flags]\n{FLAG} = true", f'environment = ["{FLAG}=true"]'
    )
    assert list(config_problems(config)) == []


def test_a_patch_is_a_part_of_the_pods_spec():
    config = """
[[runners]]
[runners.feature_flags]
FF_USE_ADVANCED_POD_SPEC_CONFIGURATION = true
[[runners.kubernetes.pod_spec]]
patch = "[1, 2]"
"""
    assert (
        "must be a mapping" in dict(config_problems(config))["runners.kubernetes.pod_spec[0].patch"]
    )


def test_an_objection_to_the_configuration_reaches_the_release(lab: Lab):
    inputs = values(runners={"secret": "x", "config": CONFIG.replace("image =", "imagee =")})
    assert "imagee" in lab.invalid(RELEASE, inputs)["values.runners.config"]
