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


def reduced(error: "Reduced", here: Desk) -> list[str]:
    layers = [*error.layers] or "-"
    return wrap(here.say("cli.batch.reduced", level=error.level, layers=layers))


def cluster_failed(error: "ClusterFailed", here: Desk) -> list[str]:
    lines = wrap(error.text.in_language(here.language))
    if not here.debug:
        return lines
    import traceback

    return ["".join(traceback.format_exception(error)).rstrip(), *lines]


def screen(shown: "Plan", todo: "Batch", finished: "Finished", here: Desk) -> list[str]:
    lines = [""]
    counted = {(job.student, job.assignment) for job in todo.plan.jobs if job.counts}
    rows = {(row.student, row.assignment): row for row in finished.rows}
    for id_ in dict.fromkeys(job.assignment for job in todo.plan.jobs):
        mine: list[Row] = [rows[key] for key in sorted(counted & rows.keys()) if key[1] == id_]
        statuses = Counter(row.status for row in mine)
        said = [
            here.say(f"cli.batch.status.{status}", number=number)
            for status, number in sorted(statuses.items())
        ]
        missing = sum(each == id_ for _, each in todo.plan.absent)
        said += [here.say("cli.batch.status.missing", number=missing)] if missing else []
        counts = catalog.clauses(here.language, said)
        lines += wrap(here.say("cli.batch.counts", id=id_, counts=counts))
    lines += _notes(shown, todo, finished, here)
    lines += listed(shown.left, here, hidden=todo.under.pseudonym_key is not None)
    return [*lines, "", *wrap(here.say("cli.batch.written", folder=str(todo.store.folder)))]


def _notes(shown: "Plan", todo: "Batch", finished: "Finished", here: Desk) -> list[str]:
    numbers = {
        "again": sum(not job.counts for job in todo.plan.jobs),
        "late": sum(job.late and job.counts for job in todo.plan.jobs),
        "duplicates": len(shown.duplicates),
        "aside": len(shown.aside),
        "damaged": len(finished.damaged),
        "failed": len(finished.failed),
        "unofficial": sum(not row.official for row in finished.rows),
    }
    said = [(key, number) for key, number in numbers.items() if number]
    return [
        row
        for key, number in said
        for row in wrap(here.say(f"cli.batch.note.{key}", number=number))
    ]


def listed(left: Sequence["Left"], here: Desk, *, hidden: bool = False) -> list[str]:
    if not left:
        return []
    lines = ["", *wrap(here.say("cli.batch.left", number=len(left)))]
    if hidden:
        # A log of pseudonymous results must not hold the names of files.
        reasons = Counter(each.reason for each in left)
        rows = [
            here.say("cli.batch.left_times", number=number, reason=here.say(f"bulk.reason.{key}"))
            for key, number in reasons.items()
        ]
    else:
        rows = [
            here.say("cli.batch.left_file", file=each.file, reason=reason)
            for each in left
            if (reason := here.say(f"bulk.reason.{each.reason}"))
        ]
    for row in rows[:_MOST_LISTED]:
        lines += wrap(row, first="  ", rest="    ")
    if len(rows) > _MOST_LISTED:
        lines += wrap(here.say("cli.batch.more", number=len(rows) - _MOST_LISTED), first="  ")
    return lines
