"""From what ended a test to its outcome: verdict, cause, sentence, and the staff's detail."""

import traceback
from collections import deque
from collections.abc import Callable, Mapping

import pytest
import torch

from grader.claims import clean
from grader.errors import AssignmentError
from grader.model import Cause, Died, Json, Outcome, Place, Planned, Raised, Text, Verdict
from grader.sandbox.session import Session, Spent
from grader.sandbox.wire import NO_INPUT as INPUT
from grader.suite import tried
from grader.suite.compare import Mismatch
from grader.suite.messages import place_args
from grader.suite.student import Student, Unanswered
from grader.texts import catalog

ORDER: tuple[Verdict, ...] = ("errored", "failed", "not_run", "passed")
MOST_DETAIL = 20_000


class Reasons:
    """Turns exceptions of one suite's tests into outcomes.

    Args:
        own_text: renders a sentence of the assignment's own.
        places: where each entry point is defined in this submission.
        session: knows what happened while the source was loaded.
    """

    def __init__(
        self,
        own_text: Callable[[str, Mapping[str, Json]], Text],
        places: Mapping[str, Place],
        session: Session,
    ) -> None:
        self.own_text = own_text
        self.places = places
        self.session = session

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
        make = self.own_text if error.own else _text
        return _outcome(
            planned,
            "failed",
            cause="mismatch",
            message=make(error.code, args),
            detail=_inputs(student) + _traceback(error),
        )

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
        told: dict[str, Json] = {
            "function": function,
            "type": clean(seen.type, 100),
            "message": clean(seen.message, 600),
            **args,
        }
        if _undefined(seen, function):
            return self._undefined_text(told)
        if seen.type == "EOFError" and seen.message == INPUT:
            return _text("raised.input", told)
        if seen.trace:
            # The innermost of the student's own lines is where to look.
            frame = seen.trace[-1]
            told |= {"line": frame.line, "cell": frame.cell}
        return _text("raised.memory" if _out_of_memory(seen) else "raised.call", told)

    def _undefined_text(self, told: dict[str, Json]) -> Text:
        """Its definition stands in the file, so something kept it from being run."""
        ended = [each for each in self.session.troubles if not each.is_assert]
        if not ended:
            return _text("raised.call", told)
        unit = ended[0].unit
        return _text("raised.undefined", told | {"line": unit.line, "cell": unit.cell})

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
    if seen.detail in ("stale", "processes"):
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
    return seen.type == "MemoryError" or "can't allocate memory" in seen.message


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
    last = deque(traceback.walk_tb(error.__traceback__), maxlen=6)
    places = [
        f"  {frame.f_code.co_filename.rpartition('/')[2]}:{line} {frame.f_code.co_name}"
        for frame, line in last
    ]
    return "\n".join([*places, f"{type(error).__name__}: {error}"])
