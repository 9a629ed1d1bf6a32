"""The screens of `grade check`: pure functions from reports to lines.

A screen says what was graded, one line per criterion (losses first), what went wrong, what
this score is, one next step, and repeats the score in its last line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from grader.cli import grouping, losses, places, problems, staff
from grader.cli.layout import WIDTH, Line, clean, columns, pad, wrap
from grader.model import Kind, Language
from grader.texts import catalog

Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a screen says about the file besides its reports.

    Args:
        file: the path as it was typed.
        saved: when the file was last written, local time.
        quotes: the first line of code of each notebook cell.
        absent: assignments whose functions the file does not define: (id, functions).
        complete: whether hidden tests ran too (staff edition).
    """

    file: str
    kind: Kind
    saved: datetime | None = None
    quotes: Mapping[int, str] = field(default_factory=dict)
    absent: tuple[tuple[str, tuple[str, ...]], ...] = ()
    complete: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How to draw: whose language, what time it is, how many columns there are.

    Args:
        command: what was typed, to be typed again; "" where that is not known.
        everything: every loss and every problem is told, not only the first three.
    """

    language: Language
    now: datetime
    width: int = WIDTH
    command: str = ""
    everything: bool = False

    def say(self, code: str, **args: Any) -> str:
        return catalog.say(self.language, f"screen.{code}", **args)

    def listed(self, names: Sequence[str]) -> str:
        """`a, b and c` in the style's language."""
        head = catalog.listed(self.language, names[:-1])
        return self.say("and").join([part for part in (head, names[-1]) if part])


def draw(reports: Sequence[Report], shown: Shown, style: Style) -> list[Line]:
    """The screen of one file, which may hold several assignments."""
    rows = _one(reports[0], shown, style) if len(reports) == 1 else _several(reports, shown, style)
    rows += ["", *_meaning(reports, shown, style), "", *_next(reports, shown, style)]
    return [row if isinstance(row, Line) else Line(text=row) for row in rows] + _scores(
        reports, shown, style
    )


def _one(report: Report, shown: Shown, style: Style) -> list[Line | str]:
    title = f"{report['assignment']['id']}  {_title(report, style)}"
    origin = _origin(shown, style)
    room = style.width - columns(title)
    head = [title + origin.rjust(room - columns(origin) + len(origin))]
    if columns(origin) + 2 > room:
        head = [*wrap(title, rest="     ", width=style.width), *_indented(origin, style)]
    return [
        *head,
        *_criteria(report, style),
        *problems.before([report], shown, style),
        *losses.losses(report, shown, style),
        *problems.after([report], shown, style),
        *staff.tests(report, style),
    ]


def _several(reports: Sequence[Report], shown: Shown, style: Style) -> list[Line | str]:
    ids = style.listed([report["assignment"]["id"] for report in reports])
    holds = style.say("holds", origin=_origin(shown, style), ids=ids)
    rows: list[Line | str] = [*wrap(holds, width=style.width)]
    for id_, functions in shown.absent:
        needed = style.say("not_here", id=id_, functions=style.listed(functions))
        rows += wrap(needed, width=style.width)
    rows += problems.before(reports, shown, style)
    for report in reports:
        rows += ["", "", *wrap(f"{report['assignment']['id']}  {_title(report, style)}")]
        rows += _criteria(report, style)
        if report["status"] == "grader_failed":
            rows += ["", *wrap(style.say("meaning_failed"), width=style.width)]
        rows += losses.losses(report, shown, style)
        rows += staff.tests(report, style)
    return [*rows, *problems.after(reports, shown, style)]


def _title(report: Report, style: Style) -> str:
    title = report["assignment"]["title"]
    return str(title[style.language]) if isinstance(title, Mapping) else str(title)


def _indented(text: str, style: Style) -> list[str]:
    return wrap(text, first="     ", width=style.width)


def _origin(shown: Shown, style: Style) -> str:
    if shown.saved is None:
        return shown.file
    days = {style.now.date(): "today", style.now.date() - timedelta(days=1): "yesterday"}
    return style.say(
        f"saved_{days.get(shown.saved.date(), 'on')}",
        file=shown.file,
        time=f"{shown.saved:%H:%M}",
        **({} if shown.saved.date() in days else {"date": f"{shown.saved:%Y-%m-%d}"}),
    )


