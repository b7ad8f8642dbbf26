"""The Pulumi CLI that a rehearsal runs: found, downloaded or built, and kept for the next time.

Order: `PULUMI_CLI`, a recent `pulumi` on PATH, the cache, the official installer, a build of the Go
module in `cli_module/`. The cache is `$XDG_CACHE_HOME/pulumi-rehearsal/pulumi/<key>/pulumi`; the
key holds the version and a hash of the module's files.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pulumi_rehearsal import children
from pulumi_rehearsal.errors import RehearsalError

MINIMUM: Final = (3, 206, 0)
"""Oldest CLI taken from PATH: the first that sends its events over gRPC, which the installed SDK's
Automation API needs (its _stack.py, _setup_event_log); `--client` for destroy is older."""

MODULE: Final = Path(__file__).with_name("cli_module")
PACKAGE: Final = "github.com/pulumi/pulumi/pkg/v3"
INSTALLER_HOST: Final = "get.pulumi.com"
PROBE_S: Final = 5.0
INSTALL_S: Final = 300.0
VERSION_S: Final = 20.0
PROGRESS_S: Final = 10.0

Say = Callable[[str], None]
"""Prints one line of progress."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cli:
    """A Pulumi CLI: its path, its version, and the reason why it was chosen."""

    path: Path
    version: str
    why: str


def find(say: Say, environment: Mapping[str, str] | None = None) -> Cli:
    """Return the CLI to use; report slow steps. Raises `RehearsalError` if there is none."""
    env = os.environ if environment is None else environment
    chosen = env.get("PULUMI_CLI")
    if chosen:
        return _chosen(Path(chosen))
    wanted = pinned_version()
    skipped = ""
    on_path = shutil.which("pulumi", path=env.get("PATH"))
    if on_path:
        version = version_of(Path(on_path))
        if _good_enough(version):
            return Cli(path=Path(on_path), version=version, why="found on PATH")
        skipped = f" ({on_path} is {version or 'no working Pulumi CLI'})"
    kept = cache_folder(env) / "pulumi"
    if _is_program(kept):
        return Cli(path=kept, version=wanted, why=f"kept from an earlier run{skipped}")
    kept.parent.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(
        kept.parent, say, "another rehearsal is fetching the Pulumi CLI; waiting for it"
    ):
        if _is_program(kept):
            return Cli(path=kept, version=wanted, why=f"kept from an earlier run{skipped}")
        if install(kept, wanted, say):
            return Cli(path=kept, version=wanted, why=f"downloaded{skipped}")
        build(kept, wanted, say, env)
    return Cli(
        path=kept,
        version=wanted,
        why=f"built from its source{skipped}",
    )


