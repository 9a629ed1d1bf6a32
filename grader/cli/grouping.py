"""Which losses have one cause, and which problems of the file are behind them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

Row = Mapping[str, Any]
Report = Mapping[str, Any]

# In the order in which criteria are listed: what cost points first.
COLOURS: Final = {
    "failed": "red",
    "errored": "red",
    "not_run": "yellow",
    "not_done": "yellow",
    "pending": "cyan",
    "passed": "green",
}
UNREADABLE: Final = "criterion.unreadable"
_NEEDS: Final = "criterion.needs"
_TO_MEND: Final = ("syntax_error", "encoding", "not_a_notebook", "merge_conflict")
_ABSENCES: Final = ("not_done", "missing_function", "fill_in_variable")
# What a statement did on the way, or what the screen tells in one line: it explains a loss only
# where that loss says so.
_ASIDE: Final = ("raised", "import_error", "assertion", "platform", "package", "more", "note")
QUIET: Final = ("platform", "package")
# The arguments by which two crashes are one: not what was tried when they came.
_CRASH: Final = ("function", "type", "message", "line", "cell")


def in_order(criteria: Sequence[Row]) -> list[Row]:
    """The criteria, losses first, otherwise as in the rubric."""
    order = list(COLOURS)
    return sorted(criteria, key=lambda row: order.index(row["verdict"]))


def lost(report: Report) -> list[Row]:
    """The criteria that cost points, as they are listed."""
    rows = in_order(report["criteria"])
    return [row for row in rows if row["verdict"] not in ("passed", "pending")]


def is_unread(report: Report) -> bool:
    """Whether nothing was tested, because Python could not read the file."""
    codes = {(row["message"] or {}).get("code") for row in report["criteria"]}
    return report["status"] == "unreadable" or codes == {UNREADABLE}


def grouped(rows: Sequence[Row]) -> list[list[Row]]:
    """Criteria lost for one and the same reason, together; those that need one of them follow."""
    groups: list[list[Row]] = []
    for row in rows:
        known = next((group for group in groups if _belongs(row, group)), None)
        if known is None:
            groups.append([row])
        else:
            known.append(row)
    return groups


def follows(row: Row) -> bool:
    """Whether a criterion was lost only because another one was."""
    return row["message"] is not None and row["message"]["code"] == _NEEDS


def _belongs(row: Row, group: Sequence[Row]) -> bool:
    if follows(row):
        return any(each["id"] in row["needs"] for each in group)
    message, other = row["message"], group[0]["message"]
    if message is None or other is None:
        return False
    cause = _cause(message)
    return same(message, other) or (cause is not None and cause == _cause(other))


def _cause(message: Row) -> tuple[object, ...] | None:
    """What makes two crashes the same one; None for every other loss."""
    code, args = message["code"], message["args"]
    if root := args.get("root"):
        return ("root", *_place(root), str(root.get("module") or root.get("message")))
    if code.startswith(("raised.", "died.")):
        return (code, *(args.get(name) for name in _CRASH))
    return None


def same(one: Row, other: Row) -> bool:
    """Whether two messages are one."""
    return all(one[key] == other[key] for key in ("code", "args", "en"))


def functions(message: Row) -> list[str]:
    """The functions that are not there or not done, when that is why a criterion was lost."""
    return list(message["args"].get("functions") or ())


def is_about(problem: Row, names: Sequence[str]) -> bool:
    """Whether the problem says why one of these functions is not there."""
    return problem["kind"] in _ABSENCES and problem["message"]["args"].get("function") in names


# --- roots -------------------------------------------------------------------------------------


def root(message: Row | None) -> Row | None:
    """The place of the statement that is behind a loss, where that is not the function itself."""
    if message is None:
        return None
    code, args = message["code"], message["args"]
    if args.get("root"):
        return dict(args["root"])
    if code.startswith(("raised.overwritten", "raised.replaced")):
        return {name: args.get(name) for name in ("line", "cell", "quote")}
    return None


def problem_at(place: Row, report: Report) -> Row | None:
    """The problem that stands at this place, or None."""
    found = (each for each in report["problems"] if _place(each) == _place(place))
    return next((each for each in found if each["kind"] not in _ABSENCES), None)


def _place(at: Row) -> tuple[object, object]:
    return at.get("line"), at.get("cell")


# --- the problems of a file ------------------------------------------------------------------


def distinct(reports: Sequence[Report]) -> list[Row]:
    """The problems of all reports on one file, each once."""
    found: list[Row] = []
    for report in reports:
        found += [each for each in report["problems"] if each not in found]
    return found


def first_to_mend(reports: Sequence[Report]) -> Row | None:
    """The first place that Python could not even read."""
    for problem in distinct(reports):
        if problem["kind"] in _TO_MEND and (problem["line"] or problem["cell"]):
            return problem
    return None


def explaining(reports: Sequence[Report]) -> list[Row]:
    """The problems that may be why points were lost, and that no loss tells by itself."""
    if not any(lost(report) or report["status"] != "graded" for report in reports):
        return []
    return [each for each in _untold(reports) if each["kind"] not in _ASIDE]


def asides(reports: Sequence[Report]) -> list[Row]:
    """The other problems that no loss tells by itself."""
    told = explaining(reports)
    return [each for each in _untold(reports) if each not in told]


def _untold(reports: Sequence[Report]) -> list[Row]:
    pairs = [
        (row["message"], report)
        for report in reports
        if report["status"] == "graded"
        for row in lost(report)
        if row["message"] is not None
    ]
    return [
        each
        for each in distinct(reports)
        if not any(_says(message, each, report) for message, report in pairs)
    ]


def _says(message: Row, problem: Row, report: Report) -> bool:
    """Whether a loss tells the problem: the same words, its place, or why a function is missing."""
    if same(message, problem["message"]) or is_about(problem, functions(message)):
        return True
    behind = root(message)
    if behind is None:
        return False
    if problem["kind"] == "defined_twice":
        # Told by the loss in other words: which definition was graded is no question then.
        function = problem["message"]["args"].get("function")
        return bool(function) and function == message["args"].get("function")
    return problem_at(behind, report) == problem
