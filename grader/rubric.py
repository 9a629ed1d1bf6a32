"""Scoring: what was earned, from the outcomes of tests alone.

Pure functions over records. A criterion is earned whole or not at all.
"""

from collections.abc import Collection, Mapping, Sequence

from grader.errors import AssignmentError, GraderError
from grader.model import (
    Criterion,
    CriterionVerdict,
    Outcome,
    Planned,
    Scored,
    Text,
    Verdict,
)
from grader.strict import did_you_mean, shown
from grader.texts import catalog

# Sentences formed here hold no word of a worker, so every student may read them.
OWN_MESSAGES = frozenset(
    {
        "criterion.not_done",
        "criterion.missing",
        "criterion.needs",
        "criterion.failed",
        "criterion.errored",
        "criterion.not_run",
        "criterion.unreadable",
        "criterion.grader_failed",
    }
)
# Of several outcomes of one test the worst counts; of a criterion's tests the weightiest.
_SEVERITY: Mapping[Verdict, int] = {"passed": 0, "not_run": 1, "failed": 2, "errored": 3}
_WEIGHT: Mapping[Verdict, int] = {"passed": 0, "not_run": 1, "errored": 2, "failed": 3}


def score(
    criteria: Sequence[Criterion],
    outcomes: Sequence[Outcome],
    planned: Sequence[Planned],
    *,
    blank: Collection[str] = (),
    missing: Collection[str] = (),
) -> tuple[Scored, ...]:
    """Every criterion with its verdict and what it earned, in the rubric's order.

    A criterion whose function is unfinished or not defined earns 0 whether or not its tests
    are in this edition: no test could pass. Then: without a planned test it is `pending`;
    with a need that is lost it is `not_run`; else its tests decide. One that failed decides that
    the criterion is lost; if none did, one that erred leaves it undecided.

    Args:
        outcomes: in any order; a planned test without one was not run.
        blank: entry points that still hold their placeholder.
        missing: entry points that the submission does not define.

    Raises:
        AssignmentError: a planned test belongs to a criterion that the rubric does not have.
        GraderError: an outcome of a test that was not planned.
    """
    _refuse_strangers(criteria, planned)
    everything = complete(outcomes, planned)
    own: dict[str, Scored] = {}
    for criterion in criteria:
        mine = [each for each in everything if each.criterion == criterion.id]
        own[criterion.id] = _absent(criterion, blank, missing) or _by_tests(criterion, mine)
    unearned: dict[str, bool] = {}
    return tuple(_with_needs(own[criterion.id], own, unearned) for criterion in criteria)


def complete(outcomes: Sequence[Outcome], planned: Sequence[Planned]) -> tuple[Outcome, ...]:
    """One outcome for each planned test, in that order; `not_run` where none came.

    Of several outcomes of one test the worst counts.
    """
    came: dict[tuple[str, str, str], Outcome] = {}
    for outcome in outcomes:
        key = (outcome.criterion, outcome.visibility, outcome.test)
        if key not in came or _SEVERITY[came[key].verdict] < _SEVERITY[outcome.verdict]:
            came[key] = outcome
    keys = dict.fromkeys((each.criterion, each.visibility, each.test) for each in planned)
    if strangers := came.keys() - keys.keys():
        raise GraderError(f"outcomes of tests that were not planned: {sorted(strangers)}")
    tests = {(each.criterion, each.visibility, each.test): each for each in planned}
    return tuple(came.get(key) or _not_run(tests[key]) for key in keys)


def nothing_to_test(criteria: Sequence[Criterion]) -> tuple[Scored, ...]:
    """The scoring of a file that could not be read: every criterion 0."""
    message = catalog.text("criterion.unreadable")
    return tuple(_lost(each, "not_run", message) for each in criteria)


def undecided(criteria: Sequence[Criterion]) -> tuple[Scored, ...]:
    """The scoring after the grader failed: `errored`, and nothing is decided."""
    message = catalog.text("criterion.grader_failed")
    return tuple(
        Scored(criterion=each, verdict="errored", earned=None, message=message) for each in criteria
    )


def total(scored: Sequence[Scored]) -> int:
    """The points that were earned."""
    return sum(each.earned for each in scored if each.earned is not None)


