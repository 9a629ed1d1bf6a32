"""The worker: runs one submission and answers calls about it. Everything here is UNTRUSTED.

Student code shares this process, so nothing in it is believed by anyone: it holds no expected
value, no seed, no rubric, and what it sends is checked as numbers by the judge. Of the package it
imports only `wire`, and its own `loader` and `surroundings`, so that there is nothing here to find.
"""

import contextlib
import os
import random
import sys

import numpy
import torch

from grader.sandbox import wire
from grader.sandbox.loader import Loader

# Constants: a submission must behave alike on every machine and in every run.
SEED = 20170612


def serve(reader: int, writer: int) -> None:
    """Answer requests from descriptor `reader` on `writer` until it closes."""
    _reseed()
    _open_output()
    submission = _Submission()
    while (request := _read_frame(reader)) is not None:
        reply = submission.answer(request)
        _flush()
        _write_all(writer, reply)


def _read_frame(reader: int) -> dict[str, object] | None:
    prefix = _read_exactly(reader, wire.PREFIX.size)
    if prefix is None:
        return None
    header_size, body_size = wire.sizes(
        prefix, body_limit=wire.BODY_LIMIT, header_limit=wire.REQUEST_HEADER_LIMIT
    )
    header, body = _read_exactly(reader, header_size), _read_exactly(reader, body_size)
    return None if header is None or body is None else wire.unpack(header, body)


def _read_exactly(reader: int, count: int) -> bytes | None:
    parts = []
    while count:
        part = os.read(reader, min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _write_all(writer: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(writer, view) :]


def _reseed() -> None:
    random.seed(SEED)
    numpy.random.seed(SEED)
    # Not `torch.manual_seed`: it also queues the seed for devices that no worker has, each with a
    # formatted stack, which took as long as everything else up to the first call together.
    torch.default_generator.manual_seed(SEED)


def _open_output() -> None:
    """Fresh streams over descriptors 1 and 2, which have just become the output pipe."""
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        # Line by line, so that what was printed before a death is not lost with the buffer.
        stream = open(  # noqa: SIM115 - lives as long as the process
            descriptor, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


class _Submission:
    """The module that the student's source becomes, and the objects that the judge keeps in it."""

    def __init__(self) -> None:
        self.loader = Loader()
        self.kept: dict[int, object] = {}

    def answer(self, request: dict[str, object]) -> bytes:
        """The reply's frame; an exception of any kind is part of the answer."""
        limit = request["limit"]
        assert isinstance(limit, int)
        reply: dict[str, object]
        try:
            reply = self._perform(request)
        except BaseException as error:  # noqa: BLE001 - SystemExit and friends are answers, too
            reply = {"kind": "raised", **self.loader.raised(error)}
        try:
            return wire.pack({"id": request["id"], **reply}, body_limit=limit)
        except Exception:  # noqa: BLE001 - too large, too deep, or its own methods raise
            foreign = wire.Foreign(wire.type_name(reply.get("value")))
            return wire.pack(
                {"id": request["id"], "kind": "returned", "value": foreign, "claims": {}}
            )

    def _perform(self, request: dict[str, object]) -> dict[str, object]:
        match request:
            case {"do": "hello"}:
                self.loader.receive(request)
                return {"kind": "returned", "value": None, "claims": {}}
            case {"do": "load", "piece": int(piece), "first": int(first), "stop": stop}:
                told = self.loader.load(piece, first, stop if isinstance(stop, int) else None)
                return {"kind": "returned", "value": told, "claims": {}}
            case {"do": "keep", "handle": wire.Handle() as handle, "value": value}:
                self.kept[handle.id] = value
                return {"kind": "returned", "value": None, "claims": {}}
            case {"do": "call", "target": target, "args": tuple(args), "kwargs": dict(kwargs)}:
                return self._call(request, target, args, kwargs)
        raise ValueError("no such request")

    def _call(
        self, request: dict[str, object], target: object, args: tuple[object, ...], kwargs: object
    ) -> dict[str, object]:
        function = self._resolve(target)
        attribute = request.get("method")
        if isinstance(attribute, str):
            function = getattr(function, attribute)
        if not callable(function):
            raise TypeError(f"{type(function).__name__!r} object is not callable")
        assert isinstance(kwargs, dict)
        given = [self._resolve(each) for each in args]
        named = {str(key): self._resolve(each) for key, each in kwargs.items()}
        value = function(*given, **named)
        claims = {"type": wire.type_name(value), **_about(value)}
        if isinstance(keep := request.get("keep"), wire.Handle):
            self.kept[keep.id] = value
            value = None
        return {"kind": "returned", "value": value, "claims": claims}

    def _resolve(self, value: object) -> object:
        match value:
            case wire.Handle():
                return self.kept[value.id]
            case wire.Ref():
                return self._named(value.name)
        return value

    def _named(self, name: str) -> object:
        if name not in self.loader.names:
            raise NameError(f"name {name!r} is not defined")
        return self.loader.names[name]


def _about(value: object) -> dict[str, object]:
    if isinstance(value, torch.nn.Parameter):
        return {"kind": "parameter", "requires_grad": bool(value.requires_grad)}
    if isinstance(value, torch.Tensor):
        return {"kind": "tensor", "requires_grad": bool(value.requires_grad)}
    if isinstance(value, numpy.ndarray | numpy.generic):
        return {"kind": "numpy"}
    return {"kind": "object"}
