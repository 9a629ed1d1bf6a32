"""What the client and the workers of a cluster tell each other, and when they do not fit.

These records are pickled by Dask and travel between our own processes only. None holds a student,
a file name or a date.
"""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from grader.assignment import Assignment
from grader.bulk.engine import Lost, Refused, Result
from grader.bulk.run_record import Conditions
from grader.grading import Settings
from grader.texts import catalog

# Both are named in a message; the rest stands in `run.json`.
_DIGITS_SHOWN = 12


class ClusterFailed(Exception):
    """Grading on the cluster cannot begin or go on; reports that were written are complete."""

    def __init__(self, code: str, **args: Any) -> None:
        self.text = catalog.text(f"bulk.cluster.{code}", **args)
        super().__init__(self.text.en)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What must be equal on two machines for their reports to be.

    Args:
        digests: of the assignments, by id.
    """

    grader_version: str
    python: str
    torch: str
    digests: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """`what` is `here` on the client and `there` on the worker."""

    what: str
    here: str
    there: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What every worker of a run has to know.

    Args:
        folder: where the client found its assignments, when that was said; workers without such
            a folder search for their own.
        ours: the workers belong to the client and end with it.
        guarded: only who holds a certificate reaches the scheduler.
        demanded: the sandbox level without which nothing is graded (`full`), or `any`.
        planned: the assignments that submissions are graded for.
    """

    settings: Settings
    identity: Identity
    planned: tuple[str, ...]
    folder: str | None
    ours: bool
    guarded: bool
    demanded: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitness:
    """Whether a worker may grade, and why not.

    Args:
        differences: from the client.
        problem: what went wrong when its judge was tried; empty when it works.
        level: at which submissions would be locked in; None when no judge was tried.
    """

    worker: str
    differences: tuple[Difference, ...] = ()
    problem: str = ""
    level: str | None = None
    layers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """The results of a chunk, in its order, and how long all of it took."""

    results: tuple[Result | Lost | Refused, ...]
    seconds: float


def identity(assignments: Mapping[str, Assignment], under: Conditions) -> Identity:
    """The client's."""
    return Identity(
        grader_version=under.grader_version,
        python=under.python,
        torch=under.torch,
        digests={id_: each.digest for id_, each in assignments.items()},
    )


def own_identity(assignments: Mapping[str, Assignment]) -> Identity:
    """That of the process that asks."""
    return Identity(
        grader_version=metadata.version("torchgrade"),
        python=platform.python_version(),
        # Of a worker, too, as it is installed: its own process never imports torch.
        torch=metadata.version("torch"),
        digests={id_: each.digest for id_, each in assignments.items()},
    )


def differences(here: Identity, there: Identity, *, nthreads: int) -> tuple[Difference, ...]:
    """What keeps a worker from grading; assignments that only it has do not matter."""
    versions = [
        Difference(what="torchgrade", here=here.grader_version, there=there.grader_version),
        Difference(what="Python", here=here.python, there=there.python),
        Difference(what="torch", here=here.torch, there=there.torch),
        # One judge, so one submission at a time: a second thread would wait for the first.
        Difference(what="nthreads", here="1", there=str(nthreads)),
    ]
    found = [each for each in versions if each.here != each.there]
    for id_, digest in here.digests.items():
        other = there.digests.get(id_)
        if other != digest:
            found.append(Difference(what=id_, here=_short(digest), there=_short(other)))
    return tuple(found)


def may_grade(found: Fitness, terms: Terms) -> bool:
    """Whether submissions may be run on a worker that was tried."""
    if found.differences or found.problem:
        return False
    return found.level == "full" or (terms.demanded == "any" and terms.guarded)


def refuse_unfit(found: Fitness, terms: Terms, *, address: str) -> None:
    """Nothing, when the worker may grade.

    Raises:
        ClusterFailed: naming the worker, what does not fit, and both values.
    """
    for each in found.differences[:1]:
        code = "nthreads" if each.what == "nthreads" else "differs"
        raise ClusterFailed(
            code, worker=found.worker, what=each.what, here=each.here, there=each.there
        )
    if found.problem:
        raise ClusterFailed("broken", worker=found.worker, problem=found.problem)
    layers = [*found.layers] or "-"
    if found.level not in (None, "full"):
        if terms.demanded == "full":
            raise ClusterFailed("reduced", worker=found.worker, level=found.level, layers=layers)
        if not terms.guarded:
            raise ClusterFailed("open", worker=found.worker, level=found.level, address=address)


def reason(error: BaseException) -> str:
    """What lies at the bottom of an error of Dask's, without the objects on the way."""
    if said := getattr(error, "reason", None):
        return str(said)
    deepest = error
    while deepest.__cause__ is not None:
        deepest = deepest.__cause__
    if isinstance(deepest, OSError) and deepest.strerror:
        return deepest.strerror
    return str(deepest) or str(error) or type(error).__name__


def _short(digest: str | None) -> str:
    return digest[:_DIGITS_SHOWN] if digest else "-"
