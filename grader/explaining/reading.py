"""explanations.toml, read strictly: rules as formulas, and what students write instead.

Only the staff edition has this file. A mistake that the gallery has, too, is named by
`misconception` and has its title and hint there.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from grader.explaining import grammar
from grader.explaining.rules import Mistake, Rule, Step
from grader.misconceptions import Misconception
from grader.model import EntryPoint, Text
from grader.strict import Value, did_you_mean, read_toml, shown

FILE: Final = "explanations.toml"
_ID = r"[a-z][a-z0-9_]{0,63}"
_ID_WORDS = "lower-case letters, digits and _, a letter first, at most 64"
_HEAVIEST: Final = 9


def read(
    folder: Path,
    entry_points: Sequence[EntryPoint],
    known: Sequence[Misconception],
    problems: list[str],
) -> tuple[Rule, ...]:
    """The rules of the assignment in `folder`; none where it has no such file.

    Args:
        known: its misconceptions.
        problems: where to write what is wrong.
    """
    if not (folder / FILE).is_file():
        return ()
    paper = read_toml(folder / FILE, problems)
    part = paper.keys(required=("functions",)) if paper is not None else {}
    parameters = {each.name: [one.name for one in each.parameters] for each in entry_points}
    gallery = {each.id: each for each in known}
    listed = part["functions"].items() if "functions" in part else []
    return tuple(_rule(item, parameters, gallery) for item in listed)


def _rule(
    item: Value, parameters: Mapping[str, Sequence[str]], gallery: Mapping[str, Misconception]
) -> Rule:
    part = item.keys(required=("name", "steps"))
    function = part["name"].text() if "name" in part else ""
    if function not in parameters:
        item.say(f"no entry point {shown(function)}{did_you_mean(function, parameters)}")
    given = set(parameters.get(function, ()))
    steps: list[Step] = []
    for each in part["steps"].items(least=1) if "steps" in part else []:
        steps.append(_step(each, given, gallery))
        given.add(steps[-1].name)
    return Rule(function=function, steps=tuple(steps))


def _step(item: Value, given: set[str], gallery: Mapping[str, Misconception]) -> Step:
    part = item.keys(required=("name", "right"), optional=("hint", "mistakes"))
    name = part["name"].name() if "name" in part else ""
    if name == grammar.CONSTANT or name in grammar.FUNCTIONS:
        part["name"].say(f"{shown(name)} has a meaning of its own in formulas")
    hint = _both(part["hint"], "") if "hint" in part else None
    listed = part["mistakes"].items() if "mistakes" in part else []
    return Step(
        name=name,
        right=_formula(part["right"], given) if "right" in part else "",
        mistakes=tuple(_mistake(each, given, gallery, hint) for each in listed),
    )


def _mistake(
    item: Value, given: set[str], gallery: Mapping[str, Misconception], hint: Text | None
) -> Mistake:
    part = item.keys(
        optional=(
            "misconception",
            "id",
            "title",
            "hint",
            "formula",
            "constants",
            "fits",
            "written",
            "weight",
            "stored",
        )
    )
    if ("formula" in part) == ("written" in part):
        item.refuse("a table with either formula or written")
    id, title, own = _names(item, part, gallery)
    constants = part["constants"].items() if "constants" in part else []
    fits = part["fits"].boolean() if "fits" in part else False
    names = given | ({grammar.CONSTANT} if constants or fits else set())
    written = part["written"].text() if "written" in part else None
    if written is not None and written not in given:
        part["written"].say(f"no parameter {shown(written)}{did_you_mean(written, sorted(given))}")
    return Mistake(
        id=id,
        title=title,
        hint=_both(part["hint"], id) if "hint" in part else own or hint or _no_text(item),
        formula=_formula(part["formula"], names) if "formula" in part else None,
        constants=tuple(each.number() for each in constants),
        fits=fits,
        written=written,
        weight=part["weight"].integer(least=1, most=_HEAVIEST) if "weight" in part else 1,
        stored=part["stored"].boolean() if "stored" in part else False,
    )


def _names(
    item: Value, part: Mapping[str, Value], gallery: Mapping[str, Misconception]
) -> tuple[str, Text, Text | None]:
    """Its id and title, and the gallery's hint."""
    if "misconception" in part:
        id = part["misconception"].text()
        if id not in gallery:
            part["misconception"].say(f"no misconception {shown(id)}{did_you_mean(id, gallery)}")
            return id, _no_text(None), _no_text(None)
        title = _both(part["title"], id) if "title" in part else gallery[id].title
        return id, title, gallery[id].hint
    if "id" not in part or "title" not in part:
        item.refuse("a table with either misconception, or id and title")
        return "", _no_text(None), _no_text(None)
    id = part["id"].matching(_ID, _ID_WORDS)
    if id in gallery:
        part["id"].say("is a misconception of the gallery: write misconception = ...")
    return id, _both(part["title"], id), None


def _no_text(item: Value | None) -> Text:
    if item is not None:
        item.say('the key "hint" is missing, here and in the step')
    return Text(code="", en="", zh="")


def _both(value: Value, id: str) -> Text:
    languages = value.keys(required=("en", "zh"))
    told = {name: text.text() for name, text in languages.items()}
    return Text(code=id, en=told.get("en", ""), zh=told.get("zh", ""))


def _formula(value: Value, given: set[str]) -> str:
    formula = value.text()
    try:
        needed = grammar.names(formula) if formula else frozenset()
    except ValueError as error:
        value.say(str(error))
        return ""
    for name in sorted(needed - given):
        value.say(f"no name {shown(name)} before this step{did_you_mean(name, sorted(given))}")
    return formula
