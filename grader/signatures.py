"""`diagnosis.json`: the numbers of every misconception of a gallery, made by running it.

Runs in the front desk, so nothing here imports torch; numbers are the plain JSON that the judge
sent. Misconceptions that act together are not written by hand: one that is a matter of an
argument (`acts` in misconceptions.toml: the base is ignored, positions begin at 1) is played by
changing that argument, in front of the reference and of every misconception with `combines`.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.assignment import Assignment
from grader.errors import AssignmentError
from grader.explaining import rows
from grader.explaining.rules import Rule, explained, pack
from grader.misconceptions import Misconception
from grader.model import Change, Json, Reading, Text
from grader.texts import catalog

Raw = Mapping[str, Any]
# As in `diagnosis`: what separates rounding from another answer.
ATOL, RTOL, COARSE = 3e-4, 2e-4, 3e-2


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A `diagnosis.json`.

    Args:
        uneven: pairs of misconceptions that no probe tells apart but that have different hints.
    """

    text: str
    uneven: tuple[tuple[str, str], ...]


Ask = Callable[[Reading, Mapping[str, Change]], Raw]


def build(
    assignment: Assignment,
    reference: Reading,
    gallery: Sequence[tuple[Misconception, Reading]],
    ask: Ask,
    rules: Sequence[Rule] = (),
) -> Built:
    """The text of the assignment's `diagnosis.json`.

    Args:
        ask: the numbers of a submission on the probes, with changed arguments.
        rules: what `explanations.toml` says.

    Raises:
        AssignmentError: when the reference does not answer every probe, when no probe tells a
            misconception from the right answer, or when `acts` does not play its own file.
    """
    right = ask(reference, {})
    if unanswered := [each.id for each in assignment.probes if not right.get(each.id)]:
        raise AssignmentError(f"{assignment.id}: the reference gives no number on {unanswered}")
    known = [_entry(each, ask(reading, {})) for each, reading in gallery]
    problems = [
        f"{assignment.id}: no probe tells {entry['id']} from the right answer"
        for entry in known
        if _alike(entry["numbers"], right)
    ]
    for (misconception, _), entry in zip(gallery, known, strict=True):
        if misconception.acts and not _alike(ask(reference, misconception.acts), entry["numbers"]):
            problems.append(f"{assignment.id}: `acts` of {misconception.id} does not play its file")
    if problems:
        raise AssignmentError(*problems)
    known += _together(gallery, reference, ask, [right, *(each["numbers"] for each in known)])
    by_formula = explained(rules)
    stored = [each for each in known if each["id"] not in by_formula]
    return Built(text=_text(assignment, right, stored, rules), uneven=_uneven_hints(known))


def _uneven_hints(known: Sequence[Raw]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (one["id"], other["id"])
        for at, one in enumerate(known)
        for other in known[at + 1 :]
        if one["hint"] != other["hint"] and _alike(one["numbers"], other["numbers"])
    )


def plain(knowledge: str) -> dict[str, Any]:
    """What a `diagnosis.json` says, every number of every misconception in digits.

    Raises:
        ValueError: it is none.
    """
    raw = json.loads(knowledge)
    try:
        right = _in_digits(raw["right"])
        entries = [
            {**entry, "numbers": right | _in_digits(entry["numbers"])}
            for entry in raw["misconceptions"]
        ]
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"no diagnosis.json: {error!r}") from error
    return {**raw, "right": right, "misconceptions": entries}


def _in_digits(numbers: Raw) -> dict[str, Any]:
    return {
        id: each | ({"values": rows.plain(each["values"])} if "values" in each else {})
        for id, each in numbers.items()
    }


def _entry(misconception: Misconception, numbers: Raw) -> dict[str, Any]:
    return _named(misconception.id, misconception.title, misconception.hint, numbers)


def _named(id: str, title: Text, hint: Text, numbers: Raw) -> dict[str, Any]:
    return {
        "id": id,
        "title": {"en": title.en, "zh": title.zh},
        "hint": {"en": hint.en, "zh": hint.zh},
        "numbers": numbers,
    }


