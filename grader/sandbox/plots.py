"""matplotlib draws to nowhere, whatever the file asks for.

The environment names a backend without a window, but `matplotlib.use("TkAgg")`, `switch_backend`
and `rcParams["backend"]` overrule it and end with an error where there is no screen. All of them
come down to `pyplot.switch_backend`, which is therefore replaced as soon as pyplot is imported.
Imports nothing of the package and nothing of matplotlib, which may be absent.
"""

import importlib.abc
import importlib.machinery
import logging
import sys
import types
import warnings
from collections.abc import Sequence

PYPLOT = "matplotlib.pyplot"
NOWHERE = "agg"


def draw_to_nowhere() -> None:
    """Let every backend be the one without a window, from now on or from pyplot's import on."""
    loaded = sys.modules.get(PYPLOT)
    if loaded is not None:
        _patch(loaded)
    elif not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _patch(pyplot: types.ModuleType) -> None:
    original = pyplot.switch_backend

    def switch_backend(newbackend: str) -> None:  # noqa: ARG001 - matplotlib's own signature
        original(NOWHERE)

    switch_backend.__doc__ = original.__doc__
    vars(pyplot)["switch_backend"] = switch_backend
    # Nobody looks at these plots.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    for message in ("Glyph .* missing from", ".* is non-interactive, and thus cannot be shown"):
        warnings.filterwarnings("ignore", message)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds pyplot where it is, to be told when it has been loaded."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != PYPLOT:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module: types.ModuleType) -> None:
        super().exec_module(module)
        _patch(module)
