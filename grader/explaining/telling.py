"""Diagnoses in words: mistakes of a rule, near misses, cases that work or not."""

from collections.abc import Sequence
from functools import reduce
from typing import Literal

from grader.explaining import near
from grader.explaining.asking import Pick
from grader.explaining.cases import Side
from grader.model import Diagnosis, Text
from grader.texts import catalog

By = Literal["numbers", "results", "errors"]
# An id, a title and a hint.
Words = tuple[str, Text, Text]


def explained(function: str, picks: Sequence[Pick]) -> Diagnosis:
    """A mistake in the rule, or two."""
    return diagnosis(function, [of_pick(each) for each in picks])


def near_miss(function: str, told: near.Told, by: By = "numbers") -> Diagnosis:
    """What stands between these answers and the right ones."""
    code, args = told
    return diagnosis(function, [_near(function, code, args)], by)


def worked_only(function: str, sides: Sequence[Side], by: By) -> Diagnosis:
    """Where a submission works, as far as it does."""
    return diagnosis(function, [of_side(function, each) for each in sides], by)


def diagnosis(function: str, words: Sequence[Words], by: By = "numbers") -> Diagnosis:
    id, title, hint = reduce(
        lambda one, other: (
            f"{one[0]}+{other[0]}",
            together(one[1], other[1], "title"),
            together(one[2], other[2], "hint"),
        ),
        words,
    )
    return Diagnosis(id=id, title=title, hint=hint, function=function, by=by)


def of_pick(pick: Pick) -> Words:
    return pick.mistake.id, _filled(pick.mistake.title, pick), _filled(pick.mistake.hint, pick)


def of_side(function: str, side: Side) -> Words:
    return _near(function, side.code, dict(side.args))


def _near(function: str, code: str, args: near.Args) -> Words:
    return (
        f"near.{code}",
        catalog.text(f"near.{code}.title", function=function, **args),
        catalog.text(f"near.{code}.hint", function=function, **args),
    )


def _filled(text: Text, pick: Pick) -> Text:
    if pick.constant is None:
        return text
    constant = near.digits(pick.constant)
    return Text(
        code=text.code, en=text.en.replace("{c}", constant), zh=text.zh.replace("{c}", constant)
    )


def together(first: Text, second: Text, part: str) -> Text:
    """One sentence of two mistakes that act together."""
    code = f"near.together.{part}"
    return Text(
        code=code,
        en=catalog.say("en", code, first=first.en, second=second.en),
        zh=catalog.say("zh", code, first=first.zh, second=second.zh),
    )
