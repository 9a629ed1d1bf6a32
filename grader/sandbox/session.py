"""A session: one submission in its worker, and every exchange with it.

Theory of operation. The judge asks, the worker answers, strictly in turn. Before a request the
channel must be silent, the answer must carry the request's random id, announce no more bytes than a
right answer could have, follow the grammar of `wire`, and be followed by silence; anything else is
`garbled`. One absolute deadline covers an exchange: CPU seconds of the worker, measured from
outside, and a wall clock as backstop, for one exchange and for all of a submission together. The
source goes to a worker whole, with its digest, before the student's time begins; then its
statements are run, unit by unit. When a worker dies its parent says why; a replacement loads the
source again, without the unit that killed the last one, and the remaining calls go on.
"""

import hashlib
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeGuard

import torch

from grader.errors import AssignmentError, GraderError
from grader.model import (
    DeathCause,
    Died,
    Frame,
    Json,
    Limits,
    Observation,
    Piece,
    Raised,
    Returned,
    Source,
    Unit,
    Usage,
)
from grader.sandbox import wire
from grader.sandbox.link import Bench, Death, Link, Output

MOST_DEATHS = 3
# Wall clock: a loop of sleeps uses no CPU seconds.
WALL_FACTOR, WALL_LEAST_S = 5.0, 10.0
TICK_S = 0.05
HELLO_S = 120.0
# Room for claims' small values, and for an answer of the wrong size that can still be told.
SMALLEST_ALLOWANCE = 4096
# As many as the worker tells of one unit, and as are kept of all of them.
MOST_FAILURES, MOST_NAMES, MOST_TROUBLES = 12, 40, 100


class Spent(Exception):
    """No more calls to this submission.

    Args:
        reason: `deaths` or `total` (nothing is left), or, from the judge, `criterion` (an earlier
            test of it had to be stopped) or `function` (the last life is kept for the others).
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TooWeak(GraderError):
    """The sandbox is weaker than demanded; nothing of the submission has reached a worker."""

    def __init__(self, level: str, layers: Sequence[str]) -> None:
        super().__init__(f"the sandbox locks in at the level {level} only")
        self.level = level
        self.layers = tuple(layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A statement that failed while the source was loaded, the first time it was.

    All but the cause of a death are claims of the worker, for people only.

    Args:
        line: 1-based, of the piece.
        lost: names that the statement would have bound and that are not bound.
        kept: names that still have what an earlier statement bound to them.
        annotation: only annotations failed; what they stand at is defined.
    """

    piece: Piece
    line: int
    observation: Raised | Died
    lost: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    annotation: bool = False

    @property
    def is_assert(self) -> bool:
        """Whether a check of the student's own failed, and nothing else."""
        seen = self.observation
        return isinstance(seen, Raised) and seen.type == "AssertionError" and not self.lost


@dataclass(slots=True, kw_only=True)
class _Live:
    """The worker of the moment."""

    link: Link
    cpu_before: float
    generation: int


