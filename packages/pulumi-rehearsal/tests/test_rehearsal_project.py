"""A Pulumi project as the rehearsal reads and runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi_rehearsal import RehearsalError, existing, project, rehearse
from pulumi_rehearsal.standin.world import World


def written(folder: Path, **files: str) -> Path:
    for name, text in {"Pulumi.yaml": "name: app\nruntime: python\n", **files}.items():
        path = folder / name.replace("__slash__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_the_folder_and_its_settings_name_the_same_project(tmp_path: Path) -> None:
    found = project.read(written(tmp_path))
    assert found == project.read(tmp_path / "Pulumi.yaml")
    assert (found.name, found.runtime, found.folder) == ("app", "python", tmp_path)


def test_main_may_be_a_folder_and_the_runtime_a_map(tmp_path: Path) -> None:
    settings = "name: app\nmain: src/\nruntime:\n  name: python\n  options: {virtualenv: venv}\n"
    found = project.read(written(tmp_path, **{"Pulumi.yaml": settings}))
    assert (found.main, found.runtime) == (tmp_path / "src", "python")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "has no Pulumi.yaml; give the folder of a Pulumi project"),
        ("a: [", "cannot be read"),
        ("runtime: python\n", "has no name; write name: and runtime: python"),
    ],
)
def test_a_folder_without_a_project_is_refused(
    tmp_path: Path, text: str | None, reason: str
) -> None:
    if text is not None:
        (tmp_path / "Pulumi.yaml").write_text(text)
    with pytest.raises(RehearsalError, match=r"Pulumi\.yaml") as raised:
        project.read(tmp_path)
    assert str(raised.value).startswith(str(tmp_path))
    assert reason in str(raised.value)


def test_the_only_stack_is_the_default_and_several_must_be_chosen_from(tmp_path: Path) -> None:
    found = project.read(written(tmp_path))
    assert found.stack_file(None).name == "Pulumi.dev.yaml"
    (tmp_path / "Pulumi.prod.yaml").touch()
    assert found.stack_file(None).name == "Pulumi.prod.yaml"
    (tmp_path / "Pulumi.test.yaml").touch()
    assert found.stack_file("other").name == "Pulumi.other.yaml"
    with pytest.raises(RehearsalError, match="pass stack= with one of prod, test"):
        found.stack_file(None)


def test_a_stack_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path) -> None:
    written(tmp_path, **{"Pulumi.dev.yaml": "config: {}\n"})
    with pytest.raises(RehearsalError, match=r"no such file.*the project has Pulumi\.dev\.yaml"):
        rehearse(tmp_path, stack="prod")


def test_modules_of_the_project_are_imported_anew_for_each_command(tmp_path: Path) -> None:
    files = {
        "__main__.py": "import app_network\nopen('ran').read()\n",
        "app_network.py": "import sys\nsys.app_runs = getattr(sys, 'app_runs', 0) + 1\n",
        "ran": "relative paths start at the program's folder",
    }
    found = project.read(written(tmp_path, **files))
    before = list(sys.path)
    found.run()
    found.run()
    assert sys.__dict__.pop("app_runs") == 2
    assert "app_network" not in sys.modules
    assert sys.path == before


@pytest.mark.parametrize("runtime", ["nodejs", "python"])
def test_a_project_without_a_python_program_needs_one(tmp_path: Path, runtime: str) -> None:
    settings = {"Pulumi.yaml": f"name: app\nruntime: {runtime}\n"}
    with pytest.raises(RehearsalError, match="pass one with program="):
        project.read(written(tmp_path, **settings)).run()


@pytest.mark.engine
def test_options_reach_the_program(tmp_path: Path) -> None:
    import pulumi_aws as aws
    import pulumi_kubernetes as kubernetes

    written(tmp_path, **{"index.html": "hello", "Pulumi.dev.yaml": "config: {}\n"})
    seen: list[object] = []

    def program() -> None:
        config = pulumi.Config()
        seen.append((config.require("team"), config.require_object("sizes")))
        bucket = aws.s3.Bucket("pages")
        source = pulumi.FileAsset("index.html")
        aws.s3.BucketObject("index", bucket=bucket.id, source=source)
        kubernetes.core.v1.Secret(
            "password",
            metadata={"namespace": "shop"},
            string_data={"password": config.require_secret("password")},
        )

    def later() -> None:
        program()
        aws.sns.Topic("news")

    result = rehearse(
        tmp_path,
        config={"team": "web", "sizes": [1, 2]},
        secret_config={"password": "correct horse"},
        existing=[existing.namespace("shop")],
        program=program,
        to=later,
        folder=tmp_path / "left",
    )
    assert result.problems == ()
    assert set(map(repr, seen)) == {"('web', [1, 2])"}
    assert [phase.title for phase in result.phases][:3] == ["up Pulumi.dev.yaml", "preview", "up"]
    assert result.phase("up").counts["create"] == 1
    warned = {line.partition(": has no stand-in")[0] for line in result.warnings}
    assert warned == {"aws:s3/bucketObject:BucketObject", "aws:sns/topic:Topic"}
    assert "correct horse" not in (tmp_path / "left" / "state.json").read_text()


@pytest.mark.engine
def test_what_others_made_is_still_there_after_destroy(tmp_path: Path) -> None:
    import pulumi_kubernetes as kubernetes

    written(tmp_path, **{"Pulumi.dev.yaml": "config: {}\n"})
    till, stock = existing.namespace("till"), existing.namespace("stock")

    def program() -> None:
        kubernetes.core.v1.Namespace("shop", metadata={"name": "shop"})

    def rehearsed(folder: str, **options: Any) -> tuple[str, ...]:
        return rehearse(tmp_path, program=program, folder=tmp_path / folder, **options).problems

    (problem,) = rehearsed("held", existing=[existing.secret("shop", "theirs")])
    assert "namespace 'shop' holds the Secret 'theirs', which the program did not create" in problem

    def careless(world: World) -> None:
        world.add(stock)
        world.remove(till)

    (problem,) = rehearsed("gone", existing=[till], between=careless, to=program)
    assert problem == (
        "deleted, though the program did not create it: kubernetes:core/v1:Namespace till"
    )
