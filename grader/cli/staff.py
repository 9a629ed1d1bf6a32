"""What only course staff see of a report: every test, the seed, the sandbox."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grader.cli.layout import Line, columns, pad, wrap

if TYPE_CHECKING:
    from grader.cli.screen import Style

_MOST_LINES = 10
_COLOURS = {"passed": "green", "failed": "red", "errored": "red", "not_run": "yellow"}


def tests(report: Mapping[str, Any], style: "Style") -> list[Line | str]:
    """One line per test with its details below, then what the run was; nothing for students."""
    if report["audience"] != "staff" or not report["tests"]:
        return []
    rows: list[Line | str] = ["", style.say("tests"), ""]
    words = max(columns(style.say(f"status.{verdict}")) for verdict in _COLOURS)
    for test in report["tests"]:
        word = style.say(f"status.{test['verdict']}")
        cause = f" ({test['cause']})" if test["cause"] else ""
        first = f"  {pad(word, words)}  {pad(style.say(test['visibility']), 6)}  "
        text = wrap(f"{test['id']}{cause}", first=first, width=style.width)
        rows.append(Line(text=text[0], word=word, colour=_COLOURS[test["verdict"]]))
        rows += text[1:]
        if test["detail"]:
            detail = wrap(test["detail"], first="      ", rest="      ", width=style.width)
            # The report has the rest.
            rows += [*detail[:_MOST_LINES], *(["      ..."] if detail[_MOST_LINES:] else [])]
    return [*rows, "", *_run(report["run"], style)]


def _run(run: Mapping[str, Any], style: "Style") -> list[str]:
    told = style.say(
        "run",
        seed=run["seed"],
        level=run["sandbox"]["level"],
        torch=run["torch"],
        python=run["python"],
    )
    return wrap(told, first="  ", width=style.width)
