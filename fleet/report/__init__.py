"""What a stack is, for people and programs: as data, Markdown, a picture, a difference."""

from fleet.report.data import data
from fleet.report.difference import compare
from fleet.report.difference_page import difference_markdown
from fleet.report.markdown import markdown
from fleet.report.picture import picture

__all__ = ["compare", "data", "difference_markdown", "markdown", "picture"]
