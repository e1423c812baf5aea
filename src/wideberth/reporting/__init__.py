"""A report: what a release risks, what it costs and what it promises, for people who decide.

A report is a dict first (`content`); HTML (`html`), JSON and the
terminal (`terminal`) are renderings of it. `making` finds out what it says.
"""

from wideberth.reporting.content import Report, check_path, compose
from wideberth.reporting.making import report

__all__ = ["Report", "check_path", "compose", "report"]