def _criteria(report: Report, style: Style) -> list[Line | str]:
    if report["status"] != "graded":
        return []
    rows = grouping.in_order(report["criteria"])
    words = max((columns(style.say(f"status.{row['verdict']}")) for row in rows), default=0)
    digits = max((len(str(row["points"])) for row in rows), default=1)
    lines: list[Line | str] = [""]
    for row in rows:
        word = style.say(f"status.{row['verdict']}")
        earned = "-" if row["earned"] is None else str(row["earned"])
        points = style.say("points", earned=earned.rjust(digits), points=row["points"])
        spare = " " * (digits - len(str(row["points"])))
        first = f"  {pad(word, words)}   {points}{spare}   "
        text = wrap(row["title"][style.language], first=first, width=style.width)
        lines.append(Line(text=text[0], word=word, colour=grouping.COLOURS[row["verdict"]]))
        lines += text[1:]
    return lines


def _meaning(reports: Sequence[Report], shown: Shown, style: Style) -> list[str]:
    if all(report["status"] == "grader_failed" for report in reports):
        return wrap(style.say("meaning_failed"), width=style.width)
    if all(grouping.is_unread(report) for report in reports):
        return wrap(style.say("meaning_nothing"), width=style.width)
    code = "meaning_complete" if shown.complete else "meaning_student"
    return wrap(style.say(code), width=style.width)


def _next(reports: Sequence[Report], shown: Shown, style: Style) -> list[str]:
    if reports[0]["audience"] == "staff" and reports[0]["status"] != "grader_failed":
        return wrap(style.say("next", step=style.say("next_staff")), width=style.width)
    code, args = _step(reports, style)
    saved = style.say("this_notebook" if shown.kind == "notebook" else "this_file")
    # A name with spaces would read as several words of the sentence.
    file = f'"{shown.file}"' if " " in shown.file else shown.file
    done = code in ("next_done", "next_suite")
    again = "" if done else _again(style)
    told = style.say("again" if again else "again_same")
    step = style.say(code, file=file if done else saved, again=told, **args)
    return [*wrap(style.say("next", step=step), width=style.width), *([again] if again else [])]


def _again(style: Style) -> str:
    """The line with the command that was typed; "" when it would not be one line, as typed."""
    line = f"  {style.command}"
    fits = style.command and columns(line) <= style.width and clean(line) == line
    return line if fits else ""


def _step(reports: Sequence[Report], style: Style) -> tuple[str, dict[str, str]]:
    if any(report["status"] == "grader_failed" for report in reports):
        return "next_failed", {}
    problem = grouping.first_to_mend(reports)
    if problem is not None:
        return "next_mend", {"place": places.place(problem, style)}
    if all(grouping.is_unread(report) for report in reports):
        return "next_readable", {}
    undone = [row for report in reports for row in grouping.lost(report)]
    lost = [row for row in undone if row["verdict"] != "errored"]
    if not lost:
        return "next_suite" if undone else "next_done", {}
    root = grouping.root(lost[0]["message"])
    if root is not None:
        return "next_mend", {"place": places.place(root, style)}
    args = lost[0]["message"]["args"] if lost[0]["message"] else {}
    if args.get("functions"):
        return "next_write", {"function": style.listed(args["functions"])}
    if args.get("function"):
        return "next_change", {"function": str(args["function"])}
    return "next_look", {}


def _scores(reports: Sequence[Report], shown: Shown, style: Style) -> list[Line]:
    digits = max(len(str(report["score"] or 0)) for report in reports)
    lines = [_score(report, shown, style, digits) for report in reports]
    if len(reports) == 1:
        return [Line(text=lines[0])]
    width = max(columns(line) for line in lines) + 4
    titled = [(line, _title(report, style)) for line, report in zip(lines, reports, strict=True)]
    return [
        Line(text=row)
        for line, title in titled
        for row in wrap(title, first=pad(line, width), width=style.width)
    ]


def _score(report: Report, shown: Shown, style: Style, digits: int) -> str:
    id_, points = report["assignment"]["id"], report["max_score"]
    if report["score"] is None:
        return style.say("score_failed", id=id_)
    # A blank that aligns has no place behind a full-width colon.
    behind_colon = shown.complete and style.language == "zh"
    score = str(report["score"]).rjust(0 if behind_colon else digits)
    pending = points - report["decided"] if report["status"] == "graded" else 0
    if pending:
        return style.say("score_pending", id=id_, score=score, points=points, pending=pending)
    code = "score_complete" if shown.complete else "score"
    return style.say(code, id=id_, score=score, points=points)
