"""The part of a screen that says what went wrong, and where."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from grader.cli import places
from grader.cli.layout import Line, code, columns, pad, wrap

if TYPE_CHECKING:
    from grader.cli.screen import Shown, Style

Row = Mapping[str, Any]

# In the order in which criteria are listed: what cost points first.
COLOURS: Final = {
    "failed": "red",
    "errored": "red",
    "not_run": "yellow",
    "not_done": "yellow",
    "pending": "cyan",
    "passed": "green",
}
_WRONG: Final = ("failed", "errored", "not_run")
_TO_MEND: Final = ("syntax_error", "encoding", "not_a_notebook", "merge_conflict")
_ABSENCES: Final = ("not_done", "missing_function", "fill_in_variable")
_MOST: Final = 3
UNREADABLE: Final = "criterion.unreadable"


def in_order(criteria: Sequence[Row]) -> list[Row]:
    """The criteria, losses first, otherwise as in the rubric."""
    order = list(COLOURS)
    return sorted(criteria, key=lambda row: order.index(row["verdict"]))


def lost(report: Mapping[str, Any]) -> list[Row]:
    """The criteria that cost points, as they are listed."""
    rows = in_order(report["criteria"])
    return [row for row in rows if row["verdict"] not in ("passed", "pending")]


def is_unread(report: Mapping[str, Any]) -> bool:
    """Whether nothing was tested, because Python could not read the file."""
    codes = {(row["message"] or {}).get("code") for row in report["criteria"]}
    return report["status"] == "unreadable" or codes == {UNREADABLE}


def first_to_mend(reports: Sequence[Mapping[str, Any]]) -> Row | None:
    """The first place that Python could not even read."""
    for problem in _distinct(reports):
        if problem["kind"] in _TO_MEND and (problem["line"] or problem["cell"]):
            return problem
    return None


def problems(
    reports: Sequence[Mapping[str, Any]], shown: "Shown", style: "Style"
) -> list[Line | str]:
    """What is wrong with the file as such, each with its place."""
    found = [each for each in _distinct(reports) if not _said_below(each, reports)]
    if not found:
        return []
    rows = ["", style.say(f"problems_{shown.kind}"), ""]
    for problem in found[:_MOST]:
        head = places.quoted({**problem["message"]["args"], **problem}, shown.quotes, style)
        rows += wrap(head, first="  ", width=style.width) if head else []
        indent = "      " if head else "  "
        rows += wrap(
            problem["message"][style.language], first=indent, rest=indent, width=style.width
        )
    return [*rows, *_more(found, style, indent="  ")]


def _distinct(reports: Sequence[Mapping[str, Any]]) -> list[Row]:
    found: list[Row] = []
    for report in reports:
        found += [each for each in report["problems"] if each not in found]
    return found


def _said_below(problem: Row, reports: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the lost criteria tell it: the same sentence, or why a function is not there."""
    messages = [
        row["message"]
        for report in reports
        if report["status"] == "graded"
        for row in lost(report)
        if row["message"] is not None
    ]
    return any(
        _same(message, problem["message"]) or _is_about(problem, _functions(message))
        for message in messages
    )


def _functions(message: Row) -> list[str]:
    """The functions that are not there or not done, when that is why a criterion was lost."""
    return list(message["args"].get("functions") or ())


def _is_about(problem: Row, functions: Sequence[str]) -> bool:
    return problem["kind"] in _ABSENCES and problem["message"]["args"].get("function") in functions


def _same(one: Row, other: Row) -> bool:
    return all(one[key] == other[key] for key in ("code", "args", "en"))


def losses(report: Mapping[str, Any], shown: "Shown", style: "Style") -> list[Line | str]:
    """What went wrong (with the diagnoses, at most three), then what is still to do."""
    rows = lost(report) if report["status"] == "graded" else []
    if report["problems"]:
        # The problem itself stands above, with its place.
        rows = [row for row in rows if (row["message"] or {}).get("code") != UNREADABLE]
    wrong = _grouped([row for row in rows if row["verdict"] in _WRONG])
    todo = _grouped([row for row in rows if row["verdict"] == "not_done"])
    return [
        *_section("wrong", wrong, report, shown, style),
        *_section("todo", todo, report, shown, style),
    ]


def _grouped(rows: Sequence[Row]) -> list[list[Row]]:
    """Criteria lost for one and the same reason, together."""
    groups: list[list[Row]] = []
    for row in rows:
        for group in groups:
            if (
                row["message"]
                and group[0]["message"]
                and _same(row["message"], group[0]["message"])
            ):
                group.append(row)
                break
        else:
            groups.append([row])
    return groups


def _section(
    heading: str,
    groups: Sequence[Sequence[Row]],
    report: Mapping[str, Any],
    shown: "Shown",
    style: "Style",
) -> list[str]:
    if not groups:
        return []
    rows = ["", style.say(heading)]
    for number, group in enumerate(groups[:_MOST], start=1):
        absences = _absences(group, report)
        title = _heading(group, absences, shown, style)
        rows += ["", *wrap(title, first=f"{number}. ", width=style.width)]
        rows += _reason(group, absences, shown, style)
        if heading == "wrong":
            rows += _diagnosed(_about(report["diagnoses"], groups, number - 1), style)
    return [*rows, *_more(groups, style, indent="")]


def _absences(group: Sequence[Row], report: Mapping[str, Any]) -> dict[str, Row | None]:
    """The functions that this group misses, each with the problem that says why."""
    message = group[0]["message"]
    return {
        name: next((each for each in report["problems"] if _is_about(each, [name])), None)
        for name in (_functions(message) if message is not None else ())
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
    group: Sequence[Row], absences: Mapping[str, Row | None], shown: "Shown", style: "Style"
) -> list[str]:
    message = group[0]["message"]
    if message is None:
        return []
    told = [problem["message"] for problem in absences.values() if problem] or [message]
    rows = _block(message["args"], shown, style)
    # Of two numbers, expected and got have said everything.
    if not (rows and message["code"] == "mismatch.number"):
        rows += [
            row
            for each in told
            for row in wrap(each[style.language], first="   ", width=style.width)
        ]
    if len(group) > 1 and not absences:
        stop = "；" if style.language == "zh" else "; "
        titles = stop.join(row["title"][style.language] for row in group[1:])
        rows += wrap(style.say("also", titles=titles), first="   ", width=style.width)
    return rows


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
    diagnoses: Sequence[Row], groups: Sequence[Sequence[Row]], place: int
) -> list[tuple[Row, bool]]:
    """The diagnoses that stand under this loss, and whether each has to name its function.

    Each stands under the first loss of the function that it is about. Where no loss that is shown
    names that function it stands under the first of all, and says which function it means.
    """
    shown = [_function(group) for group in groups[:_MOST]]
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
        return "diagnosis_near" if by == "numbers" else "diagnosis_seen"
    return "diagnosis" if by == "numbers" else f"diagnosis_{by}"


def _label(name: str, style: "Style") -> str:
    names = ("where", "tried", "expected", "got", "hint")
    width = max(columns(style.say(f"label.{each}")) for each in names)
    gap = "   " if style.language == "zh" else "  "
    return f"   {pad(style.say(f'label.{name}'), width)}{gap}"


def _more(items: Sequence[object], style: "Style", *, indent: str) -> list[str]:
    if len(items) <= _MOST:
        return []
    return ["", indent + style.say("and_more", count=len(items) - _MOST)]