@dataclass(slots=True, kw_only=True)
class Session:
    """One submission behind the boundary. Loads on the first call; `close` is always due.

    Args:
        bench: where workers come from.
        source: what the worker executes.
        limits: already stretched by the time factor.
        output: collects what all workers of this submission print.
        demanded: the sandbox level without which nothing is run (`full`), or `any`.
        troubles: statements that failed, in their order; `untold` are those beyond the cap.
        notes: what else the worker says of the load, in code words (`compile`).
        calls: how many requests about the submission's names and objects were sent.
    """

    bench: Bench
    source: Source
    limits: Limits
    output: Output
    demanded: str = "any"
    troubles: list[Trouble] = field(default_factory=list)
    untold: int = 0
    notes: set[str] = field(default_factory=set)
    calls: int = 0
    _live: _Live | None = None
    _generation: int = 0
    _deaths: int = 0
    _spent_cpu_s: float = 0.0
    _waited_s: float = 0.0
    _peak_mib: int = 0
    _skipped: set[int] = field(default_factory=set)
    _attempted: set[int] = field(default_factory=set)
    _handles: int = 0
    _last_death: DeathCause = "exit"
    _killed: bool = False

    def load(self) -> None:
        """Start a worker and load the source, if none is alive.

        Raises:
            Spent: when the submission has used up its deaths or its time.
            TooWeak: when the sandbox is weaker than demanded.
        """
        while self._live is None:
            self._check_budget()
            self._start()
            self._load_units()

    def call(
        self,
        name: str,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        *,
        allowance: int = SMALLEST_ALLOWANCE,
    ) -> Observation:
        """What calling the function `name` of the submission gives.

        Args:
            allowance: bytes that the answer's tensors may hold in sum.
        """
        return self._ask(
            {
                "do": "call",
                "target": wire.Ref(name),
                "args": tuple(args),
                "kwargs": dict(kwargs or {}),
            },
            allowance=allowance,
            handles=[*args, *(kwargs or {}).values()],
        )

    def new(
        self, name: str, args: Sequence[object] = (), kwargs: Mapping[str, object] | None = None
    ) -> tuple[wire.Handle | None, Observation]:
        """Call `name` and keep what it returns in the worker; the handle stands for it."""
        self.load()
        handle = self._next_handle()
        seen = self._ask(
            {
                "do": "call",
                "target": wire.Ref(name),
                "args": tuple(args),
                "kwargs": dict(kwargs or {}),
                "keep": handle,
            },
            allowance=SMALLEST_ALLOWANCE,
            handles=list(args),
        )
        return (handle if isinstance(seen, Returned) else None), seen

    def method(
        self,
        handle: wire.Handle,
        name: str,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        *,
        allowance: int = SMALLEST_ALLOWANCE,
    ) -> Observation:
        """What the method `name` of a kept object gives (`__call__` calls the object)."""
        return self._ask(
            {
                "do": "call",
                "target": handle,
                "method": name,
                "args": tuple(args),
                "kwargs": dict(kwargs or {}),
            },
            allowance=allowance,
            handles=[handle, *args],
        )

    def keep(self, value: object) -> tuple[wire.Handle | None, Observation]:
        """Put a value into the worker, to be passed to several calls as the same object."""
        self.load()
        handle = self._next_handle()
        seen = self._ask(
            {"do": "keep", "handle": handle, "value": value},
            allowance=SMALLEST_ALLOWANCE,
            handles=[],
        )
        return (handle if isinstance(seen, Returned) else None), seen

    def close(self) -> None:
        """End the worker. Idempotent."""
        if self._live is not None:
            self._bury(None)

    def fresh(self, *, total_s: float, without: Collection[int]) -> "Session":
        """Another one with the same source, and with lives, time and output of its own.

        Args:
            without: units that are not loaded, because they have killed a worker.
        """
        return Session(
            bench=self.bench,
            source=self.source,
            limits=replace(self.limits, total_s=total_s),
            output=Output(self.limits.output_kib),
            demanded=self.demanded,
            _skipped=set(without),
        )

    @property
    def skipped(self) -> frozenset[int]:
        """The units that have killed a worker while it loaded them."""
        return frozenset(self._skipped)

    @property
    def deaths(self) -> int:
        """How many workers of this submission had to be buried before their time."""
        return self._deaths

    @property
    def killed(self) -> bool:
        """Whether a worker died of a SIGKILL that no limit of ours sent."""
        return self._killed

    @property
    def usage(self) -> Usage:
        return Usage(cpu_s=round(self._spent_cpu_s, 3), peak_memory_mib=self._peak_mib)

    # --- workers ------------------------------------------------------------------------

    def _check_budget(self) -> None:
        if self._deaths >= MOST_DEATHS:
            raise Spent("deaths")
        if self._spent_cpu_s >= self.limits.total_s or self._wall_left_s() <= 0:
            raise Spent("total")

    def _wall_left_s(self) -> float:
        """For all exchanges that are still to come: one that sleeps in each call must end, too."""
        return max(WALL_LEAST_S, WALL_FACTOR * self.limits.total_s) - self._waited_s

    def _start(self) -> None:
        link = self.bench.start(self.limits, self.output)
        self._generation += 1
        self._live = _Live(link=link, cpu_before=0.0, generation=self._generation)
        # Known by now, and the worker has not been told a byte of the submission.
        if self.demanded not in ("any", self.bench.level):
            self._bury(None)
            raise TooWeak(self.bench.level, self.bench.layers)
        # The clock starts when the worker is ready: what the interpreter and torch need to start
        # is not the student's.
        request = {"do": "hello", **_described(self.source)}
        seen = self._exchange(request, limit_s=HELLO_S, allowance=SMALLEST_ALLOWANCE)
        if not isinstance(seen, Returned):
            raise GraderError(f"a worker did not start: {seen}")
        self._live.cpu_before = link.cpu_s()

    def _load_units(self) -> None:
        """Load what is not skipped; after a death no worker is left and the caller retries."""
        left = self.limits.load_s
        for index, unit in enumerate(self.source.units):
            if index in self._skipped or self._live is None:
                continue
            before = self._live.link.cpu_s()
            request = {"do": "load", "piece": unit.piece, "first": unit.first, "stop": unit.stop}
            seen = self._exchange(request, limit_s=left, allowance=SMALLEST_ALLOWANCE)
            try:
                self._note_loaded(index, unit, seen)
            except wire.Garbled as error:
                seen = self._died("garbled", str(error))
            if isinstance(seen, Died):
                self._skipped.add(index)
                piece = self.source.piece_of(unit)
                self.troubles.append(
                    Trouble(piece=piece, line=unit.line, observation=seen, lost=unit.names)
                )
                return
            self._attempted.add(index)
            left = max(0.1, left - (self._live.link.cpu_s() - before))

    def _note_loaded(self, index: int, unit: Unit, seen: Observation) -> None:
        """Keep what failed in a unit, the first time that it is loaded.

        Raises:
            wire.Garbled: when the answer is not one to a load (student code may have written it).
        """
        if isinstance(seen, Died):
            return
        troubles, more, notes = _loaded(seen, self.source.piece_of(unit), unit)
        if index in self._attempted:
            return
        room = max(0, MOST_TROUBLES - len(self.troubles))
        self.troubles += troubles[:room]
        self.untold += len(troubles[room:]) + more
        self.notes |= notes

    def _bury(self, cause: DeathCause | None) -> Death:
        live = self._live
        if live is None:
            raise GraderError("no worker to end")
        # Given up first: when its end fails there is nothing more to wait for.
        self._live = None
        death = live.link.end(cause)
        self._spent_cpu_s += max(0.0, death.cpu_s - live.cpu_before)
        self._peak_mib = max(self._peak_mib, death.peak_mib)
        self._killed = self._killed or (death.cause, death.detail) == ("signal", "SIGKILL")
        return death

    def _next_handle(self) -> wire.Handle:
        self._handles += 1
        return wire.Handle(self._generation, self._handles)

    # --- exchanges ------------------------------------------------------------------------

    def _ask(
        self, request: dict[str, object], *, allowance: int, handles: Sequence[object]
    ) -> Observation:
        stale = [
            each
            for each in handles
            if isinstance(each, wire.Handle)
            and (self._live is None or each.generation != self._live.generation)
        ]
        if stale:
            return Died(cause=self._last_death, detail="stale")
        self.load()
        used = self._live.link.cpu_s() - self._live.cpu_before if self._live else 0.0
        left = self.limits.total_s - self._spent_cpu_s - used
        if left <= 0 or self._wall_left_s() <= 0:
            raise Spent("total")
        self.calls += 1
        return self._exchange(request, limit_s=min(self.limits.call_s, left), allowance=allowance)

    def _exchange(
        self, request: dict[str, object], *, limit_s: float, allowance: int
    ) -> Observation:
        """One request and its answer; a `Died` has already been buried."""
        live = self._live
        if live is None:
            raise GraderError("no worker to ask")
        call_id = secrets.token_hex(8)
        try:
            frame = wire.pack_request({"id": call_id, "limit": allowance, **request})
        except wire.Unsendable as error:
            # Never the student's loss: a suite asked for what cannot be asked.
            raise AssignmentError(f"what the suite sends has no frame: {error}") from error
        # What a worker needs to start is not the student's time.
        counted = request["do"] != "hello"
        most_s = self._wall_left_s() if counted else HELLO_S
        clock = _Clock(live.link, limit_s, most_s)
        try:
            reply = _reply(live.link, frame, clock, allowance)
            live.link.drain()
            return _observation(reply, call_id, self.output.take())
        except wire.Garbled as error:
            return self._died("garbled", str(error))
        except _Closed:
            # The zygote knows whether it died; if it still lives it has closed its channel.
            return self._died("garbled", "closed its channel")
        except _Overtime:
            return self._died("timeout", "")
        finally:
            self._waited_s += clock.waited_s() if counted else 0.0

    def _died(self, cause: DeathCause, detail: str) -> Died:
        death = self._bury(cause)
        self._deaths += 1
        self._last_death = death.cause or cause
        return Died(
            cause=self._last_death,
            detail=detail if self._last_death == "garbled" else death.detail,
            stdout=self.output.take(),
        )


