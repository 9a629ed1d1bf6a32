"""Whether right answers got everything, wrong ones what is stated, and trivial ones nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from grader.assignment import Assignment
from grader.misconceptions import Misconception
from grader.model import Text
from grader.verifying.records import Check, Marks, Price, Row
from grader.verifying.rows import row, said

# A suite that takes half of its limits on the course's machine fails on a student's laptop.
_SHARE_FAILED, _SHARE_WARNED = 0.5, 0.25
_MOST_TESTS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """An answer and its marks.

    Args:
        seeds: with the whole suite, one for each seed.
        reverse, again, default: on the first seed: in the other order, a second time, computed
            with `ATEN_CPU_CAPABILITY=default`; None where that was not asked for.
        shown: with the shown tests alone.
    """

    name: str
    seeds: tuple[Marks, ...]
    reverse: Marks | None = None
    again: Marks | None = None
    default: Marks | None = None
    shown: Marks | None = None

    @property
    def all(self) -> tuple[Marks, ...]:
        others = (self.reverse, self.again, self.default, self.shown)
        return (*self.seeds, *(each for each in others if each is not None))


def right(check: Check, tried: Sequence[Tried]) -> Row:
    """Whether right answers earn all points, on every seed, in every order, and are not diagnosed.

    Only the reference is tried with the shown tests alone.
    """
    problems = [problem for each in tried for problem in _losses(each)]
    problems += [
        said("diagnosed", name=each.name, ids=[*marks.diagnoses])
        for each in tried
        for marks in each.seeds[:1]
        if marks.diagnoses
    ]
    fine = said(f"{check}_ok", count=len(tried), seeds=len(tried[0].seeds) if tried else 0)
    return row(check, problems, fine)


def _losses(tried: Tried) -> list[Text]:
    """The first loss in each way of trying: five seeds rarely have five reasons."""
    on_seeds = [each for each in tried.seeds if not each.complete][:1]
    others = [
        (marks, kind)
        for marks, kind in ((tried.reverse, "reverse"), (tried.shown, "shown"))
        if marks is not None and not marks.complete
    ]
    return [
        *(_loss(tried.name, marks, "seed") for marks in on_seeds),
        *(_loss(tried.name, marks, kind) for marks, kind in others),
    ]


def _loss(name: str, marks: Marks, kind: str) -> Text:
    if marks.failure is not None:
        return said("broken", name=name, problem=marks.failure)
    lost = [test for (_, test), verdict in marks.tests.items() if verdict != "passed"]
    more = [f"+{len(lost) - _MOST_TESTS}"] if len(lost) > _MOST_TESTS else []
    return said(
        f"loses_{kind}",
        name=name,
        points=marks.points,
        of=marks.decided,
        seed=marks.seed,
        tests=[*lost[:_MOST_TESTS], *more],
    )


def template(tried: Tried) -> Row:
    """Whether the template earns nothing because it is not done."""
    problems: list[Text] = []
    for marks in tried.all:
        if marks.points != 0:
            problems.append(said("template_earns", points=marks.points))
        done = [id for id, verdict in marks.verdicts.items() if verdict != "not_done"]
        if done:
            problems.append(said("template_done", criteria=[*done]))
    return row("template", list({each.en: each for each in problems}.values()), said("template_ok"))


def trivial(tried: Sequence[Tried]) -> Row:
    """Whether answers that compute nothing earn nothing."""
    problems = [
        said(f"trivial_earns_{kind}", name=name, criteria=[*criteria])
        for name, kind, criteria in _gifts(tried)
    ]
    return row("trivial", problems, said("trivial_ok", count=len(tried)))


def _gifts(tried: Sequence[Tried]) -> list[tuple[str, str, tuple[str, ...]]]:
    found = []
    for each in tried:
        earning = next((marks for marks in each.seeds if marks.points), None)
        if earning is not None:
            found.append((each.name, "all", earning.criteria))
        elif each.shown is not None and each.shown.points:
            found.append((each.name, "shown", each.shown.criteria))
    return found


# --- misconceptions ------------------------------------------------------------------------------


def misconceptions(
    tried: Mapping[str, Tried], known: Sequence[Misconception], *, diagnosed: bool
) -> Row:
    """Whether each earns exactly what it states on every seed, and is recognised.

    Args:
        tried: by the id of the misconception.
        diagnosed: whether there are numbers to recognise them by.
    """
    problems: list[Text] = []
    ids = {each.id for each in known}
    for each in known:
        # A student who gets the hint of another one with these numbers gets the same sentence.
        twins = {other.id for other in known if other.hint.en == each.hint.en} | {*each.twins}
        if each.id not in tried:
            continue  # its file is missing, which another row says
        answer = tried[each.id]
        problems += _wrong_price(each, answer)
        if diagnosed:
            problems += _unrecognised(each, answer, twins, ids)
    code = "misconceptions_ok" if diagnosed else "misconceptions_ok_unnamed"
    seeds = max((len(each.seeds) for each in tried.values()), default=0)
    return row("misconceptions", problems, said(code, count=len(tried), seeds=seeds))


def _wrong_price(each: Misconception, answer: Tried) -> list[Text]:
    for marks in answer.seeds:
        if marks.failure is not None:
            return [said("broken", name=each.id, problem=marks.failure)]
        if marks.complete:
            return [said("full_marks", id=each.id, seed=marks.seed)]
        if set(marks.criteria) != set(each.earns):
            seen, stated = _named(marks.criteria), _named(each.earns)
            return [said("earns", id=each.id, seed=marks.seed, seen=seen, stated=stated)]
    return []


def _named(criteria: Iterable[str]) -> list[str]:
    return [*criteria] or ["-"]


def _unrecognised(each: Misconception, answer: Tried, twins: set[str], ids: set[str]) -> list[Text]:
    """Nothing when it is diagnosed as itself or a twin, and as no other misconception."""
    marks = answer.seeds[0]
    own = {each.id, *twins}
    seen = set(marks.diagnoses)
    if not seen & own:
        return [said("unrecognised", id=each.id, seen=_named(marks.diagnoses))]
    if others := sorted((seen & ids) - own):
        return [said("mistaken", id=each.id, seen=[*others])]
    alone = answer.shown
    if alone is not None and not alone.complete and not set(alone.diagnoses) & own:
        return [said("unrecognised_shown", id=each.id)]
    return []


def prices(tried: Mapping[str, Tried], known: Sequence[Misconception]) -> tuple[Price, ...]:
    """What each misconception earns, cheapest first."""
    found = [
        Price(
            id=each.id,
            title=each.title,
            points=tried[each.id].seeds[0].points or 0,
            criteria=tried[each.id].seeds[0].criteria,
        )
        for each in known
        if each.id in tried
    ]
    return tuple(sorted(found, key=lambda price: price.points))


# --- the suite ---------------------------------------------------------------------------------


def shown_tests(assignment: Assignment, reference: Marks, wrong: Mapping[str, Tried]) -> Row:
    """Whether every criterion has shown and hidden tests, and shown ones that find the mistakes.

    A hidden test uses other inputs, never another requirement: so a misconception must lose with
    the shown tests what it loses with all.
    """
    ids = [each.id for each in assignment.criteria]
    shown, hidden = reference.deciding["shown"], reference.deciding["hidden"]
    problems = [said("no_shown_test", criterion=id) for id in ids if id not in shown]
    if problems:
        return row("shown_tests", problems)
    notes = [said("no_hidden_test", criterion=id) for id in ids if id not in hidden]
    for id, tried in wrong.items():
        only = _only_hidden(tried)
        if only:
            notes.append(said("only_hidden", id=id, criteria=only))
    return row("shown_tests", notes, said("shown_tests_ok"), worst="warning")


def _only_hidden(tried: Tried) -> list[str]:
    if tried.shown is None:
        return []
    return [id for id in tried.shown.criteria if id not in tried.seeds[0].criteria]


def suite(gallery: Sequence[Tried], others: Sequence[Sequence[Marks]]) -> Row:
    """Whether the suite itself never raises, whatever it is given.

    Args:
        others: marks of mutants: what errs on them is a warning.
    """
    problems: dict[str, Text] = {}
    for each in gallery:
        for test in _erring(each.all):
            problems.setdefault(test, said("suite_errs", test=test, name=each.name))
    if problems:
        return row("suite", list(problems.values()))
    tests = dict.fromkeys(test for seen in others for test in _erring(seen))
    notes = [said("suite_errs_on_mutants", test=test) for test in tests]
    return row("suite", notes, said("suite_ok"), worst="warning")


def _erring(seen: Iterable[Marks]) -> list[str]:
    return [
        test for marks in seen for (_, test), verdict in marks.tests.items() if verdict == "errored"
    ]


def determinism(tried: Sequence[Tried]) -> Row:
    """Whether two runs of the same answer give the same report."""
    problems = [
        said("not_deterministic", name=each.name)
        for each in tried
        if each.again is not None and each.again.print != each.seeds[0].print
    ]
    return row("determinism", problems, said("determinism_ok", count=len(tried)))


def capability(tried: Sequence[Tried]) -> Row:
    """Whether the verdicts are the same when torch computes without vector units."""
    problems = [
        said("other_capability", name=each.name, tests=_changed(each.seeds[0], each.default))
        for each in tried
        if each.default is not None and _changed(each.seeds[0], each.default)
    ]
    native, plain = _capabilities(tried)
    return row("capability", problems, said("capability_ok", native=native, default=plain))


def _changed(native: Marks, default: Marks) -> list[str]:
    changed = [
        test
        for key, verdict in native.tests.items()
        if default.tests.get(key) != verdict
        for test in key[1:]
    ]
    if native.points != default.points:
        changed.append(f"{native.points} / {default.points}")
    if native.diagnoses != default.diagnoses:
        changed += [*native.diagnoses, *default.diagnoses]
    return changed


def _capabilities(tried: Sequence[Tried]) -> tuple[str, str]:
    for each in tried:
        if each.default is not None:
            return each.seeds[0].capability, each.default.capability
    return "", ""


def limits(assignment: Assignment, reference: Tried) -> Row:
    """Whether the reference stays far below the time and memory that a submission may use."""
    allowed = assignment.limits
    seconds = max(each.cpu_s for each in reference.all)
    memory = max(each.memory_mib for each in reference.all)
    share = max(seconds / allowed.total_s, memory / allowed.memory_mib)
    args = {
        "seconds": round(seconds, 1),
        "total": allowed.total_s,
        "memory": memory,
        "most": allowed.memory_mib,
    }
    if share <= _SHARE_WARNED:
        return row("limits", [], said("limits_ok", **args))
    worst = "failed" if share > _SHARE_FAILED else "warning"
    return row("limits", [said("limits_near", **args)], worst=worst)  # type: ignore[arg-type]
