"""Reports and differences as JSON: what they have when they are written, read and rendered."""

from collections.abc import Mapping
from typing import Any

from change.difference import Difference, compare
from change.difference_page import difference_markdown
from fleet.load import Fleet
from fleet.report import Report, build_report, markdown, picture

Json = dict[str, Any]


def report_json(fleet: Fleet, stack: str | None = None) -> Json:
    return build_report(fleet, stack=stack).model_dump(mode="json")


def markdown_of(report: Json) -> str:
    return markdown(Report.model_validate(report))


def picture_of(report: Json, **more: int) -> str:
    return picture(Report.model_validate(report), **more)


def difference_json(base: Json | None, head: Json) -> Json:
    old = None if base is None else Report.model_validate(base)
    return compare(old, Report.model_validate(head)).model_dump(mode="json")


def page_of(difference: Mapping[str, Any]) -> str:
    return difference_markdown(Difference.model_validate(difference))


def is_empty(difference: Mapping[str, Any]) -> bool:
    return Difference.model_validate(difference).is_empty()
