"""Which mistake it was: a submission's numbers against those of every known misconception.

Pure functions over numbers. A diagnosis is made only when a submission's results on *all* probes of
a function are those of one misconception (or of one near miss: the right numbers reordered, scaled,
shifted by a row, …) and are not the right ones. There is no score of likeness and no threshold to
tune: no match, no claim.

The tolerance separates float32 rounding from other answers. At the probes' positions (up to a few
hundred) right float32 code is off by at most 1e-4 (DOMAIN: 5e-7 times the largest position), two
misconceptions differ by 1e-2 and more; the builder of `diagnosis.json` refuses one that does not
differ from the right answer by more than the tolerance.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from grader.errors import AssignmentError
from grader.model import Diagnosis, Json, Text
from grader.texts import catalog

ATOL, RTOL = 3e-4, 2e-4
# Half precision carries three digits; what is off by more is another answer.
COARSE = 3e-2
HALF = ("float16", "bfloat16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What a call on a probe gave: a tensor as float64 and its dtype, or the exception.

    `raised` is `Type: message` with digits masked; both None when there was no answer at all.
    `exact` numbers are compared to the last bit.
    """

    tensor: torch.Tensor | None = None
    dtype: str = ""
    raised: str | None = None
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


def diagnose(seen: Mapping[str, Numbers], knowledge: Knowledge) -> tuple[Diagnosis, ...]:
    """At most one diagnosis for each function: the known misconception, else the near miss.

    Args:
        seen: the submission's numbers, by probe.
    """
    found: list[Diagnosis] = []
    for function, probes in knowledge.probes.items():
        if all(_same(seen.get(each), knowledge.right[each], dtype=True) for each in probes):
            continue
        match = _known(seen, probes, knowledge) or _near_miss(function, seen, probes, knowledge)
        if match is not None and match.id not in {each.id for each in found}:
            found.append(match)
    return tuple(found)


# --- known misconceptions ------------------------------------------------------------------


def _known(
    seen: Mapping[str, Numbers], probes: Sequence[str], knowledge: Knowledge
) -> Diagnosis | None:
    matches: list[Known] = []
    for each in knowledge.known:
        # A dtype is a matter of its own: whoever returns float64 may still have mixed something
        # up, so it decides only where the numbers are right.
        by_numbers = not all(_same(each.numbers[p], knowledge.right[p]) for p in probes)
        by_dtype = not all(_same(each.numbers[p], knowledge.right[p], dtype=True) for p in probes)
        if not by_dtype:
            continue
        if all(_same(seen.get(p), each.numbers[p], dtype=not by_numbers) for p in probes):
            matches.append(each)
    if not matches:
        return None
    # Two misconceptions may agree on this function; the one that agrees on the others, too, is it.
    best = max(matches, key=lambda each: _agreeing(seen, each))
    return Diagnosis(id=best.id, title=best.title, hint=best.hint)


def _agreeing(seen: Mapping[str, Numbers], known: Known) -> int:
    return sum(_same(seen.get(probe), each) for probe, each in known.numbers.items())


def _same(one: Numbers | None, other: Numbers, *, dtype: bool = False) -> bool:
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


# --- near misses ---------------------------------------------------------------------------


def _near_miss(
    function: str, seen: Mapping[str, Numbers], probes: Sequence[str], knowledge: Knowledge
) -> Diagnosis | None:
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = []
    for probe in probes:
        one = seen.get(probe)
        left, right = one.tensor if one is not None else None, knowledge.right[probe].tensor
        if left is None or right is None or not bool(torch.isfinite(left).all()):
            return None
        if bool(torch.isfinite(right).all()) and knowledge.right[probe].dtype not in HALF:
            pairs.append((left, right))
    if not pairs or all(_close(left, right) for left, right in pairs):
        return None
    told = _near(pairs)
    if told is None:
        return None
    code, args = told
    return Diagnosis(
        id=f"near.{code}",
        title=catalog.text(f"near.{code}.title", function=function, **args),
        hint=catalog.text(f"near.{code}.hint", function=function, **args),
    )


Pairs = Sequence[tuple[torch.Tensor, torch.Tensor]]


def _near(pairs: Pairs) -> tuple[str, dict[str, Json]] | None:
    """The first near miss that explains every pair of seen and right values."""
    if all(_close(left, right.mT) for left, right in pairs if right.ndim >= 2) and all(
        right.ndim >= 2 for _, right in pairs
    ):
        return "transposed", {}
    if any(left.shape != right.shape for left, right in pairs):
        return None
    if (factor := _factor(pairs)) is not None:
        return ("negated", {}) if _is(factor, -1.0) else ("scaled", {"factor": _digits(factor)})
    if (offset := _offset(pairs)) is not None:
        return "offset", {"offset": _digits(offset)}
    return _rows(pairs) or _order(pairs) or _coarse(pairs)


