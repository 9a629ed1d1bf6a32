"""The part of a screen that says what went wrong, and where."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from grader.cli import grouping, places, problems
from grader.cli.grouping import Report, Row
from grader.cli.layout import Line, code, columns, pad, wrap

if TYPE_CHECKING:
    from grader.cli.screen import Shown, Style

_WRONG: Final = ("failed", "errored", "not_run")


def losses(report: Report, shown: "Shown", style: "Style") -> list[Line | str]:
    """What went wrong (with the diagnoses, at most three), then what is still to do."""
    rows = grouping.lost(report) if report["status"] == "graded" else []
    if report["problems"]:
        # The problem itself stands above, with its place.
        rows = [row for row in rows if (row["message"] or {}).get("code") != grouping.UNREADABLE]
    # One that needs what is not done is still to do, too.
    groups = grouping.grouped(rows)
    wrong = [group for group in groups if group[0]["verdict"] in _WRONG]
    todo = [group for group in groups if group[0]["verdict"] == "not_done"]
    return [
        *_section("wrong", wrong, report, shown, style),
        *_section("todo", todo, report, shown, style),
    ]


def _section(
    heading: str,
    groups: Sequence[Sequence[Row]],
    report: Report,
    shown: "Shown",
    style: "Style",
) -> list[str]:
    if not groups:
        return []
    rows = ["", style.say(heading)]
    for number, group in enumerate(groups[: problems.most(style)], start=1):
        absences = _absences(group, report)
        title = _heading(group, absences, shown, style)
        rows += ["", *wrap(title, first=f"{number}. ", width=style.width)]
        rows += _reason(group, absences, report, shown, style)
        if heading == "wrong":
            rows += _diagnosed(_about(report["diagnoses"], groups, number - 1, style), style)
    return [*rows, *problems.more(groups, style, indent="")]


def _absences(group: Sequence[Row], report: Report) -> dict[str, Row | None]:
    """The functions that this group misses, each with the problem that says why."""
    message = group[0]["message"]
    return {
        name: next((each for each in report["problems"] if grouping.is_about(each, [name])), None)
        for name in (grouping.functions(message) if message is not None else ())
    }


def _heading(
    group: Sequence[Row], absences: Mapping[str, Row | None], shown: "Shown", style: "Style"
) -> str:
    if not absences:
        return str(group[0]["title"][style.language])
    return style.listed(
        [
            places.function({**(problem or {}), "function": name}, shown.quotes, style)
            for name, problem in absences.items()
        ]
    )


def _reason(
    group: Sequence[Row],
    absences: Mapping[str, Row | None],
    report: Report,
    shown: "Shown",
    style: "Style",
) -> list[str]:
    message = group[0]["message"]
    if message is None:
        return []
    root = grouping.root(message)
    if root is not None:
        rows = _rooted(message, root, report, style)
    else:
        told = [problem["message"] for problem in absences.values() if problem] or [message]
        rows = _block(message["args"], shown, style)
        # Of two numbers, expected and got have said everything.
        if not (rows and message["code"] == "mismatch.number"):
            rows += [row for each in told for row in _sentence(each[style.language], style)]
    return [*rows, *_also(group, absences, style)]


def _rooted(message: Row, root: Row, report: Report, style: "Style") -> list[str]:
    """A line of the file that took the function with it: what was tried says nothing then."""
    problem = grouping.problem_at(root, report)
    quote = (problem or {}).get("quote") or root.get("quote")
    where = places.statement({**root, "quote": quote}, style)
    rows = wrap(where, first=_label("where", style), width=style.width) if where else []
    return rows + _sentence(message[style.language], style)


def _also(group: Sequence[Row], absences: Mapping[str, Row | None], style: "Style") -> list[str]:
    """What else was lost with the first of a group: for its reason, or for want of it."""
    stop = "；" if style.language == "zh" else "; "
    alike = [] if absences else [row for row in group[1:] if not grouping.follows(row)]
    after = [row for row in group[1:] if grouping.follows(row)]
    rows: list[str] = []
    for lead, others in (("also", alike), ("only_after", after)):
        titles = stop.join(row["title"][style.language] for row in others)
        rows += _sentence(style.say(lead, titles=titles), style) if others else []
    return rows


def _sentence(text: str, style: "Style") -> list[str]:
    return wrap(text, first="   ", width=style.width)


def _block(args: Mapping[str, Any], shown: "Shown", style: "Style") -> list[str]:
    """Where, what was tried, what should have come and what came: as far as it is known."""
    rows: list[str] = []
    where = places.function(args, shown.quotes, style) if args.get("function") else ""
    if where:
        rows += wrap(where, first=_label("where", style), width=style.width)
    if args.get("tried"):
        tried = "\n".join(str(line) for line in args["tried"])
        rows += code(tried, first=_label("tried", style), width=style.width)
    for name in ("expected", "got"):
        if args.get("tried") and args.get(name) is not None:
            rows += code(str(args[name]), first=_label(name, style), width=style.width)
    return rows


def _about(
    diagnoses: Sequence[Row], groups: Sequence[Sequence[Row]], place: int, style: "Style"
) -> list[tuple[Row, bool]]:
    """The diagnoses that stand under this loss, and whether each has to name its function.

    Each stands under the first loss of the function that it is about. Where no loss that is shown
    names that function it stands under the first of all, and says which function it means.
    """
    shown = [_function(group) for group in groups[: problems.most(style)]]
    found: list[tuple[Row, bool]] = []
    for each in diagnoses:
        function = each.get("function") or ""
        # Without a name it is about whatever was lost first.
        at = shown.index(function) if function in shown else 0
        if at == place:
            found.append((each, bool(function) and shown[at] != function))
    return found


def _function(group: Sequence[Row]) -> str:
    message = group[0]["message"]
    return "" if message is None else str(message["args"].get("function") or "")


def _diagnosed(diagnoses: Sequence[tuple[Row, bool]], style: "Style") -> list[str]:
    rows: list[str] = []
    for each, names_function in diagnoses:
        title = style.say(_lead(each), title=each["title"][style.language])
        if names_function:
            title = style.say("diagnosis_of", function=each["function"], sentence=title)
        rows += wrap(title, first="   ", width=style.width)
        if each["hint"] is not None:
            hint = each["hint"][style.language]
            rows += wrap(hint, first=_label("hint", style), width=style.width)
    return rows


def _lead(diagnosis: Row) -> str:
    """What may be said of the resemblance: of numbers only where there were numbers."""
    by = diagnosis.get("by", "numbers")
    if diagnosis["id"].startswith("near."):
        # A near miss is seen in the numbers themselves, not in a gallery.
        leads = {"numbers": "diagnosis_near", "errors": "diagnosis_calls"}
        return leads.get(by, "diagnosis_seen")
    return "diagnosis" if by == "numbers" else f"diagnosis_{by}"


def _label(name: str, style: "Style") -> str:
    names = ("where", "tried", "expected", "got", "hint")
    width = max(columns(style.say(f"label.{each}")) for each in names)
    gap = "   " if style.language == "zh" else "  "
    return f"   {pad(style.say(f'label.{name}'), width)}{gap}"
