"""`diagnosis.json`: the numbers by which misconceptions are recognised, and rules as formulas."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from grader.errors import AssignmentError
from grader.explaining import rows, rules
from grader.explaining.rules import Rule
from grader.model import Json, Text

ATOL, RTOL = 3e-4, 2e-4
# Half precision carries three digits; what is off by more is another answer.
COARSE = 3e-2
HALF = ("float16", "bfloat16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What a call on a probe gave: a tensor as float64 and its dtype, or the exception.

    `raised` is `Type: message` with digits masked; both None when there was no answer at all.
    `kind` is what came instead of numbers: "none", or "several" for a tuple or list.
    `exact` numbers are compared to the last bit.
    """

    tensor: torch.Tensor | None = None
    dtype: str = ""
    raised: str | None = None
    kind: str = ""
    exact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A misconception and its numbers on the probes."""

    id: str
    title: Text
    hint: Text
    numbers: Mapping[str, Numbers]


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """`diagnosis.json`: the probes of each function, the right numbers, the known wrong ones."""

    probes: Mapping[str, tuple[str, ...]]
    right: Mapping[str, Numbers]
    known: tuple[Known, ...]
    rules: tuple[Rule, ...] = ()


def same(one: Numbers | None, other: Numbers, *, dtype: bool = False) -> bool:
    if one is None or (one.tensor is None and one.raised is None):
        return False
    if one.raised is not None or other.raised is not None:
        return one.raised == other.raised
    if one.tensor is None or other.tensor is None or one.tensor.shape != other.tensor.shape:
        return False
    if dtype and one.dtype != other.dtype:
        return False
    # The last bit of half precision is a matter of taste: which step rounds is free.
    atol, rtol = (COARSE, COARSE) if other.dtype in HALF else (ATOL, RTOL)
    if other.exact:
        atol, rtol = 0.0, 0.0
    return bool(torch.allclose(one.tensor, other.tensor, atol=atol, rtol=rtol, equal_nan=True))


def load(path: Path) -> Knowledge | None:
    """The knowledge in a `diagnosis.json`; None when there is no such file.

    Raises:
        AssignmentError: when the file is not what `signatures` writes.
    """
    if not path.is_file():
        return None
    try:
        raw: dict[str, Any] = json.loads(path.read_text("utf-8"))
        right = _all_numbers(raw["right"])
        return Knowledge(
            probes={name: tuple(ids) for name, ids in raw["probes"].items()},
            right=right,
            known=tuple(
                Known(
                    id=each["id"],
                    title=_text(each["id"], "title", each["title"]),
                    hint=_text(each["id"], "hint", each["hint"]),
                    # Only what differs from the right numbers is written down.
                    numbers=right | _all_numbers(each["numbers"]),
                )
                for each in raw["misconceptions"]
            ),
            rules=rules.unpack(raw["rules"]) if raw.get("rules") else (),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise AssignmentError(f"{path.parent.name}/{path.name}: {error!r}") from error


def numbers_json(numbers: Numbers) -> dict[str, Json]:
    """Numbers as JSON; five digits are well below the tolerance of a comparison."""
    if numbers.raised is not None:
        return {"raised": numbers.raised}
    if numbers.tensor is None:
        return {"kind": numbers.kind} if numbers.kind else {}
    digits = 17 if numbers.exact else 5
    values: list[Json] = [_value(each, digits) for each in numbers.tensor.reshape(-1).tolist()]
    told: dict[str, Json] = {"dtype": numbers.dtype, "shape": [*numbers.tensor.shape]}
    return told | ({"exact": True} if numbers.exact else {}) | {"values": values}


def numbers_from(raw: Mapping[str, Any]) -> Numbers:
    if "raised" in raw:
        return Numbers(raised=str(raw["raised"]))
    if "values" not in raw:
        return Numbers(kind=str(raw.get("kind", "")))
    values = torch.tensor(rows.plain(raw["values"]), dtype=torch.float64)
    return Numbers(
        tensor=values.reshape(raw["shape"]),
        dtype=str(raw["dtype"]),
        exact=bool(raw.get("exact", False)),
    )


def _value(value: float, digits: int) -> Json:
    return float(f"{value:.{digits}g}") if math.isfinite(value) else str(value)


def _all_numbers(raw: Mapping[str, Mapping[str, Any]]) -> dict[str, Numbers]:
    return {id: numbers_from(each) for id, each in raw.items()}


def _text(id: str, part: str, raw: Mapping[str, str]) -> Text:
    return Text(code=f"misconception.{id}.{part}", en=raw["en"], zh=raw["zh"])
