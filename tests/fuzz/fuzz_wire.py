"""Fuzz the frames: what a worker sends to its judge, and what a worker reads.

The first byte of an input says who reads the rest, see `READERS`. Allowed are a message and the
exceptions that the readers document, nothing else; a message that was read can be sent again and
arrives as it was.
"""

import contextlib
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[2]))

import torch

with atheris.instrument_imports(include=["grader"]):
    from grader.model import Piece, Raised, Returned, Unit
    from grader.sandbox import portable_worker, session, wire, worker

from harness import run

CALL_ID = "0123456789abcdef"
ALLOWANCE = 1 << 16
PIECE = Piece(text="x = 1")
# Below what a pipe holds, so that one thread can write all and then read.
MOST_BYTES = 60_000


class Worker:
    """What a worker wrote, in parts of odd sizes; silent until it is asked, closed at the end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.asked = False

    def send(self, data: memoryview, timeout_s: float) -> int:
        self.asked = True
        return len(data)

    def receive(self, limit: int, timeout_s: float) -> bytes | None:
        if not self.asked:
            return None
        part = self.data[: min(limit, 977)]
        self.data = self.data[len(part) :]
        return part if part or timeout_s else None

    def cpu_s(self) -> float:
        return 0.0


class NoClock:
    """Never strikes: what is too slow here, the harness itself finds out."""

    def tick(self) -> float:
        return 0.05


def judged(data: bytes) -> None:
    """The judge reads an answer: bytes → frame → message → observation → what a load told."""
    link = Worker(data)
    try:
        reply = session._reply(link, b"?", NoClock(), ALLOWANCE)
        again(reply)
        seen = session._observation(reply, CALL_ID, "")
        assert isinstance(seen, Returned | Raised)
        session._loaded(seen, PIECE, Unit(piece=0))
    except (wire.Garbled, session._Closed):
        pass


def judged_when_framed(data: bytes) -> None:
    """The same, with a true prefix: header and body are what stands before and after a NUL."""
    header, _, body = data.partition(b"\0")
    judged(wire.PREFIX.pack(len(header), len(body)) + header + body)


def read_by_a_worker(data: bytes) -> None:
    with piped(data) as reader, contextlib.suppress(wire.Garbled):
        worker._read_frame(reader)


def read_by_a_portable_worker(data: bytes) -> None:
    """The line before the frames ends where it ends, and nothing of the frames is swallowed."""
    with piped(data) as reader:
        line = portable_worker._line(reader)
        head, newline, _ = data.partition(b"\n")
        assert line == head + newline
        with contextlib.suppress(wire.Garbled):
            worker._read_frame(reader)


READERS = (judged, judged_when_framed, read_by_a_worker, read_by_a_portable_worker)


def test_one(data: bytes) -> None:
    if data:
        READERS[data[0] % len(READERS)](data[1 : MOST_BYTES + 1])


@contextlib.contextmanager
def piped(data: bytes) -> Iterator[int]:
    reader, writer = os.pipe()
    try:
        os.write(writer, data)
        os.close(writer)
        yield reader
    finally:
        os.close(reader)


def again(message: dict[str, object]) -> None:
    """Send what was read: it arrives unchanged, or it is too large to be sent."""
    if longest(message) > wire.STRING_LIMIT:
        return  # cut on the way
    try:
        frame = wire.pack(message)
    except wire.Unsendable:
        return
    start = wire.PREFIX.size
    header, body = wire.sizes(frame[:start], body_limit=wire.BODY_LIMIT)
    assert start + header + body == len(frame)
    arrived = wire.unpack(frame[start : start + header], frame[start + header :])
    assert same(message, arrived), (message, arrived)


def longest(value: object) -> int:
    match value:
        case str() | wire.Ref(name=str()):
            return len(value if isinstance(value, str) else value.name)
        case list() | tuple():
            return max(map(longest, value), default=0)
        case dict():
            return max(map(longest, [*value, *value.values()]), default=0)
    return 0


def same(one: object, other: object) -> bool:
    if type(one) is not type(other):
        return False
    match one:
        case torch.Tensor():
            assert isinstance(other, torch.Tensor)
            return (one.dtype, one.shape) == (other.dtype, other.shape) and bytes_of(
                one
            ) == bytes_of(other)
        case list() | tuple():
            assert isinstance(other, list | tuple)
            return len(one) == len(other) and all(map(same, one, other))
        case dict():
            assert isinstance(other, dict)
            return same([*one.items()], [*other.items()])
        case float() if math.isnan(one):
            assert isinstance(other, float)
            return math.isnan(other)
    return repr(one) == repr(other)


def bytes_of(tensor: torch.Tensor) -> bytes:
    return wire._bytes_of(tensor)


def split(data: bytes) -> tuple[bytes, bytes, bytes]:
    """The header of a framed answer; of other inputs nothing, their prefix would be wrong."""
    header, nul, body = data[1:].partition(b"\0")
    return (data[:1], header, nul + body) if data[:1] == b"\1" else (data, b"", b"")


def seeds() -> Iterator[bytes]:
    """Frames as they are sent, for each reader."""
    for message in messages():
        frame = wire.pack(message)
        start = wire.PREFIX.size
        header, body = wire.sizes(frame[:start], body_limit=wire.BODY_LIMIT)
        yield b"\0" + frame
        yield b"\1" + frame[start : start + header] + b"\0" + frame[start + header :][:body]
        yield b"\2" + frame
        yield b'\3{"total_s": 20, "scratch_mib": 64}\n' + frame


def messages() -> Iterator[dict[str, object]]:
    claims = {"type": "Tensor", "kind": "tensor", "requires_grad": False}
    values: list[object] = [
        None,
        [1, -(2**63), 2.5, math.nan, -math.inf, True, "wörter\ud800", 1 + 2j],
        (torch.arange(6).reshape(2, 3), torch.zeros(0, 4), torch.tensor(3.0)),
        {"a": (1, [2, {"b": None}]), 3: 0.5, None: "x", True: -0.0},
        wire.Foreign("submission.Own"),
        wire.Oversized("float32", (4096, 4096)),
        [wire.Handle(1, 2), wire.Ref("apply_rope")],
        *(torch.ones(2, 2).to(dtype) for dtype in wire.DTYPES.values()),
    ]
    for value in values:
        yield {"id": CALL_ID, "kind": "returned", "value": value, "claims": claims}
    told = {"type": "ValueError", "message": "no", "trace": [[3, None, "f"], [1, 2, "<module>"]]}
    yield {"id": CALL_ID, "kind": "raised", **told}
    failed = {
        "type": "NameError",
        "message": "name 'plt' is not defined",
        "line": 3,
        "lost": ["fig"],
        "kept": [],
        "annotation": False,
    }
    loaded: dict[str, object] = {"failed": [failed], "more": 2, "notes": ["compile"]}
    yield {"id": CALL_ID, "kind": "returned", "value": loaded, "claims": {}}
    source = torch.frombuffer(bytearray(b"x = 1"), dtype=torch.uint8)
    hello = {"do": "hello", "kind": "module", "converted": False, "source": source}
    yield {"id": CALL_ID, "limit": ALLOWANCE, **hello, "sizes": torch.tensor([5])}
    yield {"id": CALL_ID, "limit": ALLOWANCE, "do": "load", "piece": 0, "first": 0, "stop": None}
    call = {"do": "call", "target": wire.Ref("f"), "args": (torch.ones(3), 1), "kwargs": {"b": 2.0}}
    yield {"id": CALL_ID, "limit": ALLOWANCE, **call}


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(test_one, seeds(), most_bytes=MOST_BYTES, split=split)
