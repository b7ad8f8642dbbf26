"""The comment: its content, its size, and hostile text in it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from change.comment import MAX_CHARACTERS, MAX_SUMMARY_BYTES, RUN_URL, comment, main, summary
from change.document import Document, Rename
from tests.change.diffs import diff, group, prop, resource
from tests.fleet.report.reports import difference_json

TYPES = prop("instanceTypes[0]", old="g4dn.xlarge", new="g4dn.2xlarge", replaces=True)

_KEYS = st.sampled_from(
    [
        *("clusters", "pools", "lanes", "totals", "usd_per_month", "floor", "gpus", "kinds"),
        *("write", "changed", "renamed", "added", "old", "new", "findings", "effects", "job"),
    ]
)

HOSTILE = [
    "@everyone look",
    "fixes #1 and GH-1 and other/repo#2",
    "<img src=x onerror=alert(1)>",
    "<!-- gpu-runners diff: staging -->",
    "</details></summary><details open>",
    "![pixel](https://evil.example/x.png)",
    "[click](javascript:alert(1)) https://evil.example www.evil.example",
    "``` \n```\n# heading\n```",
    "`` ` `` ```` ",
    "a | b | c\\| d",
    "line\nbreak\r\n\n| cell |\u2028more",
    "\u202egnp.live\u202c \u200bzero \x1b[31m red \x00",
    "$`x`$ &lt;script&gt; **bold** _it_ ~~no~~",
    "/close\n/merge\n%1 !2 ~bug ^alert",
    "_www.evil.example _GH-1 WWW.evil.example",
    "```mermaid\nclick a href 'https://evil.example'\n```",
]

ACTIVE = [
    *("@", "#1", "GH-1", "://", "www.", "<img", "![", "](", "$", "&lt;", "**b", "%1", "!2", "~b")
]
"""Text that GitHub or GitLab would render as markup, link, mention or reference."""


def replaced(**more: Any) -> Document:
    one = group(
        "replace",
        called_out=True,
        causes=[TYPES],
        resources=[resource("replace", properties=[TYPES])],
    )
    return diff(subjects=[one], counts={"replace": 1}, **more)


def outside_code(text: str) -> str:
    """Return what GitHub renders as Markdown: without fenced blocks and code spans."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        opening = re.match(r"(`{3,})", line)
        if fence:
            if line == fence:
                fence = ""
            continue
        if opening and "`" not in line[len(opening[1]) :]:
            fence = opening[1]
            continue
        lines.append(line)
    assert not fence, "every fence is closed"
    return re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", "\n".join(lines))


def hostile(text: str) -> Document:
    """Return a document with the text in every field that takes any text."""
    bad = prop(text, old=text, new=text)
    one = group(
        "replace",
        cluster=text,
        name=text,
        renamed_from=text,
        called_out=True,
        causes=[bad],
        resources=[resource("replace", name=text, urn=text, properties=[bad], reasons=[text])],
    )
    other = group("update", name=text, resources=[resource(name=text, properties=[bad])])
    difference = difference_json(report("other"), report(text))
    update = dict.fromkeys(("what", "id", "effect", "says"), text)
    difference["updates"] += [{**update, "because": [text], "lanes": [text]}]
    return diff(
        engine=text,
        base={"ref": text, "commit": "0" * 40},
        problem=text,
        refused=(text,),
        notes=(text,),
        counts={"replace": 1, "update": 1},
        settings=[{"path": text, "change": "update", "old": text, "new": text}],
        renames=[{"kind": "pool", "cluster": text, "old": text, "new": text, "lost": (text,)}],
        subjects=[one, other],
        report=report(text),
        difference=difference,
    )


def report(text: str) -> dict[str, Any]:
    """Return a report with the text as name and value of everything."""
    pool = {"kinds": [text], "gpu": text, "gpus": 1, "max": 9, "capacity": text, "min": 0}
    lane = {
        "forge": "github",
        "name": text,
        "write": [text],
        "pools": [text],
        "job": {"device": text},
        "placements": [{"pool": text, "kind": text, "limited_by": text}],
    }
    finding = dict.fromkeys(("rule", "severity", "path", "message", "remedy"), text)
    return {
        "stack": text,
        "date": text,
        "totals": {"usd_per_month": {"floor": 1, "ceiling": 2}, "gpus": {text: 4}},
        "clusters": {
            text: {
                "kind": text,
                "version": text,
                "region": text,
                "tags": {text: text},
                "pools": {text: pool},
                "lanes": {text: lane},
            }
        },
        "findings": [finding],
    }


def test_alerts_come_first_with_their_causes() -> None:
    text = comment(replaced())
    assert text.startswith("<!-- gpu-runners diff: prod -->\n")
    assert "## `prod`: 1 replaced\n" in text
    assert (
        "> - pool `t4` of `ci` is REPLACED (`instanceTypes[0]`: `g4dn.xlarge` -> `g4dn.2xlarge`): "
        "new nodes are created, then the old ones are deleted. EKS waits at most 5 minutes for "
        "their jobs, which then fail. To lose none, first set paused: true on the old pool, and go "
        "on when it is empty." in text
    )
    assert text.index("CAUTION") < text.index("### What changes") < text.index("### Properties")
    assert "+   instanceTypes[0]: g4dn.2xlarge  (forces the replacement)" in text
    assert "1 replace, 7 same" in text


def test_without_a_change_the_comment_has_no_section() -> None:
    text = comment(diff())
    assert "## `prod`: no changes" in text
    assert "no changes, 7 resources the same" in text
    assert "###" not in text


def test_resources_that_are_not_listed_are_counted() -> None:
    text = comment(diff(subjects=[group()], left_out=12))
    assert "12 more resources counted, but not listed" in text


def test_a_renamed_lane_names_the_labels_that_are_lost() -> None:
    one = group("replace", kind="GitHub lane", name="new", renamed_from="old", called_out=True)
    renamed = Rename(kind="GitHub lane", cluster="ci", old="old", new="new", lost=("old",))
    text = comment(diff(subjects=[one], renames=[renamed]))
    assert "GitHub lane `old` of `ci` is RENAMED to `new`" in text
    assert "no runner takes jobs with runs-on: `old`" in text


def test_a_protected_resource_is_marked_as_refused() -> None:
    one = group("delete", called_out=True, resources=[resource("delete", protected=True)])
    assert "it is protected, so the engine refuses" in comment(diff(subjects=[one]))


def test_a_change_without_a_setting_of_its_own_is_caused_by_others() -> None:
    setting = {"path": "clusters.ci.eks.pools.cpu.max_size", "change": "update", "old": 1, "new": 2}
    follows = "caused by other changes"
    assert follows in comment(diff(subjects=[group()], settings=[setting]))
    own = {**setting, "path": "clusters.ci.eks.pools.t4.max_size"}
    assert follows not in comment(diff(subjects=[group()], settings=[own]))
    whole = {**setting, "path": "clusters.ci"}
    assert follows not in comment(diff(subjects=[group()], settings=[whole]))
    changed = diff(subjects=[group()], settings=[setting], program_changed=True)
    assert follows not in comment(changed), "the program may be the cause"


def test_a_refused_head_and_a_failed_base_are_marked() -> None:
    text = comment(diff(refused=("pools.t4: is wrong\n  do this",), problem="up failed"))
    assert "## `prod`: refused" in text
    assert "```text\npools.t4: is wrong\n  do this\n```" in text
    assert "The base could not be rehearsed, so everything shows as new" in text
    assert " without a base" in text


def test_a_text_of_several_lines_shows_only_what_differs() -> None:
    old = "\n".join(f"line {number}" for number in range(30))
    one = prop("values.config", old=old, new=old.replace("line 15", "line fifteen"))
    text = comment(diff(subjects=[group(resources=[resource(properties=[one])])]))
    assert "-       line 15\n+       line fifteen" in text
    assert "line 20" not in text


def test_secrets_and_unknown_values_are_not_shown() -> None:
    secret, unknown = prop("token", secret=True), prop("arn", old="a", known=False)
    one = group(causes=[secret, unknown], resources=[resource(properties=[secret, unknown])])
    text = comment(diff(subjects=[one]))
    assert "!   token: a secret changes" in text
    assert "-   arn: a\n+   arn: known after up" in text
    assert "`token`: a secret<br>`arn`: `a` -> known after up" in text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_inside_code(text: str) -> None:
    for made in (comment(hostile(text)), summary(hostile(text), [text, text])):
        rendered = outside_code(made)
        for active in ACTIVE:
            assert active not in rendered, f"{active!r} is rendered"
        tags = set(re.findall(r"<[^>]*>", rendered))
        assert tags <= {
            "<!-- gpu-runners diff: prod -->",
            "<br>",
            "<details>",
            "<summary>",
            "</summary>",
            "</details>",
            "<br/>",
        }
        assert not re.search("^/", made, re.MULTILINE), "GitLab takes such a line for an order"
        assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00-\x09\x0b-\x1f]", made)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_becomes_a_second_marker(text: str) -> None:
    assert comment(hostile(text)).count("<!--") == 1
    assert comment(hostile(text)).startswith("<!-- gpu-runners diff: prod -->\n")


