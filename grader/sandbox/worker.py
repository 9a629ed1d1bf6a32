"""The worker: runs one submission and answers calls about it. Everything here is UNTRUSTED.

Student code shares this process, so nothing in it is believed by anyone: it holds no expected
value, no seed, no rubric, and what it sends is checked as numbers by the judge. Imports only
`wire` of the package, so that there is nothing here to find.
"""

import __future__

import ast
import builtins
import contextlib
import importlib.util
import linecache
import os
import random
import sys
import types
from collections.abc import Callable, Iterator

import numpy
import torch

from grader.sandbox import wire

# Constants: a submission must behave alike on every machine and in every run.
SEED = 20170612
# Looked up while this module is imported, once for all workers that are forked afterwards.
_GOOGLE_IS_INSTALLED = importlib.util.find_spec("google") is not None


def serve(reader: int, writer: int) -> None:
    """Answer requests from descriptor `reader` on `writer` until it closes."""
    _reseed()
    _stand_ins()
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
    header_size, body_size = wire.sizes(prefix, body_limit=wire.BODY_LIMIT)
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
        self.module = types.ModuleType("submission")
        self.flags = 0
        self.kept: dict[int, object] = {}
        # dataclasses, pickle and typing look the module of a class up by its name.
        sys.modules["submission"] = self.module

    def answer(self, request: dict[str, object]) -> bytes:
        """The reply's frame; an exception of any kind is part of the answer."""
        limit = request["limit"]
        assert isinstance(limit, int)
        reply: dict[str, object]
        try:
            reply = self._perform(request)
        except BaseException as error:  # noqa: BLE001 - SystemExit and friends are answers, too
            reply = {"kind": "raised", **_raised(error)}
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
                return {"kind": "returned", "value": None, "claims": {}}
            case {"do": "load", "text": str(text), "line": int(line), "cell": cell}:
                value = self._load(text, line, f"<cell {cell}>" if cell else "<submission>")
                return {"kind": "returned", "value": value, "claims": {}}
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
        if name not in vars(self.module):
            raise NameError(f"name {name!r} is not defined")
        return vars(self.module)[name]

    def _load(self, text: str, line: int, filename: str) -> dict[str, object]:
        """Execute one unit, statement by statement; what ended it, and failed asserts, are told."""
        _remember_source(filename, text, line)
        failed_asserts = []
        for code in self._statements("\n" * (line - 1) + text, filename):
            try:
                exec(code, vars(self.module))  # noqa: S102 - the purpose of this process
            except AssertionError as error:
                # A student's own check costs nothing: what follows it is still defined.
                failed_asserts.append(_raised(error))
            except BaseException as error:  # noqa: BLE001
                return {"raised": _raised(error), "asserts": failed_asserts[:5]}
        return {"raised": None, "asserts": failed_asserts[:5]}

    def _statements(self, text: str, filename: str) -> Iterator[types.CodeType]:
        tree = ast.parse(text, filename)
        for statement in tree.body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                for name in statement.names:
                    self.flags |= getattr(__future__, name.name).compiler_flag
            module = ast.Module(body=[statement], type_ignores=[])
            yield compile(module, filename, "exec", flags=self.flags, dont_inherit=True)


def _remember_source(filename: str, text: str, line: int) -> None:
    """Let `inspect.getsource` (torch.jit, tracebacks) find lines that are in no file."""
    known = linecache.cache.get(filename)
    lines = list(known[2]) if known is not None and len(known) == 4 else []
    lines += ["\n"] * (line - 1 - len(lines))
    lines[line - 1 :] = [each + "\n" for each in text.split("\n")]
    linecache.cache[filename] = (sum(map(len, lines)), None, lines, filename)


def _about(value: object) -> dict[str, object]:
    if isinstance(value, torch.nn.Parameter):
        return {"kind": "parameter", "requires_grad": bool(value.requires_grad)}
    if isinstance(value, torch.Tensor):
        return {"kind": "tensor", "requires_grad": bool(value.requires_grad)}
    if isinstance(value, numpy.ndarray | numpy.generic):
        return {"kind": "numpy"}
    return {"kind": "object"}


def _raised(error: BaseException) -> dict[str, object]:
    try:
        message = str(error)
    except BaseException as second:  # noqa: BLE001 - __str__ is student code
        message = f"(no message: {type(second).__name__})"
    return {"type": wire.type_name(error), "message": message[:4000], "trace": _trace(error)}


def _trace(error: BaseException) -> list[object]:
    frames: list[object] = []
    step = error.__traceback__
    while step is not None:
        filename = step.tb_frame.f_code.co_filename
        if filename == "<submission>" or filename.startswith("<cell "):
            cell = int(filename[6:-1]) if filename.startswith("<cell ") else None
            frames.append([step.tb_lineno, cell, step.tb_frame.f_code.co_name])
        step = step.tb_next
    return frames[-20:]


def _stand_ins() -> None:
    """What notebooks expect around them, without effect; `input` says why it cannot answer."""
    builtins.input = _no_input
    shell = _Shell()
    google = () if _GOOGLE_IS_INSTALLED else ("google",)
    for name in (*google, "IPython", "IPython.display", "google.colab", "google.colab.drive"):
        module = types.ModuleType(name)
        module.__getattr__ = _anything  # type: ignore[method-assign]
        module.__path__ = []
        sys.modules[name] = module
    vars(sys.modules["IPython"]).update(display=sys.modules["IPython.display"], get_ipython=_Shell)
    vars(sys.modules["IPython.display"]).update(display=print)
    vars(sys.modules["google.colab"]).update(drive=sys.modules["google.colab.drive"])
    vars(builtins).update(get_ipython=lambda: shell, display=print)


def _no_input(_prompt: object = "", /) -> str:
    raise EOFError(wire.NO_INPUT)


def _anything(name: str) -> Callable[..., None]:
    if name.startswith("__"):
        raise AttributeError(name)
    return lambda *_args, **_kwargs: None


class _Shell:
    """Stands in for IPython's shell: every method exists and does nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return _anything(name)
