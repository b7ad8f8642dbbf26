"""The gitlab-runner chart: Secret, token, configuration and rights."""

import pytest
from kubernetes_cluster import CONFIG, RELEASE, Cluster, gitlab_inputs
from pulumi_rehearsal.standin import gitlab
from pulumi_rehearsal.standin.kubernetes import world_faults
from pulumi_rehearsal.standin.kubernetes.gitlab_config import problems as config_problems

FLAG = "FF_USE_ADVANCED_POD_SPEC_CONFIGURATION"


def values(**changes):
    inputs = gitlab_inputs()
    inputs["values"] = {**inputs["values"], **changes}
    return inputs


def runner(cluster: Cluster):
    return cluster.create(
        gitlab.RUNNER, {"runnerType": "group_type", "groupId": 7, "tagLists": ["gpu"]}
    )


def test_install_and_uninstall(cluster: Cluster):
    release = cluster.gitlab_runner()
    assert world_faults(cluster.world) == []
    cluster.delete(release)
    assert {one.id for one in cluster.world.all()} == {"ci", "ci/runner"}


def test_install_with_a_token_in_the_values_needs_no_secret(cluster: Cluster):
    cluster.namespace("ci")
    cluster.release(values(runnerToken="glrt-x", runners={"config": CONFIG}))
    assert world_faults(cluster.world) == []


def test_install_refuses_a_missing_secret(cluster: Cluster, refused):
    with refused("runners.secret 'absent' does not exist in namespace 'ci'"):
        cluster.gitlab_runner(values={"runners": {"secret": "absent"}})


@pytest.mark.parametrize("key", ["runner-token", "runner-registration-token"])
def test_install_refuses_a_secret_without(cluster: Cluster, refused, key):
    cluster.namespace("ci")
    keys = {"runner-token": "glrt-x", "runner-registration-token": ""}
    del keys[key]
    cluster.secret("ci", "runner", **keys)
    with refused(f"has no key '{key}', which the chart projects"):
        cluster.release(gitlab_inputs())


def test_install_refuses_a_secret_of_empty_tokens(cluster: Cluster, refused):
    with refused("holds no token at all"):
        cluster.gitlab_runner(runner_token="")


def test_install_refuses_the_token_of_a_deleted_runner(cluster: Cluster, refused):
    made = runner(cluster)
    cluster.delete(made)
    with refused("belongs to a GitLab runner that does not exist"):
        cluster.gitlab_runner(runner_token=made.outputs["token"])


def test_later_deletion_of_the_runner_is_a_fault(cluster: Cluster):
    made = runner(cluster)
    cluster.gitlab_runner(runner_token=made.outputs["token"])
    assert world_faults(cluster.world) == []
    cluster.world.remove(made)
    assert ["runner that does not exist" in fault for fault in world_faults(cluster.world)] == [
        True
    ]


def test_later_change_of_the_token_is_a_fault(cluster: Cluster):
    release = cluster.gitlab_runner(runner_token="glrt-old")
    secret = cluster.world.get("ci/runner", "kubernetes:core/v1:Secret", cluster.home)
    cluster.change(secret, stringData={"runner-token": "glrt-new"})
    assert [
        "changed after the manager started" in fault for fault in world_faults(cluster.world)
    ] == [True]
    cluster.change(release, values={"podAnnotations": {"runner": "8"}})
    assert world_faults(cluster.world) == []


def test_install_refuses_a_missing_namespace_of_the_jobs(cluster: Cluster, refused):
    config = CONFIG.replace('namespace = "ci"', 'namespace = "jobs"')
    with refused("names the namespace 'jobs', which does not exist"):
        cluster.gitlab_runner(values={"runners": {"config": config}})


def test_install_refuses_a_role_in_another_namespace_than_the_jobs(cluster: Cluster, refused):
    cluster.namespace("jobs")
    config = CONFIG.replace('namespace = "ci"', 'namespace = "jobs"')
    with refused("jobs run in namespace 'jobs', the chart's role is in 'ci'"):
        cluster.gitlab_runner(values={"runners": {"config": config}})
    assert cluster.gitlab_runner(values={"runners": {"config": config, "jobNamespace": "jobs"}})


def test_install_refuses_a_missing_service_account(cluster: Cluster, refused):
    with refused("ServiceAccount 'own' does not exist"):
        cluster.gitlab_runner(values={"serviceAccount": {"create": False, "name": "own"}})


@pytest.mark.parametrize(
    ("changes", "path", "reason"),
    [
        ({"gitlabUrl": None}, "values.gitlabUrl", "is missing"),
        ({"rbac": {}}, "values.rbac.create", "must be true"),
        ({"runners": {"config": CONFIG}}, "values.runners.secret", "name of a Secret"),
        ({"runners": {"secret": "x"}}, "values.runners.config", "is missing"),
        (
            {"runners": {"secret": "x", "config": CONFIG, "tags": "gpu"}},
            "values.runners.tags",
            "makes the registration",
        ),
        (
            {"runners": {"secret": "x", "config": CONFIG, "privileged": True}},
            "values.runners.privileged",
            "ignores this key",
        ),
    ],
    ids=[
        "no address",
        "no rights",
        "no Secret",
        "no config",
        "tags of the runner",
        "a key of an older chart",
    ],
)
def test_check_refuses(cluster: Cluster, changes, path, reason):
    assert reason in cluster.invalid(RELEASE, values(**changes))[path]


def test_valid_configuration():
    assert list(config_problems(CONFIG)) == []


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ('name = "{{ .Release.Name }}"', "as a template"),
        ("[[runners]\n", "is not TOML"),
        ("concurrent = 4\n", "found 0"),
        (CONFIG + "\n[[runners]]\n", "found 2"),
        (CONFIG.replace('executor = "kubernetes"', 'executor = "docker"'), "must be 'kubernetes'"),
        (CONFIG.replace("executor =", 'token = "glrt-x"\nexecutor ='), "belongs in the Secret"),
        (
            CONFIG.replace("poll_timeout = 1800", "poll_timout = 1800"),
            "did you mean 'poll_timeout'",
        ),
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
        (CONFIG.replace("name: build", "name: job"), "has no container 'job'"),
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
        "a key of a later runner",
        "patches without their flag",
        "an unknown effect",
        "a merge patch of containers",
        "an unknown kind of patch",
        "an unknown container",
        "a broken patch",
        "a GPU without a limit",
        "a GPU limit that differs",
    ],
)
def test_invalid_configuration(config, reason):
    found = [text for _, text in config_problems(config)]
    assert any(reason in text for text in found), f"expected {reason!r} in {found}"


def test_tolerations_must_be_a_table():
    config = CONFIG.replace(
        '[runners.kubernetes.node_tolerations]\n"nvidia.com/gpu" = "NoSchedule"',
        '[[runners.kubernetes.node_tolerations]]\nkey = "nvidia.com/gpu"',
    )
    assert "not a list" in dict(config_problems(config))["runners.kubernetes.node_tolerations"]


def test_feature_flag_may_be_in_the_environment():
    config = CONFIG.replace(
        f"[runners.feature_flags]\n{FLAG} = true", f'environment = ["{FLAG}=true"]'
    )
    assert list(config_problems(config)) == []


def test_patch_must_be_a_mapping():
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


def test_check_refuses_an_invalid_configuration(cluster: Cluster):
    inputs = values(runners={"secret": "x", "config": CONFIG.replace("image =", "imagee =")})
    assert "imagee" in cluster.invalid(RELEASE, inputs)["values.runners.config"]