def test_cost_picture_and_difference_of_the_fleet_are_not_folded() -> None:
    text = comment(
        replaced(
            report=report("gpu-t4"), difference=difference_json(report("gpu-a10"), report("gpu-t4"))
        )
    )
    seen = text.partition("<details>")[0]
    assert "| Cost per month | **1 USD** idle, **2 USD** at full size" in seen
    assert "| gpu-t4 GPUs at full size | 0 | 4 | **+4** |" in seen
    assert "```mermaid\nflowchart LR\n" in text
    assert "<summary>" not in text[text.index("```mermaid") :]
    alone = comment(replaced(report=report("gpu-t4")))
    assert "What differs in it" not in alone, "there is nothing to compare with"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner) | st.dictionaries(_KEYS | st.text(max_size=9), inner),
        max_leaves=40,
    )
)
def test_a_report_of_any_shape_gives_a_safe_comment(anything: Any) -> None:
    body = anything if isinstance(anything, dict) else {"clusters": anything}
    odd = {"base": True, "money": anything, "pools": anything, "updates": anything, **body}
    whole = {**json.loads(diff().model_dump_json()), "report": body, "difference": odd}
    text = comment(Document.model_validate_json(json.dumps(whole)))
    assert outside_code(text).count("<!--") == 1
    assert "@" not in outside_code(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_a_table(text: str) -> None:
    made = comment(hostile(text)).split("\n")
    start = made.index("|---|---|---|---:|")
    rows = [line for line in made[start:] if line.startswith("|")]
    assert len(rows) == 3, "a row for each group and the ruler"
    assert {row.count("|") for row in rows} == {5}


def test_the_comment_stays_below_the_limit_and_cuts_what_is_folded_first() -> None:
    many = [
        group(name=f"pool-{number}", resources=[resource(properties=[TYPES] * 50)] * 2)
        for number in range(300)
    ]
    text = comment(diff(subjects=many, counts={"update": 600}))
    assert len(text) <= MAX_CHARACTERS
    assert "<details><summary>More properties</summary>" in text
    assert "more lines in the job's summary" in text
    assert "`pool-0`" in text.partition("<details>")[0]
    assert outside_code(text)


@pytest.mark.parametrize("size", [10, 300])
def test_the_largest_document_gives_a_comment_and_a_summary(size: int) -> None:
    wide = "@`|<" * 125
    big = hostile(wide)
    huge = big.model_copy(
        update={
            "groups": big.groups * size,
            "settings": big.settings * size,
            "renames": big.renames * size,
            "refused": (wide * 8,) * 100,
            "notes": (wide * 8,) * 100,
        }
    )
    text = comment(huge)
    assert len(text) <= MAX_CHARACTERS
    assert "@" not in outside_code(text)
    whole = summary(huge, [wide] * 10_000)
    assert len(whole.encode()) <= MAX_SUMMARY_BYTES + 1_000
    assert outside_code(whole)


def test_the_comment_links_the_run_that_the_workflow_names() -> None:
    many = [group(name=f"pool-{number}", called_out=True) for number in range(200)]
    url = "https://github.com/o/r/actions/runs/1"
    assert f"[the job's summary]({url})" in comment(diff(subjects=many), url)
    assert RUN_URL.fullmatch(url)
    for wrong in (
        "javascript:alert(1)",
        "https://x/y)[z](",
        "http://github.com/o/r/actions/runs/1",
    ):
        assert not RUN_URL.fullmatch(wrong)


def test_the_summary_has_the_output_of_the_engine_and_folds_nothing() -> None:
    text = summary(replaced(), ["+-aws:eks/nodeGroup:NodeGroup: (replace)", "``` @you"])
    assert "````diff\n+-aws:eks/nodeGroup:NodeGroup: (replace)\n``` @you\n````" in text
    assert "<details>" not in text


def test_a_summary_too_long_is_cut_at_the_end() -> None:
    text = summary(replaced(), ["x" * 1000] * 5_000)
    assert len(text.encode()) <= MAX_SUMMARY_BYTES + 1_000
    assert "cut here; diff.txt has the rest" in text


def test_the_command_renders_a_file(tmp_path: Path) -> None:
    source, output = tmp_path / "diff.json", tmp_path / "comment.md"
    source.write_text(replaced().model_dump_json(), encoding="utf-8")
    assert main(["--from", str(source), "--output", str(output)]) == 0
    assert output.read_text(encoding="utf-8") == comment(replaced())


def test_the_command_refuses_a_file_that_is_no_diff(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, output = tmp_path / "diff.json", tmp_path / "comment.md"
    data = json.loads(replaced().model_dump_json())
    source.write_text(json.dumps({**data, "stack": "a --> <b>"}), encoding="utf-8")
    assert main(["--from", str(source), "--output", str(output)]) == 1
    assert "is not a valid diff.json: stack" in capsys.readouterr().err
    assert not output.exists()
    with pytest.raises(SystemExit) as stopped:
        main(["--from", str(source), "--output", str(output), "--run", "javascript:1"])
    assert stopped.value.code == 2


def test_the_comment_command_does_not_import_the_sdk() -> None:
    script = (
        "import sys, change.comment; "
        "print(sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not {"pulumi", "grpc", "yaml"} & set(re.findall(r"'(\w+)'", done.stdout)), (
        "a job with rights installs and runs as little as it can"
    )