def pinned_version() -> str:
    """Return the version that `cli_module/go.mod` requires, without its `v`."""
    text = (MODULE / "go.mod").read_text(encoding="utf-8")
    found = re.search(rf"{re.escape(PACKAGE)} v(\S+)", text)
    if found is None:
        raise RehearsalError(
            f"{MODULE / 'go.mod'}: requires no {PACKAGE}; reinstall pulumi-rehearsal"
        )
    return found.group(1)


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder in the cache for the CLI of the pinned version."""
    base = environment.get("XDG_CACHE_HOME")
    root = Path(base) if base else Path(environment.get("HOME") or Path.home()) / ".cache"
    digest = hashlib.sha256((MODULE / "go.mod").read_bytes() + (MODULE / "go.sum").read_bytes())
    return root / "pulumi-rehearsal" / "pulumi" / f"{pinned_version()}-{digest.hexdigest()[:12]}"


def version_of(program: Path) -> str:
    """Return what `pulumi version` prints, without its `v`; empty if it does not run."""
    try:
        answer = subprocess.run(  # noqa: S603
            [program, "version"],
            capture_output=True,
            check=True,
            text=True,
            timeout=VERSION_S,
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.strip().removeprefix("v")


def install(target: Path, version: str, say: Say) -> bool:
    """Run the official installer and keep its `pulumi`; return whether that worked."""
    if not _reachable(INSTALLER_HOST):
        say(f"the Pulumi CLI cannot be downloaded: {INSTALLER_HOST} cannot be reached")
        return False
    say(f"downloading the Pulumi CLI {version} (at most {INSTALL_S:.0f} s)")
    root = target.parent / f"install.{os.getpid()}"
    script = (
        "import sys; from semver import VersionInfo; from pulumi.automation import PulumiCommand; "
        "PulumiCommand.install(root=sys.argv[1], version=VersionInfo.parse(sys.argv[2]))"
    )
    try:
        # In its own process with a time limit: the installer's script may hang.
        command = [sys.executable, "-c", script, str(root), version]
        code = children.run(command, timeout_s=INSTALL_S)
        if code == 0:
            os.replace(root / "bin" / "pulumi", target)
            return True
        say(f"the Pulumi CLI cannot be downloaded: its installer ended with {code}")
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"the Pulumi CLI cannot be downloaded: {type(error).__name__} in its installer")
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return False


def build(target: Path, version: str, say: Say, environment: Mapping[str, str]) -> None:
    """Build the CLI of `cli_module/` to `target`. Raises `RehearsalError` if the build fails."""
    go = shutil.which("go", path=environment.get("PATH"))
    if go is None:
        raise RehearsalError(
            _remedies(
                version, "it cannot be downloaded, and Go is not installed, so it cannot be built"
            )
        )
    say(f"building the Pulumi CLI {version} with {go}: 3 to 5 minutes the first time")
    temporary = target.with_name(f"pulumi.{os.getpid()}")
    stamp = f"-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{version}"
    command = [go, "build", "-v", "-mod=readonly", "-tags", "osusergo,grpcnotrace"]
    command += ["-ldflags", f"-s -w {stamp}", "-o", str(temporary), f"{PACKAGE}/cmd/pulumi"]
    env = {**environment, "CGO_ENABLED": "0", "GOWORK": "off"}
    progress = _BuildProgress(say)
    try:
        code = children.run(command, folder=MODULE, environment=env, on_error=progress.line)
        if code != 0:
            raise RehearsalError(_remedies(version, f"its build failed: {progress.last}"))
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


class _BuildProgress:
    """Counts the modules and packages of `go build -v`, and reports them every ten seconds."""

    def __init__(self, say: Say) -> None:
        self.last = "no message"
        self._say = say
        self._started = self._reported = time.monotonic()
        self._modules = self._packages = 0

    def line(self, text: str) -> None:
        """Count one line of output; keep the last one that is not progress."""
        if text.startswith("go: downloading "):
            self._modules += 1
        elif "/" in text and " " not in text:
            self._packages += 1
        elif text:
            self.last = text
        now = time.monotonic()
        if now - self._reported >= PROGRESS_S:
            self._reported = now
            self._say(
                f"building the Pulumi CLI: {now - self._started:.0f} s, {self._modules} modules "
                f"fetched, {self._packages} packages compiled"
            )


def _chosen(path: Path) -> Cli:
    version = version_of(path)
    if not version:
        raise RehearsalError(f"PULUMI_CLI: {path} is no Pulumi CLI that runs; correct or unset it")
    return Cli(path=path.absolute(), version=version, why="named by PULUMI_CLI")


def _good_enough(version: str) -> bool:
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    return found is not None and MINIMUM <= tuple(map(int, found.groups())) < (4, 0, 0)


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _reachable(host: str) -> bool:
    """Whether a TCP connection succeeds in time; name resolution itself has no time limit."""
    if os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy"):
        return True
    reached = threading.Event()

    def connect() -> None:
        try:
            socket.create_connection((host, 443), timeout=PROBE_S).close()
            reached.set()
        except OSError:
            pass

    probe = threading.Thread(target=connect, daemon=True)
    probe.start()
    probe.join(PROBE_S)
    return reached.is_set()


@contextmanager
def one_at_a_time(folder: Path, say: Say, waiting: str) -> Generator[None]:
    """Hold the lock of a folder, so that only one run fills it; print `waiting` before a wait."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(waiting)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remedies(version: str, reason: str) -> str:
    wanted = ".".join(map(str, MINIMUM))
    return (
        f"no Pulumi CLI: {reason}. Do one of these: install pulumi {wanted} or later so that it is "
        f"on PATH (https://www.pulumi.com/docs/install/); set PULUMI_CLI to one; or install Go and "
        f"allow it to fetch modules, and {version} is built here"
    )