def decided(scored: Sequence[Scored]) -> int:
    """The points that could be decided here: none are without tests, and no test erred."""
    return sum(each.criterion.points for each in scored if each.earned is not None)


def max_score(scored: Sequence[Scored]) -> int:
    """The points of the whole rubric, pending ones included."""
    return sum(each.criterion.points for each in scored)


def _refuse_strangers(criteria: Sequence[Criterion], planned: Sequence[Planned]) -> None:
    ids = [criterion.id for criterion in criteria]
    problems = [
        f"{each.test}: no criterion {shown(each.criterion)} in rubric.toml"
        f"{did_you_mean(each.criterion, ids)}"
        for each in planned
        if each.criterion not in ids
    ]
    if problems:
        raise AssignmentError(*problems)


def _not_run(planned: Planned) -> Outcome:
    return Outcome(
        test=planned.test,
        criterion=planned.criterion,
        visibility=planned.visibility,
        verdict="not_run",
        message=catalog.text("criterion.not_run"),
    )


def _absent(
    criterion: Criterion, blank: Collection[str], missing: Collection[str]
) -> Scored | None:
    if unfinished := [name for name in criterion.entry_points if name in blank]:
        message = catalog.text("criterion.not_done", functions=[*unfinished])
        return _lost(criterion, "not_done", message)
    if undefined := [name for name in criterion.entry_points if name in missing]:
        message = catalog.text("criterion.missing", functions=[*undefined])
        return _lost(criterion, "not_run", message)
    return None


def _by_tests(criterion: Criterion, mine: Sequence[Outcome]) -> Scored:
    """What the criterion's own tests give, needs aside."""
    if not mine:
        return Scored(criterion=criterion, verdict="pending", earned=None)
    verdict = max((each.verdict for each in mine), key=_WEIGHT.__getitem__)
    if verdict == "passed":
        return Scored(criterion=criterion, verdict="passed", earned=criterion.points)
    message = _first_message(mine, verdict) or catalog.text(f"criterion.{verdict}")
    # A course's own mistake decides nothing: neither a point nor a loss.
    earned = None if verdict == "errored" else 0
    return Scored(criterion=criterion, verdict=verdict, earned=earned, message=message)


def _first_message(outcomes: Sequence[Outcome], verdict: Verdict) -> Text | None:
    """Of the first test with this verdict that students can see, else of the first hidden one."""
    lost = [each for each in outcomes if each.verdict == verdict and each.message is not None]
    shown_first = sorted(lost, key=lambda each: each.visibility != "shown")
    return shown_first[0].message if shown_first else None


def _with_needs(scored: Scored, own: Mapping[str, Scored], unearned: dict[str, bool]) -> Scored:
    """The scoring once the needs are looked at; `unearned` remembers what was found out."""
    if scored.verdict in ("pending", "not_done") or (
        scored.message is not None and scored.message.code == "criterion.missing"
    ):
        return scored
    unmet = [
        own[need].criterion for need in scored.criterion.needs if _is_unearned(need, own, unearned)
    ]
    return _lost(scored.criterion, "not_run", _needs(unmet)) if unmet else scored


def _is_unearned(id: str, own: Mapping[str, Scored], unearned: dict[str, bool]) -> bool:
    """Whether a criterion is lost, by its own tests or by what it needs in turn."""
    if id not in unearned:
        scored = own[id]
        unearned[id] = scored.verdict not in ("pending", "errored") and (
            scored.verdict != "passed"
            or any(_is_unearned(need, own, unearned) for need in scored.criterion.needs)
        )
    return unearned[id]


def _needs(unmet: Sequence[Criterion]) -> Text:
    """Which criteria have to be earned first: `args` holds ids, the sentences hold titles."""
    code = "criterion.needs"
    return Text(
        code=code,
        args={"needs": [each.id for each in unmet]},
        en=catalog.say("en", code, needs=[each.title.en for each in unmet]),
        zh=catalog.say("zh", code, needs=[each.title.zh for each in unmet]),
    )


def _lost(criterion: Criterion, verdict: CriterionVerdict, message: Text) -> Scored:
    return Scored(criterion=criterion, verdict=verdict, earned=0, message=message)
