"""Rows are made here, so that every sentence of a verification is one of `[verify]`."""

from collections.abc import Sequence

from grader.model import Text
from grader.texts import catalog
from grader.verifying.records import Check, Row, RowVerdict


def said(code: str, **args: catalog.Filling) -> Text:
    """A sentence of the table `[verify]`."""
    return catalog.text(f"verify.{code}", **args)


def row(check: Check, problems: Sequence[Text], *fine: Text, worst: RowVerdict = "failed") -> Row:
    """What is wrong, with verdict `worst`; where nothing is, `fine` says what was seen."""
    if problems:
        return Row(check=check, verdict=worst, details=tuple(problems))
    return Row(check=check, verdict="ok", details=fine)


def failed(check: Check, problems: Sequence[str]) -> Row:
    """Sentences for course authors that exist in one language only."""
    return row(check, [said("problem", problem=each) for each in problems])
