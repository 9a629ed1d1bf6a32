"""From what ended a test to its outcome: verdict, cause, sentence, and the staff's detail."""

import re
import traceback
from collections import deque
from collections.abc import Callable, Mapping

import pytest
import torch

from grader.claims import clean
from grader.errors import AssignmentError
from grader.model import Cause, Died, Json, Outcome, Place, Planned, Raised, Text, Verdict
from grader.sandbox.session import Session, Spent
from grader.suite import causes, raising, tried, troubles
from grader.suite.compare import Mismatch
from grader.suite.messages import place_args
from grader.suite.raising import Known
from grader.suite.student import Student, Unanswered
from grader.texts import catalog

# The frames through which pytest calls a test say nothing about it.
_PYTEST = re.compile(r"[\\/](?:_pytest|pluggy)[\\/]")
ORDER: tuple[Verdict, ...] = ("errored", "failed", "not_run", "passed")
MOST_DETAIL = 20_000


class Reasons:
    """Turns exceptions of one suite's tests into outcomes.

    Args:
        own_text: renders a sentence of the assignment's own.
        has_text: whether the assignment has such a sentence.
        places: where each entry point is defined in this submission.
        session: knows what happened while the source was loaded.
        known: what can be said of an exception besides its words.
    """

    def __init__(
        self,
        own_text: Callable[[str, Mapping[str, Json]], Text],
        has_text: Callable[[str], bool],
        places: Mapping[str, Place],
        session: Session,
        known: Known,
    ) -> None:
        self.own_text = own_text
        self.has_text = has_text
        self.places = places
        self.session = session
        self.known = known

    def outcome(
        self,
        planned: Planned,
        item: pytest.Item,
        error: BaseException | None,
        student: Student | None,
    ) -> Outcome:
        """The outcome of one phase (setup, call or teardown) of a test."""
        match error:
            case None:
                return _outcome(planned, "passed")
            case Mismatch():
                return self._mismatch(planned, item, error, student)
            case Unanswered():
                return self._unanswered(planned, item, error, student)
            case Spent():
                text = catalog.text(f"spent.{error.reason}")
                return _outcome(planned, "not_run", message=text)
            case pytest.skip.Exception() | pytest.xfail.Exception():
                raise AssignmentError(
                    f"{item.nodeid}: a suite may not skip or expect failures; a criterion that"
                    " is not decided would look like one that is"
                ) from error
        return _outcome(planned, "errored", detail=_traceback(error))

    def _mismatch(
        self, planned: Planned, item: pytest.Item, error: Mismatch, student: Student | None
    ) -> Outcome:
        args = dict(error.told)
        if planned.visibility == "shown":
            args |= self._call(item, error, student.last_call if student else "", student)
        return _outcome(
            planned,
            "failed",
            cause="mismatch",
            message=self._mismatch_text(error, args),
            detail=_inputs(student) + _traceback(error),
        )

    def _mismatch_text(self, error: Mismatch, args: Mapping[str, Json]) -> Text:
        """The sentence; of a wrong kind of value the assignment may have one that says more."""
        if error.own:
            return self.own_text(error.code, args)
        own = f"returned_{args.get('got')}"
        if error.code.startswith("mismatch.kind.") and self.has_text(own):
            return self.own_text(own, args)
        return _text(error.code, args)

    def _unanswered(
        self, planned: Planned, item: pytest.Item, error: Unanswered, student: Student | None
    ) -> Outcome:
        seen = error.observation
        shown = planned.visibility == "shown"
        args = self._call(item, error, error.function, student) if shown else {}
        match seen:
            case Raised():
                cause: Cause = "memory" if _out_of_memory(seen) else "raised"
                text = self._raised_text(seen, args, error.function)
            case Died():
                cause = seen.cause
                text = _text(_death_code(seen), {"function": error.function, **args})
        return _outcome(
            planned, "failed", cause=cause, message=text, detail=f"{seen}\n{_traceback(error)}"
        )

    def _raised_text(self, seen: Raised, args: Mapping[str, Json], function: str) -> Text:
        if (missing := self._missing(seen, function)) is not None:
            return missing
        return raising.text(seen, {"function": function, **args}, self.known)

    def _missing(self, seen: Raised, function: str) -> Text | None:
        """Which statement should have bound the name that is missing, when one has failed to."""
        name = troubles.missing_name(seen)
        root = troubles.trace_back(self.session.troubles).of_name.get(name or "")
        if name is None or root is None:
            return None
        place = troubles.place_of(root)
        where = "cell" if place.cell is not None else "file"
        code = "undefined" if _undefined(seen, function) else "missing_name"
        return catalog.text(
            f"raised.{where}.{code}",
            reason=troubles.reason(root),
            # Where it failed, not what was tried: one broken line is told once, for all its tests.
            function=function,
            name=name,
            root=place_args(place),
            **place_args(place),
        )

    def _call(
        self, item: pytest.Item, error: BaseException, function: str, student: Student | None
    ) -> dict[str, Json]:
        """What was tried and where the function stands; for shown tests only."""
        place = place_args(self.places.get(function))
        lines = _tried(item, error, student.axes if student else ())
        return {"function": function, **place, "tried": list(lines)}


