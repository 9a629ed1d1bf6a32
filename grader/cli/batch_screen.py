"""What `grade batch` shows when it is done: counts, and what was not graded."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from grader.cli.layout import wrap
from grader.cli.root import Desk
from grader.texts import catalog

if TYPE_CHECKING:
    from grader.bulk.batch import Batch, Finished, Reduced
    from grader.bulk.cluster_terms import ClusterFailed
    from grader.bulk.plan import Left, Plan
    from grader.bulk.tables import Row

_MOST_LISTED: Final = 20
# Files of one folder that are listed each by itself.
_ALIKE: Final = 3


def reduced(error: "Reduced", here: Desk) -> list[str]:
    layers = [*error.layers] or "-"
    return wrap(here.say("cli.batch.reduced", level=error.level, layers=layers))


def cluster_failed(error: "ClusterFailed", here: Desk) -> list[str]:
    lines = wrap(error.text.in_language(here.language))
    if not here.debug:
        return lines
    import traceback

    return ["".join(traceback.format_exception(error)).rstrip(), *lines]


def understood(shown: "Plan", here: Desk, *, hidden: bool = False) -> list[str]:
    """How the folder was read, before anything is graded, and what did not fit, by name."""
    lines: list[str] = []
    for each in shown.understood:
        students = _counted(here, "cli.batch.students", each.students)
        files = _counted(here, "cli.batch.files", each.files)
        if each.groups:
            files = here.say("cli.batch.grouped", files=files)
        elif each.files == each.students:
            files = here.say("cli.batch.one_each")
        layout = here.say(f"bulk.layout.{each.layout}")
        said = here.say("cli.batch.understood", students=students, files=files, layout=layout)
        lines += wrap(said)
    if shown.left and not hidden:
        names = _names([each.file for each in shown.left], here)
        lines += wrap(_counted(here, "cli.batch.odd", len(shown.left), names=names))
    return lines


def screen(shown: "Plan", todo: "Batch", finished: "Finished", here: Desk) -> list[str]:
    lines = [""]
    counted = {(job.student, job.assignment) for job in todo.plan.jobs if job.counts}
    rows = {(row.student, row.assignment): row for row in finished.rows}
    for id_ in dict.fromkeys(job.assignment for job in todo.plan.jobs):
        mine: list[Row] = [rows[key] for key in sorted(counted & rows.keys()) if key[1] == id_]
        statuses = Counter(row.status for row in mine)
        idle = Counter(each.status for each in todo.plan.ungraded if each.assignment == id_)
        idle["missing"] = sum(each == id_ for _, each in todo.plan.absent)
        # Reports first, and what has none behind them.
        said = [
            here.say(f"cli.batch.status.{status}", number=statuses[status] + idle[status])
            for status in (*sorted(statuses), *sorted({*idle} - {*statuses}))
            if status in statuses or idle[status]
        ]
        counts = catalog.clauses(here.language, said)
        lines += wrap(here.say("cli.batch.counts", id=id_, counts=counts))
    hidden = todo.under.pseudonym_key is not None
    lines += _notes(shown, todo, finished, here)
    lines += _people(shown, here) if not hidden else []
    lines += listed(shown.left, here, hidden=hidden)
    lines += listed(shown.aside, here, hidden=hidden, heading="cli.batch.aside")
    if shown.left:
        lines += ["", *wrap(here.say("cli.batch.next"))]
    return [*lines, "", *wrap(here.say("cli.batch.written", folder=str(todo.store.folder)))]


def _notes(shown: "Plan", todo: "Batch", finished: "Finished", here: Desk) -> list[str]:
    counting = {(job.student, job.assignment) for job in todo.plan.jobs if job.counts}
    erred = sum(row.status == "suite_failed" for row in finished.rows)
    numbers = {
        "again": sum(
            not job.counts and (job.student, job.assignment) in counting for job in todo.plan.jobs
        ),
        "late": sum(job.late and job.counts for job in todo.plan.jobs),
        "duplicates": len(shown.duplicates),
        "undated": shown.undated,
        "damaged": len(finished.damaged),
        "failed": len(finished.failed) - erred,
        "erred": erred,
        "unofficial": sum(not row.official for row in finished.rows),
    }
    return [
        row
        for key, number in numbers.items()
        if number
        for row in wrap(_counted(here, f"cli.batch.note.{key}", number))
    ]


def _people(shown: "Plan", here: Desk) -> list[str]:
    """Who is missing, who is not on the roster, and which two of them may be one."""
    rows: list[str] = []
    missing = list(dict.fromkeys(student for student, _ in shown.absent))
    strangers = [each.student for each in shown.strangers]
    for key, names in (
        ("missing", missing),
        ("not_on_roster", strangers),
        ("substituted", list(shown.substituted)),
    ):
        if names:
            rows += wrap(here.say(f"cli.batch.people.{key}", names=_names(names, here)))
    for each in shown.strangers:
        if each.alike in missing:
            args = {"stranger": each.student, "member": each.alike}
            rows += wrap(here.say("cli.batch.people.alike", **args))
    return rows


def _names(names: Sequence[str], here: Desk) -> str:
    """Up to twenty names, then how many more there are and where they stand."""
    said = catalog.listed(here.language, names[:_MOST_LISTED])
    more = len(names) - _MOST_LISTED
    return said + here.say("cli.batch.and_more", number=more) if more > 0 else said


def _counted(here: Desk, code: str, number: int, **args: object) -> str:
    """A sentence with a number, in the singular where there is one of it."""
    return here.say(f"{code}_one" if number == 1 else code, number=number, **args)


def listed(
    left: Sequence["Left"], here: Desk, *, hidden: bool = False, heading: str = "cli.batch.left"
) -> list[str]:
    if not left:
        return []
    lines = ["", *wrap(_counted(here, heading, len(left)))]
    if hidden:
        # A log of pseudonymous results must not hold the names of files.
        reasons = Counter(each.reason for each in left)
        rows = [
            here.say("cli.batch.left_times", number=number, reason=here.say(f"bulk.reason.{key}"))
            for key, number in reasons.items()
        ]
    else:
        rows = [
            here.say("cli.batch.left_file", file=file, reason=here.say(f"bulk.reason.{reason}"))
            for file, reason in _gathered(left)
        ]
    for row in rows[:_MOST_LISTED]:
        lines += wrap(row, first="  ", rest="    ")
    if len(rows) > _MOST_LISTED:
        lines += wrap(here.say("cli.batch.more", number=len(rows) - _MOST_LISTED), first="  ")
    return lines


def _gathered(left: Sequence["Left"]) -> list[tuple[str, str]]:
    """Files with reasons; of many that share folder and reason one, and how many more there are.

    A folder full of one student's helpers must not push everybody else off the screen.
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for each in left:
        folder = each.file.rpartition("/")[0]
        # At the top every file may be somebody else's.
        alike.setdefault((folder or each.file, each.reason), []).append(each.file)
    rows: list[tuple[str, str]] = []
    for (_, reason), files in alike.items():
        if len(files) <= _ALIKE:
            rows += [(file, reason) for file in files]
        else:
            rows.append((f"{files[0]} (+{len(files) - 1})", reason))
    return rows
