"""The rehearsal of an existing cluster: no kubeconfig is read."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pulumi_rehearsal.result import Result
from pulumi_rehearsal.standin.kind import Resource

from rehearsal import checks
from rehearsal.run import rehearse
from rehearsal.stackfile import StackFile

pytestmark = pytest.mark.engine

SERVER = "https://honey.example.com:6443"

KUBECONFIG = f"""
apiVersion: v1
kind: Config
current-context: honey
contexts: [{{name: honey, context: {{cluster: honey, user: me}}}}]
clusters: [{{name: honey, cluster: {{server: "{SERVER}"}}}}]
"""

STACK = """
config:
  pulumi:disable-default-providers: ["*"]
  gpu-runners:stack:
    clusters:
      honey:
        existing:
          context: honey
          kubeconfig: {kubeconfig}
          pools:
            cpu: {{cpu: 8, memory: 32Gi, disk: 100Gi, count: 2, labels: {{ci: cpu}}}}
            honey:
              cpu: 16
              memory: 64Gi
              disk: 300Gi
              count: 1
              labels: {{ci: device}}
              taints: [{{key: dedicated, value: ci, effect: NoSchedule}}]
              devices: {{dri: 4, kvm: 1}}
            a100:
              cpu: 128
              memory: 1000Gi
              disk: 900Gi
              gpu: A100-40GB
              gpus: 8
              count: 2
              labels: {{ci: gpu}}
              taints: [{{key: nvidia.com/gpu, value: "true", effect: NoExecute}}]
              runtime_class: nvidia
              container_runtime: crio
              sharing: {{time_slicing: 2}}
        gpu_stack: {{advertiser: device_plugin}}
        github:
          url: https://github.com/example-org
          app: {{id: 1, installation_id: 2, private_key: {{secret: githubAppKey}}}}
          lanes:
            vulkan: {{pools: [honey], cpu: 2, memory: 8Gi, max_runners: 4, device: dri}}
            android:
              pools: [honey]
              cpu: 2
              memory: 8Gi
              max_runners: 1
              device: kvm
              device_access: privileged
              run_as_root: true
              container_mode: kubernetes-novolume
            deploy:
              pools: [a100]
              gpus: 1
              gpu: A100-40GB
              max_runners: 4
              kubernetes_access: {{namespaces: [ci-jobs], existing_namespaces: [shared]}}
        gitlab:
          api_token: {{secret: gitlabApiToken}}
          lanes:
            a100:
              pools: [a100]
              gpus: 1
              memory_limit: 16Gi
              default_tags: true
              hpa: {{max_replicas: 2}}
              max_cpu: 8
              runner: {{group_id: 42}}
              kubernetes_access: {{existing_namespaces: [shared]}}
"""


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Result]:
    """A rehearsal with a kubeconfig in the stack file and in the environment."""
    folder = tmp_path_factory.mktemp("existing")
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG)
    file = folder / "Pulumi.honey.yaml"
    file.write_text(STACK.format(kubeconfig=kubeconfig))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(kubeconfig))
        yield rehearse(file, folder=folder / "left")


def test_objects_in_an_existing_cluster_are_created_and_destroyed(rehearsed: Result) -> None:
    assert rehearsed.problems == ()
    events = [event for event in rehearsed.world.journal if event.action == "created"]
    types = {event.type for event in events}
    assert {
        "kubernetes:apps/v1:DaemonSet",
        "kubernetes:core/v1:ServiceAccount",
        "kubernetes:rbac.authorization.k8s.io/v1:Role",
        "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding",
    } <= types
    assert {kind.partition(":")[0] for kind in types} <= {"kubernetes", "gitlab"}
    made = {event.name for event in events if event.type == "kubernetes:core/v1:Namespace"}
    assert "honey-jobs-ci-jobs" in made
    assert "honey-jobs-shared" not in made, "that namespace exists outside the stack"


def test_no_kubeconfig_is_read(rehearsed: Result) -> None:
    written = [file for file in rehearsed.folder.rglob("*") if file.is_file()]
    assert written
    assert not [file for file in written if SERVER in file.read_text(errors="replace")]


OURS = """
config:
  pulumi:disable-default-providers: ["*"]
  gpu-runners:stack:
    clusters:
      honey:
        existing:
          context: honey
          pools: {cpu: {cpu: 8, memory: 32Gi, disk: 100Gi, count: 2, labels: {ci: cpu}}}
        github:
          url: https://github.com/example-org
          app: {id: 1, installation_id: 2, private_key: {secret: githubAppKey}}
          lanes:
            small:
              {pools: [cpu], cpu: 1, memory: 2Gi, max_runners: 2,
               kubernetes_access: {namespaces: [ci-jobs]}}
        gitlab:
          lanes: {small: {pools: [cpu], cpu: 1, memory: 2Gi, token: {secret: runnerToken}}}
"""
APP = "app: {id: 1, installation_id: 2, private_key: {secret: githubAppKey}}"
THEIRS = (
    OURS.replace(APP, "existing_secret: app-keys")
    .replace("{namespaces", "{existing_namespaces")
    .replace("token: {secret: runnerToken}", "existing_secret: runner-token")
)
NAMESPACE = "kubernetes:core/v1:Namespace"
SPACES = {"arc-runners", "ci-jobs", "gitlab-runners"}


def test_namespaces_that_become_the_users_are_given_up_and_not_deleted(tmp_path: Path) -> None:
    files = [tmp_path / f"Pulumi.{name}.yaml" for name in ("ours", "theirs")]
    for file, text in zip(files, (OURS, THEIRS), strict=True):
        file.write_text(text)
    result = rehearse(files[0], to=files[1], folder=tmp_path / "left")
    assert result.problems == ()
    kinds = {NAMESPACE, "kubernetes:core/v1:Secret"}
    left = {
        (one.type.rpartition(":")[2], one.id) for one in result.world.all() if one.type in kinds
    }
    assert left == {
        *(("Namespace", name) for name in SPACES),
        ("Secret", "arc-runners/app-keys"),
        ("Secret", "gitlab-runners/runner-token"),
    }
    journal = result.world.journal
    gone = {one.name for one in journal if (one.action, one.type) == ("deleted", NAMESPACE)}
    assert gone == {"honey-arc-namespace"}, "the controller's is ours"


def test_a_missing_namespace_stops_the_preview(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "Pulumi.theirs.yaml"
    file.write_text(THEIRS)
    monkeypatch.setattr(checks, "existing", lambda _file: [])
    result = rehearse(file, folder=tmp_path / "left")
    assert [phase.title for phase in result.phases] == ["preview"]
    assert any(f"resource '{name}' does not exist" in str(result.problems) for name in SPACES)


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        ("app-keys", "ARC did not register the scale set arc-runners/small-"),
        ("runner-token", "The runner manager gitlab-runners/gitlab-small-"),
    ],
)
def test_a_missing_secret_says_what_to_look_at(
    secret: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "Pulumi.theirs.yaml"
    file.write_text(THEIRS)
    made = checks.existing

    def without_one(of: StackFile) -> list[Resource]:
        return [one for one in made(of) if one.name != secret]

    monkeypatch.setattr(checks, "existing", without_one)
    result = rehearse(file, folder=tmp_path / "left")
    assert said in " ".join(result.problems)
