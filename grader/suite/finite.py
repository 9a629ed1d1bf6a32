"""What a suite tells, as finite JSON: a submission's infinities and NaNs end up in its sentences.

JSON knows neither, a report with one of them could not be written, and the submission would have
no grade. So every argument of a sentence passes through here, and a number without a JSON form
arrives as its name: "inf", "nan", "1.235e+400".
"""

import math
import string
from collections.abc import Mapping
from decimal import Decimal

import torch

from grader.claims import clean
from grader.model import Json

# Beyond these, readers of JSON disagree about what an integer is.
_EXACT = 2**53
_DIGITS = 4
_LONGEST = 2000


def finite(value: object) -> Json:
    """The value as JSON that every reader takes; what is no JSON becomes text."""
    match value:
        case None | bool():
            return value
        case int():
            return value if abs(value) <= _EXACT else f"{Decimal(value):.{_DIGITS}g}"
        case float():
            return float(value) if math.isfinite(value) else str(float(value))
        case complex():
            return f"{value.real:.{_DIGITS}g}{value.imag:+.{_DIGITS}g}j"
        case str():
            return clean(value, _LONGEST)
        case list() | tuple():
            return [finite(each) for each in value]
        case Mapping():
            return {clean(str(key), _LONGEST): finite(each) for key, each in value.items()}
        case torch.Tensor():
            return finite(value.tolist())
    return clean(repr(value), _LONGEST)


def render(template: str, args: Mapping[str, Json]) -> str:
    """`template.format(**args)`, where a name in a number's place is written as it is.

    Raises:
        ValueError, KeyError, IndexError: as `str.format` does.
    """
    return _Formatter().vformat(template, (), args)


class _Formatter(string.Formatter):
    """`{seen:.4g}` for "inf", too."""

    def format_field(self, value: object, format_spec: str) -> str:
        if isinstance(value, str) and format_spec[-1:] in tuple("bcdeEfFgGnoxX%"):
            return value
        return str(super().format_field(value, format_spec))
