"""The report of a stack: as data, Markdown and a picture."""

from fleet.report.build import build_report
from fleet.report.markdown import markdown
from fleet.report.model import Report
from fleet.report.picture import picture

__all__ = ["Report", "build_report", "markdown", "picture"]
