"""Answers of students to the four assignments, graded by one command."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from test_cli import grade

Report = dict[str, Any]


def graded(folder: Path, sources: Mapping[str, str], *options: str) -> dict[str, Report]:
    """The staff's report on each source, by its name; each defines functions of one assignment."""
    folder.mkdir(exist_ok=True)
    for name, text in sources.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    files = [f"{name}.py" for name in sources]
    result = grade("check", *files, "--out", "reports", "--audience", "staff", *options, cwd=folder)
    found = [json.loads(path.read_text("utf-8")) for path in (folder / "reports").rglob("*.json")]
    assert len(found) == len(files), result.stderr.decode()
    return {Path(each["submission"]["file"]).stem: each for each in found}


def kept(report: Report) -> list[str]:
    """The criteria that were earned, in the rubric's order."""
    return [each["id"] for each in report["criteria"] if each["earned"] == each["points"]]


def said(report: Report, language: str = "en") -> str:
    """Every sentence about a shown test that was lost."""
    return "\n".join(
        each["message"][language]
        for each in report["tests"]
        if each["message"] and each["visibility"] == "shown"
    )