class _Closed(Exception):
    """The worker's end of the channel is closed."""


class _Overtime(Exception):
    """The deadline of an exchange has passed."""


class _Clock:
    """One absolute deadline, in CPU seconds of the worker and in wall seconds."""

    def __init__(self, link: Link, limit_s: float, most_wall_s: float) -> None:
        self.link = link
        self.limit_s = limit_s
        self.cpu_at_start = link.cpu_s()
        self.began = time.monotonic()
        backstop_s = max(WALL_LEAST_S, WALL_FACTOR * limit_s)
        self.wall_deadline = self.began + min(backstop_s, most_wall_s)

    def waited_s(self) -> float:
        """Wall seconds since the exchange began."""
        return time.monotonic() - self.began

    def tick(self) -> float:
        """Seconds to wait at most before looking at the clock again.

        Raises:
            _Overtime: when either time is up.
        """
        left = self.wall_deadline - time.monotonic()
        if left <= 0 or self.link.cpu_s() - self.cpu_at_start > self.limit_s:
            raise _Overtime
        return min(TICK_S, left)


def _reply(link: Link, frame: bytes, clock: _Clock, allowance: int) -> dict[str, object]:
    """The answer's message; whatever is not exactly one frame is garbled."""
    if early := link.receive(1, 0.0):
        raise wire.Garbled("bytes before the call")
    if early == b"":
        raise _Closed
    _send(link, frame, clock)
    prefix = _exactly(link, wire.PREFIX.size, clock)
    header_size, body_size = wire.sizes(prefix, body_limit=allowance)
    header = _exactly(link, header_size, clock)
    body = _exactly(link, body_size, clock)
    if link.receive(1, 0.0):
        raise wire.Garbled("surplus bytes")
    return wire.unpack(header, body)


