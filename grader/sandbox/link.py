"""What a session needs of a worker process, however that was started."""

import codecs
from dataclasses import dataclass
from typing import Protocol

from grader.model import DeathCause, Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """How a worker ended, in the words of its parent process.

    `cause` is None when it was ended because nothing more was asked of it.
    """

    cause: DeathCause | None
    detail: str = ""
    cpu_s: float = 0.0
    peak_mib: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a worker wrote to stdout and stderr: the head, the tail, and what fell between."""

    head: str = ""
    tail: str = ""
    dropped_bytes: int = 0


class Link(Protocol):
    """A live worker. Its bytes are untrusted, its death is told by its parent."""

    def send(self, data: memoryview, timeout_s: float) -> int | None:
        """How many bytes are on their way; 0 when none went in time, None when it is closed."""
        ...

    def receive(self, limit: int, timeout_s: float) -> bytes | None:
        """Up to `limit` bytes; b"" when the worker closed its end; None when none came in time."""
        ...

    def cpu_s(self) -> float:
        """CPU seconds that the worker has used so far, measured from outside."""
        ...

    def drain(self) -> None:
        """Move what has come on stdout and stderr into the session's `Output`."""
        ...

    def end(self, cause: DeathCause | None) -> Death:
        """Make sure that the worker is dead, and say how it died.

        A death of its own comes first: `cause` only names why it is killed if it still lives.
        """
        ...


class Bench(Protocol):
    """Where workers come from; one at a time."""

    level: str
    layers: tuple[str, ...]

    def start(self, limits: Limits, output: "Output") -> Link:
        """A fresh worker, nothing of the submission in it."""
        ...

    def close(self) -> None:
        """End every process and remove every folder of this bench."""
        ...


class Output:
    """Collects what a worker prints: its first and last `half` bytes, and how many fell out."""

    def __init__(self, limit_kib: int) -> None:
        self.half = limit_kib * 512
        self.head = bytearray()
        self.tail = bytearray()
        self.dropped = 0
        self.fresh = bytearray()

    def add(self, data: bytes) -> None:
        room = self.half - len(self.head)
        self.head += data[:room]
        self.tail += data[room:] if room < len(data) else b""
        excess = len(self.tail) - self.half
        if excess > 0:
            del self.tail[:excess]
            self.dropped += excess
        self.fresh += data[: max(0, self.half - len(self.fresh))]

    def settled(self) -> int:
        """How many characters of the head no later byte can change.

        A character whose bytes have come in part is none of them: the rest may say anything.
        """
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        return len(decoder.decode(bytes(self.head)))

    def take(self) -> str:
        """What came since the last call (its head, when that was too much)."""
        text = self.fresh.decode("utf-8", "replace")
        self.fresh.clear()
        return text

    def printed(self) -> Printed:
        return Printed(
            head=self.head.decode("utf-8", "replace"),
            tail=self.tail.decode("utf-8", "replace"),
            dropped_bytes=self.dropped,
        )