def worst(phases: list[Outcome]) -> Outcome:
    """The worst of setup, call and teardown."""
    return min(phases, key=lambda each: ORDER.index(each.verdict))


def _text(code: str, args: Mapping[str, Json]) -> Text:
    return catalog.text(code, **args)


def _outcome(
    planned: Planned,
    verdict: Verdict,
    *,
    cause: Cause | None = None,
    message: Text | None = None,
    detail: str | None = None,
) -> Outcome:
    return Outcome(
        test=planned.test,
        criterion=planned.criterion,
        visibility=planned.visibility,
        verdict=verdict,
        cause=cause,
        message=message,
        detail=None if detail is None else clean(detail, MOST_DETAIL),
    )


def _death_code(seen: Died) -> str:
    if seen.detail in ("stale", "processes", "threads"):
        return f"died.{seen.detail}"
    return f"died.{seen.cause}"


def _undefined(seen: Raised, function: str) -> bool:
    return (
        seen.type == "NameError"
        and not seen.trace
        and seen.message == f"name {function!r} is not defined"
    )


def _out_of_memory(seen: Raised) -> bool:
    # Torch has no type of its own for it. The claim only names the reason of a lost test.
    return causes.kind_of(seen.type, seen.message) == "memory"


def _tried(item: pytest.Item, error: BaseException, axes: tuple[int, ...]) -> list[str]:
    if not isinstance(item, pytest.Function):
        return []
    test = getattr(item.function, "__wrapped__", item.function)
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code is test.__code__:
            callspec = getattr(item, "callspec", None)
            parameters = callspec.params if callspec else {}
            return tried.lines(test, step.tb_lineno, parameters, axes=axes)
        step = step.tb_next
    return []


def _inputs(student: Student | None) -> str:
    if student is None:
        return ""
    shown = [f"  {_shown(each)}" for each in student.last_arguments]
    return "\n".join([f"{student.last_call} was called with", *shown, ""])


def _shown(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return f"{tuple(value.shape)} {value.dtype} {value.reshape(-1)[:64].tolist()}"
    return repr(value)


def _traceback(error: BaseException | None) -> str:
    if error is None:
        return ""
    # Not `extract_tb`: the columns and source lines that it looks up cost more than the test.
    own = (
        each
        for each in traceback.walk_tb(error.__traceback__)
        if not _PYTEST.search(each[0].f_code.co_filename)
    )
    last = deque(own, maxlen=6)
    places = [
        f"  {frame.f_code.co_filename.rpartition('/')[2]}:{line} {frame.f_code.co_name}"
        for frame, line in last
    ]
    return "\n".join([*places, f"{type(error).__name__}: {error}"])