def _send(link: Link, frame: bytes, clock: _Clock) -> None:
    left = memoryview(frame)
    while left:
        sent = link.send(left, clock.tick())
        if sent is None:
            raise _Closed
        left = left[sent:]


def _exactly(link: Link, count: int, clock: _Clock) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = link.receive(min(count - len(data), 1 << 18), clock.tick())
        if part == b"":
            raise _Closed
        data += part or b""
    return bytes(data)


def _observation(reply: dict[str, object], call_id: str, stdout: str) -> Observation:
    match reply:
        case {"id": str(seen), "kind": "returned", "value": value, "claims": dict(claims)} if (
            seen == call_id
        ):
            plain: dict[str, Json] = {
                str(key): word for key, word in claims.items() if isinstance(word, str | bool)
            }
            return Returned(value=value, claims=plain, stdout=stdout)
        case {"id": str(seen), "kind": "raised"} if seen == call_id:
            return _raised(reply, stdout)
    raise wire.Garbled("an answer to another call")


def _described(source: Source) -> dict[str, object]:
    """The source as a request: raw bytes, how they are parted, and their digest."""
    texts = [piece.text.encode("utf-8", "surrogatepass") for piece in source.pieces]
    data = b"".join(texts)
    whole = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0)
    return {
        "kind": source.kind,
        "converted": source.converted,
        "source": whole.to(torch.uint8),
        "sizes": torch.tensor([len(each) for each in texts], dtype=torch.int64),
        "cells": torch.tensor([piece.cell or 0 for piece in source.pieces], dtype=torch.int64),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _loaded(
    seen: Returned | Raised, piece: Piece, unit: Unit
) -> tuple[list[Trouble], int, set[str]]:
    """What failed in a unit, how much more did, and the worker's notes."""
    if isinstance(seen, Raised):
        return [Trouble(piece=piece, line=unit.line, observation=seen)], 0, set()
    match seen.value:
        case {"failed": list(failed), "more": more, "notes": list(notes)} if (
            len(failed) <= MOST_FAILURES and _is_count(more) and len(notes) <= MOST_FAILURES
        ):
            troubles = [_trouble(each, piece) for each in failed]
            return troubles, more, {each for each in notes if isinstance(each, str)}
    raise wire.Garbled("an answer to another request than a load")


def _trouble(told: object, piece: Piece) -> Trouble:
    match told:
        case {
            "type": str(type_),
            "message": str(message),
            "line": line,
            "lost": list(lost),
            "kept": list(kept),
            "annotation": bool(annotation),
        } if _is_number(line):
            return Trouble(
                piece=piece,
                line=min(line, piece.text.count("\n") + 1),
                observation=Raised(type=type_[:200], message=message[:4000]),
                lost=_names(lost),
                kept=_names(kept),
                annotation=annotation,
            )
    raise wire.Garbled("a failure while loading")


def _names(told: list[object]) -> tuple[str, ...]:
    return tuple(each[:100] for each in told[:MOST_NAMES] if isinstance(each, str))


def _raised(told: object, stdout: str) -> Raised:
    match told:
        case {"type": str(type_), "message": str(message), "trace": list(trace)}:
            frames = tuple(_frame(each) for each in trace[-20:])
            return Raised(type=type_[:200], message=message[:4000], trace=frames, stdout=stdout)
    raise wire.Garbled("an exception")


def _frame(told: object) -> Frame:
    match told:
        case [line, cell, str(function)] if _is_number(line) and (cell is None or _is_number(cell)):
            return Frame(line=line, cell=cell, function=function[:100])
    raise wire.Garbled("a traceback")


def _is_count(told: object) -> TypeGuard[int]:
    return type(told) is int and 0 <= told < 1 << 31


def _is_number(told: object) -> TypeGuard[int]:
    # `True` is an int to Python, and would be refused by the report's schema.
    return type(told) is int and told > 0
