"""What a script or a notebook expects around it, without effect on anything. UNTRUSTED.

Absent libraries are absent and installed ones are the real ones; only what could do harm, or wait
for somebody, is quiet: `input` says why it cannot answer, and `torch.compile` gives back what it
was given. A notebook finds its shell and its `display`.
"""

import builtins
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from grader.sandbox import wire

if TYPE_CHECKING:
    from grader.sandbox.loader import Loader

# Cell magics whose body runs as Python in the notebook's own names.
BODY_RUNS = frozenset({"capture", "debug", "memit", "prun", "python", "time", "timeit"})
# Looked up while this module is imported, once for all workers that are forked afterwards.
_IPYTHON_IS_INSTALLED = importlib.util.find_spec("IPython") is not None


def prepare(loader: "Loader", *, is_notebook: bool) -> None:
    """Set the scene in this process, once, before anything of the source runs."""
    builtins.input = _no_input
    _run_eagerly(loader.notes)
    if is_notebook:
        shell = _ShellOnDemand(loader)
        vars(builtins).update(get_ipython=shell.get, display=_display)
        _after_import("IPython.core.getipython", shell.take_the_place_of)
    if loader.is_notebook:
        loader.names.update(In=[""], Out={}, _="", __="", ___="")


def remember(names: dict[str, object], value: object) -> None:
    """Keep the value of a cell's last expression where notebooks keep it."""
    out = names.get("Out")
    if value is None or value is out or type(out) is not dict:
        return
    number = len(out) + 1
    out[number] = value
    names[f"_{number}"] = value
    # As in a notebook, a `_` of the student's own is left alone.
    if names.get("_", "") in ("", *_last(out, number)):
        names["___"], names["__"], names["_"] = names.get("__", ""), names.get("_", ""), value


class _Same:
    """Equal to one object only, whatever that object's `==` says."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return self.value is other

    __hash__ = None  # type: ignore[assignment]


def _last(out: dict[int, object], number: int) -> list[_Same]:
    return [_Same(out[number - 1])] if number - 1 in out else []


def _no_input(_prompt: object = "", /) -> str:
    raise EOFError(wire.NO_INPUT)


def _display(*values: object, display_id: object = None, **_settings: object) -> object:
    """Prints what would be shown; with an id, a handle whose methods do nothing."""
    for value in values:
        print(value)  # noqa: T201 - this is what it does
    return None if display_id is None else _Nothing()


# --- torch ---------------------------------------------------------------------------------


def _run_eagerly(notes: list[str]) -> None:
    """`torch.compile` needs a C++ compiler and minutes; what it returns computes the same."""

    def compile(model: object = None, **_settings: object) -> object:
        notes.append("compile")
        return (lambda function: function) if model is None else model

    def compile_module(_module: object, *_args: object, **_settings: object) -> None:
        notes.append("compile")

    torch.compile = compile  # type: ignore[assignment]
    torch.nn.Module.compile = compile_module  # type: ignore[assignment]


# --- IPython, which is changed a little when it is imported -----------------------------------


def _after_import(name: str, action: Callable[[Any], None]) -> None:
    # The zygote may have imported what the course uses.
    if (module := sys.modules.get(name)) is not None:
        action(module)
    else:
        sys.meta_path.insert(0, _Watcher(name, action))


class _Watcher(importlib.abc.MetaPathFinder):
    """Lets an action see a module right after its import; all other imports pass it by."""

    def __init__(self, name: str, action: Callable[[Any], None]) -> None:
        self.name = name
        self.action = action

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002 - as finders are asked
        target: types.ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            _act_afterwards(spec.loader, self.action)
        return spec


def _act_afterwards(loader: Any, action: Callable[[Any], None]) -> None:
    execute = loader.exec_module

    def exec_module(module: types.ModuleType) -> None:
        execute(module)
        with contextlib.suppress(Exception):
            action(module)

    loader.exec_module = exec_module


# --- the notebook's shell ----------------------------------------------------------------------


class _ShellOnDemand:
    """What `get_ipython` gives: IPython's own shell where it is installed, else a quiet one."""

    def __init__(self, loader: "Loader") -> None:
        self.loader = loader
        self.shell: object = None

    def take_the_place_of(self, module: Any) -> None:
        """Let IPython's own `get_ipython` give this shell."""
        module.get_ipython = self.get

    def get(self) -> object:
        """The shell; made when it is first asked for."""
        if self.shell is None:
            # Set first: what makes the real one asks for it, too.
            self.shell = quiet = Shell(self.loader)
            if _IPYTHON_IS_INSTALLED:
                with contextlib.suppress(Exception):
                    self.shell = _real_shell(self.loader, quiet)
        return self.shell


def _real_shell(loader: "Loader", quiet: "Shell") -> object:
    shells: Any = importlib.import_module("IPython.core.interactiveshell")
    configs: Any = importlib.import_module("traitlets.config")
    hooks = sys.excepthook, sys.displayhook
    config = configs.Config()
    # No database of what was typed, which is also a thread.
    config.HistoryManager.enabled = False
    shell = shells.InteractiveShell.instance(
        user_module=loader.module, user_ns=loader.names, config=config
    )
    sys.excepthook, sys.displayhook = hooks
    for name in ("run_cell_magic", "run_line_magic", "system", "getoutput"):
        # An instance of IPython's own class; only what would start programs is quiet.
        object.__setattr__(shell, name, getattr(quiet, name))
    return shell


class Shell:
    """A notebook's shell: magics that are Python run, everything else does nothing."""

    def __init__(self, loader: "Loader") -> None:
        self._loader = loader

    def run_cell_magic(self, magic: str, _line: str, cell: str) -> None:
        if magic in BODY_RUNS:
            self._loader.run(cell)
        elif magic in ("writefile", "file"):
            with open(_line.split()[-1], "w", encoding="utf-8") as file:  # noqa: PTH123
                file.write(cell)

    def run_line_magic(self, magic: str, line: str, *_args: object) -> None:
        if magic in ("time", "timeit") and line.strip():
            self._loader.run(line)
        elif magic == "run" and line.split() and line.split()[0].endswith(".py"):
            with open(line.split()[0], encoding="utf-8") as file:  # noqa: PTH123
                self._loader.run(file.read())

    def magic(self, text: str) -> None:
        name, _, rest = text.lstrip("%").partition(" ")
        self.run_line_magic(name, rest)

    def run_cell(self, text: str, *_args: object, **_settings: object) -> None:
        self._loader.run(text)

    def getoutput(self, *_args: object, **_settings: object) -> list[str]:
        return []

    def system(self, *_args: object, **_settings: object) -> int:
        return 0

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing()


class _Nothing:
    """An object whose parts and methods exist and do nothing."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing()

    def __call__(self, *_args: object, **_settings: object) -> None:
        return None

    def __contains__(self, _item: object) -> bool:
        return False

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __getitem__(self, _key: object) -> object:
        return _Nothing()

    def __setitem__(self, _key: object, _value: object) -> None:
        return None
