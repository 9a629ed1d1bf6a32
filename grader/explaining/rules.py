"""A function's rule in steps, with what students write instead of a step.

`explanations.toml` holds it for authors; in `diagnosis.json` it is packed, so that nobody who looks
for the numbers there reads the rule by accident.
"""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.model import Json, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One way to get a step wrong.

    Args:
        id: of a misconception where the gallery has it, else its own.
        formula: what is computed instead; None where a result is `written` into an argument.
        constants: values of `c` in the formula; `{c}` stands for it in the title.
        fits: whether any other constant is looked for, too, when this is the only mistake.
        written: the parameter into which the result is written.
        weight: of two explanations with the same numbers the lighter one is told.
        stored: whether the numbers of the gallery's file are kept, too, because the formula gives
            them only in part (the file raises, or rounds in steps of its own).
    """

    id: str
    title: Text
    hint: Text
    formula: str | None = None
    constants: tuple[float, ...] = ()
    fits: bool = False
    written: str | None = None
    weight: int = 1
    stored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A name, the right formula for it, and the mistakes."""

    name: str
    right: str
    mistakes: tuple[Mistake, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The steps of one entry point, in order; the last one is its result."""

    function: str
    steps: tuple[Step, ...]


def explained(rules: Sequence[Rule]) -> frozenset[str]:
    """The misconceptions whose numbers need not be stored, because a formula gives them."""
    mistakes = [each for rule in rules for step in rule.steps for each in step.mistakes]
    needed = {each.id for each in mistakes if each.stored or each.formula is None}
    return frozenset({each.id for each in mistakes} - needed)


def pack(rules: Sequence[Rule]) -> str:
    """The rules as one word of ASCII."""
    plain = json.dumps([_rule_json(each) for each in rules], ensure_ascii=False)
    # No date, no level that differs between versions of zlib's defaults: the same text each time.
    return base64.b85encode(zlib.compress(plain.encode(), 9)).decode()


def unpack(packed: str) -> tuple[Rule, ...]:
    """The rules of `pack`.

    Raises:
        ValueError, KeyError, TypeError: when it is none.
    """
    try:
        plain = zlib.decompress(base64.b85decode(packed))
    except zlib.error as error:
        raise ValueError(f"the explanations are damaged: {error}") from error
    return tuple(_rule(each) for each in json.loads(plain))


def _rule_json(rule: Rule) -> dict[str, Json]:
    steps: list[Json] = [
        [step.name, step.right, [_mistake_json(each) for each in step.mistakes]]
        for step in rule.steps
    ]
    return {"function": rule.function, "steps": steps}


def _mistake_json(mistake: Mistake) -> dict[str, Json]:
    told: dict[str, Json] = {
        "id": mistake.id,
        "title": [mistake.title.en, mistake.title.zh],
        "hint": [mistake.hint.en, mistake.hint.zh],
        "formula": mistake.formula,
        "constants": [*mistake.constants],
        "fits": mistake.fits,
        "written": mistake.written,
        "weight": mistake.weight,
    }
    empty: tuple[Json, ...] = (None, [], False)
    return {key: value for key, value in told.items() if value not in empty}


def _rule(raw: Mapping[str, Any]) -> Rule:
    steps = tuple(
        Step(name=name, right=right, mistakes=tuple(_mistake(each) for each in mistakes))
        for name, right, mistakes in raw["steps"]
    )
    return Rule(function=raw["function"], steps=steps)


def _mistake(raw: Mapping[str, Any]) -> Mistake:
    code = f"misconception.{raw['id']}"
    (title_en, title_zh), (hint_en, hint_zh) = raw["title"], raw["hint"]
    return Mistake(
        id=raw["id"],
        title=Text(code=f"{code}.title", en=title_en, zh=title_zh),
        hint=Text(code=f"{code}.hint", en=hint_en, zh=hint_zh),
        formula=raw.get("formula"),
        constants=tuple(raw.get("constants", ())),
        fits=raw.get("fits", False),
        written=raw.get("written"),
        weight=raw["weight"],
    )