def _together(
    gallery: Sequence[tuple[Misconception, Reading]],
    reference: Reading,
    ask: Ask,
    taken: list[Raw],
) -> list[dict[str, Any]]:
    """Every pair that acts together and gives numbers that nothing else gives."""
    actors = [each for each, _ in gallery if each.acts]
    found: list[dict[str, Any]] = []
    pairs = [
        (first, second, reading, second.acts)
        for first, reading in gallery
        if first.combines
        for second in actors
        if second.id != first.id
    ] + [
        (first, second, reference, {**first.acts, **second.acts})
        for at, first in enumerate(actors)
        for second in actors[at + 1 :]
        if first.acts.keys().isdisjoint(second.acts)
    ]
    for first, second, reading, changes in pairs:
        numbers = ask(reading, changes)
        if any(_alike(numbers, each) for each in taken):
            continue
        taken.append(numbers)
        title, hint = _both(first, second)
        found.append(_named(f"{first.id}+{second.id}", title, hint, numbers))
    return found


def _both(first: Misconception, second: Misconception) -> tuple[Text, Text]:
    # A hint may say what is right, too ("Your angles are right"): true of its own mistake alone.
    return (
        _joined("title", first.title, second.title),
        _joined("hint", first.hint, second.hint),
    )


def _joined(what: str, first: Text, second: Text) -> Text:
    code = f"near.together.{what}"
    return Text(
        code=code,
        en=catalog.say("en", code, first=first.en, second=second.en),
        zh=catalog.say("zh", code, first=first.zh, second=second.zh),
    )


def _alike(one: Raw, other: Raw) -> bool:
    """Whether two sets of numbers agree on every probe, as `diagnosis` would see it."""
    return all(_same(one.get(id), each) for id, each in other.items())


def _same(one: Raw | None, other: Raw) -> bool:
    if not one or one.keys() != other.keys():
        return False
    if "raised" in other:
        return bool(one["raised"] == other["raised"])
    half = other["dtype"] in ("float16", "bfloat16")
    atol, rtol = (COARSE, COARSE) if half else (ATOL, RTOL)
    if other.get("exact"):
        atol, rtol = 0.0, 0.0
    pairs = zip(one["values"], other["values"], strict=False)
    return (
        one["dtype"] == other["dtype"]
        and one["shape"] == other["shape"]
        and all(_near(*pair, atol=atol, rtol=rtol) for pair in pairs)
    )


def _near(one: Json, other: Json, *, atol: float, rtol: float) -> bool:
    left, right = float(str(one)), float(str(other))
    if math.isfinite(left) and math.isfinite(right):
        return abs(left - right) <= atol + rtol * abs(right)
    return left == right or (math.isnan(left) and math.isnan(right))


def _text(assignment: Assignment, right: Raw, known: Sequence[Raw], rules: Sequence[Rule]) -> str:
    probes: dict[str, list[str]] = {}
    for probe in assignment.probes:
        probes.setdefault(probe.function, []).append(probe.id)
    entries = ",\n".join(_lines(each, right) for each in known)
    packed = f'"rules": {json.dumps(pack(rules))},\n' if rules else ""
    return (
        f'{{\n"probes": {json.dumps(probes)},\n{packed}"right": {_numbers(right)},\n'
        f'"misconceptions": [\n{entries}\n]\n}}\n'
    )


def _lines(entry: Raw, right: Raw) -> str:
    head = {key: entry[key] for key in ("id", "title", "hint")}
    text = json.dumps(head, ensure_ascii=False)
    differing = {
        id: entry["numbers"].get(id, {})
        for id, each in right.items()
        if not _same(entry["numbers"].get(id), each)
    }
    return f'{text[:-1]},\n "numbers": {_numbers(differing)}}}'


def _numbers(numbers: Raw) -> str:
    """One line for each probe, so that a change shows where it is."""
    told = ",\n".join(
        f"  {json.dumps(id)}: {json.dumps(_short(each))}" for id, each in numbers.items()
    )
    return f"{{\n{told}\n }}"


def _short(numbers: Raw) -> Raw:
    return {**numbers, "values": rows.packed(numbers["values"])} if "values" in numbers else numbers
