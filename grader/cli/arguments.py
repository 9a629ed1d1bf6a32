"""What was typed after `grade check`, understood or refused."""

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

from grader.cli.root import usage

SUFFIXES: Final = (".py", ".ipynb")
_LISTED: Final = 6


def paths(files: Sequence[str]) -> tuple[Path, ...]:
    """The files to grade, each one existing, of a kind that can be graded, and named once."""
    found: dict[Path, Path] = {}
    for file in files:
        path = Path(file)
        _refuse_absent(path)
        if path.is_dir():
            raise usage("is_folder", file=file)
        if path.suffix.lower() not in SUFFIXES:
            raise usage("suffix", file=file)
        if path.resolve() in found:
            raise usage("twice", file=file)
        found[path.resolve()] = path
    return tuple(found.values())


def _refuse_absent(path: Path) -> None:
    if path.exists():
        return
    if not path.parent.is_dir():
        raise usage("no_such_folder", file=str(path), folder=str(path.parent))
    beside = sorted(
        each.name
        for each in path.parent.iterdir()
        if each.suffix.lower() in SUFFIXES and not each.name.startswith(".")
    )
    if not beside:
        raise usage("no_such_file_bare", file=str(path))
    more = ["..."] if len(beside) > _LISTED else []
    raise usage("no_such_file", file=str(path), found=[*beside[:_LISTED], *more])


def percent(typed: str | None) -> Fraction | None:
    """The percentage, exactly as typed; None where none was asked for."""
    if typed is None:
        return None
    try:
        value = Fraction(typed.strip().removesuffix("%"))
    except (ValueError, ZeroDivisionError) as error:
        raise usage("percent", value=typed) from error
    if not 0 <= value <= 100:
        raise usage("percent", value=typed)
    return value


def seed(typed: str) -> int:
    """A whole number, 0 or more."""
    if not (typed.isascii() and typed.isdecimal()):
        raise usage("seed", value=typed)
    return int(typed)


def factor(typed: str) -> float:
    """A finite number above 0."""
    try:
        value = float(typed)
    except ValueError as error:
        raise usage("factor", value=typed) from error
    if not (math.isfinite(value) and value > 0):
        raise usage("factor", value=typed)
    return value