def _factor(pairs: Pairs) -> float | None:
    """The one number by which all right values were multiplied."""
    left, right = _flat(pairs)
    largest = int(right.abs().argmax())
    if right[largest] == 0 or left[largest] == 0:
        return None
    factor = float(left[largest] / right[largest])
    return factor if _close(left, right * factor) and not _is(factor, 1.0) else None


def _offset(pairs: Pairs) -> float | None:
    """The one number that was added to all right values (a single value proves nothing)."""
    left, right = _flat(pairs)
    if left.numel() < 3:
        return None
    offset = float((left - right).mean())
    return offset if _close(left, right + offset) and abs(offset) > ATOL else None


def _rows(pairs: Pairs) -> tuple[str, dict[str, Json]] | None:
    """Rows of the second last axis: shifted by one, or only the first or the last one wrong."""
    if any(right.ndim < 2 or right.shape[-2] < 3 for _, right in pairs):
        return None
    if all(_close(left[..., 1:, :], right[..., :-1, :]) for left, right in pairs):
        return "row_late", {}
    if all(_close(left[..., :-1, :], right[..., 1:, :]) for left, right in pairs):
        return "row_early", {}
    if all(_close(left[..., 1:, :], right[..., 1:, :]) for left, right in pairs):
        return "first_row", {}
    if all(_close(left[..., :-1, :], right[..., :-1, :]) for left, right in pairs):
        return "last_row", {}
    batched = [(left, right) for left, right in pairs if right.ndim >= 3 and right.shape[0] > 1]
    if batched and all(_close(left[:1], right[:1]) for left, right in batched):
        return "first_of_batch", {}
    return None


def _order(pairs: Pairs) -> tuple[str, dict[str, Json]] | None:
    """The right values of each row, in another order."""
    if any(right.ndim < 1 or right.shape[-1] < 2 for _, right in pairs):
        return None
    if all(_close(left.sort(-1).values, right.sort(-1).values) for left, right in pairs):
        return "columns", {}
    return None


def _coarse(pairs: Pairs) -> tuple[str, dict[str, Json]] | None:
    """Right to two or three digits and no more: somewhere the precision was lost."""
    if all(bool(torch.allclose(left, right, atol=COARSE, rtol=COARSE)) for left, right in pairs):
        worst = max(float((left - right).abs().max()) for left, right in pairs)
        return "coarse", {"error": _digits(worst)}
    return None


def _flat(pairs: Pairs) -> tuple[torch.Tensor, torch.Tensor]:
    return (
        torch.cat([left.reshape(-1) for left, _ in pairs]),
        torch.cat([right.reshape(-1) for _, right in pairs]),
    )


def _close(left: torch.Tensor, right: torch.Tensor) -> bool:
    return left.shape == right.shape and bool(torch.allclose(left, right, atol=ATOL, rtol=RTOL))


def _is(value: float, other: float) -> bool:
    return abs(value - other) <= RTOL


def _digits(value: float) -> str:
    return f"{value:.4g}"


# --- diagnosis.json ------------------------------------------------------------------------


def load(path: Path) -> Knowledge | None:
    """The knowledge in a `diagnosis.json`; None when there is no such file.

    Raises:
        AssignmentError: when the file is not what `signatures` writes.
    """
    if not path.is_file():
        return None
    try:
        raw: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return Knowledge(
            probes={name: tuple(ids) for name, ids in raw["probes"].items()},
            right=_all_numbers(raw["right"]),
            known=tuple(
                Known(
                    id=each["id"],
                    title=_text(each["id"], "title", each["title"]),
                    hint=_text(each["id"], "hint", each["hint"]),
                    numbers=_all_numbers(each["numbers"]),
                )
                for each in raw["misconceptions"]
            ),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise AssignmentError(f"{path.parent.name}/{path.name}: {error!r}") from error


def numbers_json(numbers: Numbers) -> dict[str, Json]:
    """Numbers as JSON; five digits are well below the tolerance of a comparison."""
    if numbers.raised is not None:
        return {"raised": numbers.raised}
    if numbers.tensor is None:
        return {}
    digits = 17 if numbers.exact else 5
    values: list[Json] = [_value(each, digits) for each in numbers.tensor.reshape(-1).tolist()]
    told: dict[str, Json] = {"dtype": numbers.dtype, "shape": [*numbers.tensor.shape]}
    return told | ({"exact": True} if numbers.exact else {}) | {"values": values}


def numbers_from(raw: Mapping[str, Any]) -> Numbers:
    if "raised" in raw:
        return Numbers(raised=str(raw["raised"]))
    if "values" not in raw:
        return Numbers()
    values = torch.tensor([float(each) for each in raw["values"]], dtype=torch.float64)
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
