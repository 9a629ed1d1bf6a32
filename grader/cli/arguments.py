"""What was typed after `grade check`, understood or refused."""

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

from grader.cli.root import usage

SUFFIXES: Final = (".py", ".ipynb")


def paths(files: Sequence[str]) -> tuple[Path, ...]:
    """The files to grade, each named once; whether they can be read is seen when they are."""
    found: dict[Path, Path] = {}
    for file in files:
        path = Path(file)
        if path.resolve() in found:
            raise usage("twice", file=file)
        found[path.resolve()] = path
    return tuple(found.values())


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
