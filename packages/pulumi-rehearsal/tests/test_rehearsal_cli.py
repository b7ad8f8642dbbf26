"""The order in which the Pulumi CLI is searched for, downloaded and built."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pulumi_rehearsal import children, cli
from pulumi_rehearsal.errors import RehearsalError

WANTED = cli.pinned_version()


def program(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def fake_pulumi(path: Path, version: str) -> Path:
    return program(path, f"echo v{version}")


@dataclass
class Machine:
    """A machine with an empty home and an empty PATH; nothing on it can reach the network."""

    root: Path
    said: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def find(self) -> cli.Cli:
        return cli.find(self.said.append, self.environment)

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    @property
    def kept(self) -> Path:
        return cli.cache_folder(self.environment) / "pulumi"

    def install_go(self, body: str) -> None:
        program(self.bin / "go", body)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(cli, "_reachable", lambda host: False)
    environment = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path / "home")}
    return Machine(tmp_path, environment=environment)


# The output is the argument after -o; a build prints what it compiles.
BUILDS = (
    'while [ "$1" != "-o" ]; do shift; done\n'
    'echo "go: downloading example.org/module v1.0.0" >&2\n'
    'echo "example.org/module/package" >&2\n'
    'printf \'#!/bin/sh\\necho v1.2.3\\n\' > "$2"\n/bin/chmod 755 "$2"'
)


def test_the_environment_variable_has_priority(machine: Machine) -> None:
    chosen = fake_pulumi(machine.root / "mine" / "pulumi", "3.250.0")
    fake_pulumi(machine.bin / "pulumi", WANTED)
    machine.environment["PULUMI_CLI"] = str(chosen)
    found = machine.find()
    assert (found.path, found.version, found.why) == (chosen, "3.250.0", "named by PULUMI_CLI")


def test_a_variable_that_names_no_cli_is_refused(machine: Machine) -> None:
    fake_pulumi(machine.bin / "pulumi", WANTED)
    machine.environment["PULUMI_CLI"] = "/no/such/pulumi"
    with pytest.raises(
        RehearsalError, match="PULUMI_CLI: /no/such/pulumi is no Pulumi CLI that runs"
    ):
        machine.find()


def test_a_recent_cli_on_path_has_priority_over_the_cache(machine: Machine) -> None:
    on_path = fake_pulumi(machine.bin / "pulumi", ".".join(map(str, cli.MINIMUM)))
    fake_pulumi(machine.kept, WANTED)
    found = machine.find()
    assert (found.path, found.why) == (on_path, "found on PATH")
    assert machine.said == []


@pytest.mark.parametrize("version", ["3.205.9", "2.99.0", "4.0.0", "not a version"])
def test_an_unsuitable_cli_on_path_is_skipped_with_a_message(
    machine: Machine, version: str
) -> None:
    on_path = fake_pulumi(machine.bin / "pulumi", version)
    fake_pulumi(machine.kept, WANTED)
    found = machine.find()
    assert found.path == machine.kept
    assert found.why == f"kept from an earlier run ({on_path} is {version})"


def test_a_broken_cli_on_path_is_skipped(machine: Machine) -> None:
    on_path = program(machine.bin / "pulumi", "exit 1")
    fake_pulumi(machine.kept, WANTED)
    assert machine.find().why == f"kept from an earlier run ({on_path} is no working Pulumi CLI)"


def test_a_download_has_priority_over_a_build_and_is_kept(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.install_go("exit 1")
    monkeypatch.setattr(cli, "_reachable", lambda host: True)

    def install(command: list[str], **more: object) -> int:
        fake_pulumi(Path(command[-2]) / "bin" / "pulumi", command[-1])
        return 0

    monkeypatch.setattr(children, "run", install)
    found = machine.find()
    assert (found.path, found.why) == (machine.kept, "downloaded")
    monkeypatch.undo()
    assert machine.find().why == "kept from an earlier run"
    assert {path.name for path in machine.kept.parent.iterdir()} == {"lock", "pulumi"}


def test_an_installer_that_fails_leads_to_a_build(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_reachable", lambda host: True)
    monkeypatch.setattr(cli.sys, "executable", "/bin/false")
    machine.install_go(BUILDS)
    assert machine.find().why == "built from its source"
    assert "its installer ended with 1" in "\n".join(machine.said)


def test_an_installer_that_hangs_is_ended(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = program(machine.root / "python", "exec /bin/sleep 60")
    monkeypatch.setattr(cli, "_reachable", lambda host: True)
    monkeypatch.setattr(cli.sys, "executable", str(hanging))
    monkeypatch.setattr(cli, "INSTALL_S", 0.2)
    target = machine.root / "pulumi"
    assert cli.install(target, WANTED, machine.said.append) is False
    assert "TimeoutExpired in its installer" in machine.said[-1]


def test_the_build_is_the_last_resort_and_is_kept(machine: Machine) -> None:
    machine.install_go(BUILDS)
    found = machine.find()
    assert (found.path, found.version) == (machine.kept, WANTED)
    assert found.why == "built from its source"
    assert any("3 to 5 minutes" in line for line in machine.said)
    machine.install_go("exit 1")
    assert machine.find().why == "kept from an earlier run"


def test_a_long_build_reports_its_progress(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "PROGRESS_S", 0.0)
    machine.install_go(BUILDS)
    machine.find()
    assert machine.said[-1].startswith("building the Pulumi CLI: ")
    assert machine.said[-1].endswith(" s, 1 modules fetched, 1 packages compiled")


def test_a_failed_build_leaves_nothing_and_names_the_remedies(machine: Machine) -> None:
    machine.install_go("echo 'go: no route to the proxy' >&2; exit 1")
    with pytest.raises(RehearsalError) as raised:
        machine.find()
    message = str(raised.value)
    assert "its build failed: go: no route to the proxy" in message
    assert [path.name for path in machine.kept.parent.iterdir()] == ["lock"]


def test_without_network_and_go_three_remedies_are_named(machine: Machine) -> None:
    with pytest.raises(RehearsalError) as raised:
        machine.find()
    for remedy in ("on PATH", "PULUMI_CLI", "install Go"):
        assert remedy in str(raised.value)


def test_two_runs_at_once_build_once(machine: Machine) -> None:
    machine.install_go(f"echo built >> {machine.root}/builds\n/bin/sleep 0.3\n{BUILDS}")
    found: list[cli.Cli] = []
    threads = [threading.Thread(target=lambda: found.append(machine.find())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [each.path for each in found] == [machine.kept] * 2
    assert (machine.root / "builds").read_text() == "built\n"


def test_the_cache_follows_xdg_and_what_is_built(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = cli.cache_folder(machine.environment)
    assert before.parent == tmp_path / "home" / ".cache" / "pulumi-rehearsal" / "pulumi"
    assert before.name.startswith(f"{WANTED}-")
    machine.environment["XDG_CACHE_HOME"] = str(tmp_path / "xdg")
    assert cli.cache_folder(machine.environment).parents[1] == tmp_path / "xdg" / "pulumi-rehearsal"
    other = tmp_path / "engine"
    other.mkdir()
    (other / "go.mod").write_text(f"require {cli.PACKAGE} v3.300.1 // indirect\n")
    (other / "go.sum").write_text("")
    monkeypatch.setattr(cli, "MODULE", other)
    assert cli.cache_folder(machine.environment).name.startswith("3.300.1-")


def test_a_module_without_a_version_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "go.mod").write_text("module x\n")
    monkeypatch.setattr(cli, "MODULE", tmp_path)
    with pytest.raises(RehearsalError, match=r"requires no github\.com/pulumi/pulumi/pkg/v3"):
        cli.pinned_version()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


@pytest.mark.parametrize("ending", [KeyboardInterrupt, None], ids=["interrupted", "ended"])
def test_no_child_outlives_its_program(tmp_path: Path, ending: type[BaseException] | None) -> None:
    # The child ignores SIGINT, as it does in the background job of a shell.
    wait = "trap '' INT\n/bin/sleep 60" if ending else "exit 3"
    parent = program(tmp_path / "parent", f"/bin/sleep 60 &\necho $!\n{wait}")
    pids: list[int] = []

    def take(line: str) -> None:
        pids.append(int(line))

    run: Callable[[], int] = lambda: children.run([str(parent)], on_output=take)  # noqa: E731
    if ending is None:
        assert run() == 3
    else:
        main = threading.get_ident()
        # Whoever runs the tests may ignore SIGINT: use another signal that raises the same.
        before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
        try:
            threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGUSR1)).start()
            with pytest.raises(ending):
                run()
        finally:
            signal.signal(signal.SIGUSR1, before)
    assert len(pids) == 1
    for _ in range(100):
        if not alive(pids[0]):
            break
        threading.Event().wait(0.05)
    assert not alive(pids[0])
