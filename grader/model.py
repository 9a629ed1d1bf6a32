"""The records that pass between the parts of torchgrade.

All are frozen; sequences are tuples; alternatives are unions that are matched exhaustively.
Nothing here imports torch: a value that came out of a worker is typed `object`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

Language = Literal["en", "zh"]
Audience = Literal["student", "staff"]
Kind = Literal["module", "notebook"]
Visibility = Literal["shown", "hidden"]
Verdict = Literal["passed", "failed", "errored", "not_run"]
CriterionVerdict = Literal["passed", "failed", "errored", "not_run", "not_done", "pending"]
DeathCause = Literal["timeout", "memory", "signal", "exit", "garbled"]
Cause = Literal["mismatch", "raised", "timeout", "memory", "signal", "exit", "garbled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One sentence for people, already rendered in both languages.

    Args:
        code: the key of the template, e.g. `mismatch.values` or `hw4.criterion.pairing`.
        args: what was filled in (plain JSON).
    """

    code: str
    en: str
    zh: str
    args: Mapping[str, Json] = field(default_factory=dict)

    def in_language(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en


# --- what was handed in --------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something stands: a 1-based line of the file, or of one notebook cell.

    `cell` counts all cells of the notebook from 1 (None in a script); `cell_id` is the
    notebook's own id, where it has one; `quote` is the line that is meant, else the cell's first
    line of code.
    """

    line: int | None = None
    cell: int | None = None
    cell_id: str | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something about the file that the student should know."""

    kind: str
    message: Text
    place: Place = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What is known of a file that was handed in before it is read; `sha256` is of its bytes."""

    file: str
    kind: Kind
    sha256: str
    student: str | None = None
    attempt: int = 1
    submitted_at: str | None = None
    late: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedFile:
    """A submission with its bytes; they are read once, and nothing keeps them."""

    submission: Submission
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Text as it stands in the file: all of a script, or one cell of a notebook.

    Args:
        cell: the notebook cell's number, counted from 1 over all cells; None in a script.
        quote: a cell's first line of code, by which people know it.
    """

    text: str
    cell: int | None = None
    cell_id: str | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Source that is compiled as one: a script, or a notebook cell.

    Args:
        text: Python only (magics are already taken care of), `\\n` line ends.
        cell: the notebook cell's number from 1; None in a script.
    """

    text: str
    cell: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Top-level statements that run in a row, and are skipped together when they end a worker.

    Args:
        piece: index of the piece that they stand in.
        first, stop: which of its statements, counted from 0; `stop` None is the end of the piece.
        line: 1-based line of the piece at which they begin.
        names: what a single statement would bind, for people.
    """

    piece: int
    first: int = 0
    stop: int | None = None
    line: int = 1
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is executed, statement by statement; one that raises costs itself only.

    Args:
        units: cover every statement of every piece, in order.
        converted: a script that was a notebook once, and asks for its surroundings.
    """

    kind: Kind
    pieces: tuple[Piece, ...]
    units: tuple[Unit, ...]
    converted: bool = False

    def piece_of(self, unit: Unit) -> Piece:
        return self.pieces[unit.piece]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A name bound at top level; the last one wins, `earlier` are the places it hides.

    Args:
        blank: the place of the placeholder when the function is still unfinished, else None.
        quoted: code that stands in quotes there, where it is not computed.
        rebound: where a function's name is given to something that was made of it or hides it,
            `f = no_grad()(f)` or `f = f(x)`: only running it tells whether that is a function.
    """

    name: str
    kind: Literal["function", "class", "variable", "import"]
    place: Place
    blank: Place | None = None
    earlier: tuple[Place, ...] = ()
    quoted: str | None = None
    rebound: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What could be understood of a submission without running it.

    `source` is None when nothing can be executed; `unreadable` tells a file that gives no
    source at all (status `unreadable`) from a script with a syntax error (`graded`, 0 points).
    `unread` are the names whose definition stands in code that Python could not parse; `open_ended`
    tells that only a run shows which names the file binds (`from x import *`); `imports` are the
    modules outside the standard library that the code asks for; `nested` are the places of entry
    points that stand inside another block; `passages` is the text that places are quoted from.
    """

    submission: Submission
    source: Source | None
    definitions: Mapping[str, Definition]
    problems: tuple[Problem, ...]
    unreadable: bool = False
    marker: str | None = None
    unread: tuple[str, ...] = ()
    open_ended: bool = False
    imports: tuple[str, ...] = ()
    nested: Mapping[str, Place] = field(default_factory=dict)
    passages: tuple[Passage, ...] = ()


# --- what came back from the worker ----------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One line of the student's own traceback (a claim of the worker)."""

    line: int
    cell: int | None = None
    function: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """The call came back. `claims` are words of the worker: never enough to earn a point."""

    value: object
    claims: Mapping[str, Json] = field(default_factory=dict)
    stdout: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """The call raised; every field but the fact itself is a claim of the worker."""

    type: str
    message: str
    trace: tuple[Frame, ...] = ()
    stdout: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Died:
    """The worker is gone; `cause` comes from its parent, never from the worker."""

    cause: DeathCause
    detail: str = ""
    stdout: str = ""


Observation: TypeAlias = Returned | Raised | Died


# --- limits, tests, criteria -------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one submission may use; times are CPU seconds, wall is a backstop."""

    load_s: float = 10.0
    call_s: float = 2.0
    total_s: float = 20.0
    memory_mib: int = 1024
    processes: int = 32
    scratch_mib: int = 64
    output_kib: int = 64

    def stretched(self, factor: float) -> "Limits":
        return Limits(
            load_s=self.load_s * factor,
            call_s=self.call_s * factor,
            total_s=self.total_s * factor,
            memory_mib=self.memory_mib,
            processes=self.processes,
            scratch_mib=self.scratch_mib,
            output_kib=self.output_kib,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A test that will be run; `test` is `function[param]`."""

    test: str
    criterion: str
    visibility: Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a planned test gave. `message` is for the student, `detail` for staff only."""

    test: str
    criterion: str
    visibility: Visibility
    verdict: Verdict
    cause: Cause | None = None
    message: Text | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """A line of the rubric: earned whole when all its tests passed, else 0.

    `entry_points` are the functions that its tests call.
    """

    id: str
    title: Text
    points: int
    entry_points: tuple[str, ...]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A criterion with what was earned; `earned` is None while `pending`."""

    criterion: Criterion
    verdict: CriterionVerdict
    earned: int | None
    message: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """A misconception that the submission's numbers match exactly.

    Args:
        function: the entry point that it is about; every word of it is true of that one.
        by: what it was recognised by: numbers, what came beside right numbers (dtypes), or errors.
    """

    id: str
    title: Text
    hint: Text
    function: str = ""
    by: Literal["numbers", "results", "errors"] = "numbers"


# --- assignments ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A declared parameter of an entry point."""

    name: str
    kind: Literal["tensor", "number", "integer"]
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What an entry point declares to return.

    Args:
        kind: `tensor`, or `number` (a Python or numpy number or a 0-d tensor).
        like: the parameter whose shape the result has (tensors only).
        family: `float`, `integer`, `bool` or `complex`; width does not matter here.
    """

    kind: Literal["tensor", "number"]
    like: str | None = None
    family: Literal["float", "integer", "bool", "complex"] = "float"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPoint:
    """A function that submissions define and suites call."""

    name: str
    parameters: tuple[Parameter, ...]
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How an argument of a probe is made.

    Args:
        number: a plain number, or None.
        values: a (nested) list that becomes a tensor, or None.
        shape: of a tensor of random dyadic numbers from `low` to `high`, where there are no values.
        dtype: of the tensor; None: int64, bool or float32, after the values.
    """

    number: int | float | None = None
    values: tuple[Json, ...] | None = None
    shape: tuple[int, ...] = ()
    dtype: str | None = None
    low: float = -2.0
    high: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A call whose numbers tell misconceptions apart; no test uses its inputs.

    Args:
        twice: the call is made twice with the same tensor objects, and the second result counts,
            so that an input that was edited in place shows.
        first: arguments that are others in the first of the two calls.
        exact: the numbers are compared to the last bit.
        last_rows: of a long result, only so many rows at the end are looked at (and stored).
    """

    id: str
    function: str
    arguments: Mapping[str, Recipe]
    twice: bool = False
    first: Mapping[str, Recipe] = field(default_factory=dict)
    exact: bool = False
    last_rows: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is done to one argument of every probe, to act out a mistake about it.

    Args:
        omit: leave the argument out.
        put: pass this number instead.
        times, plus: pass `argument * times + plus`; where the argument is left out,
        counted: (parameter, axis) makes it 0, 1, 2, … along that axis of the other parameter.
    """

    omit: bool = False
    put: float | None = None
    times: float = 1
    plus: float = 0
    counted: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a submission used, measured from outside its worker."""

    cpu_s: float = 0.0
    peak_memory_mib: int = 0
