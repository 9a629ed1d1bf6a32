"""What a report has to look like: the JSON Schemas, and the sums that no schema can check."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from math import isfinite
from typing import TYPE_CHECKING, Any

from grader.errors import UsageProblem
from grader.model import Json, Text
from grader.strict import closest, shown
from grader.texts import catalog

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

# Characters shown on both sides of one that is wrong; the text may be as long as the file.
_AROUND = 20

_FILES = {
    "report": "report-v1.schema.json",
    "rubric": "rubric.schema.json",
    "assignment": "assignment.schema.json",
    "run": "run.schema.json",
}


def schema(kind: str, *, consumer: bool = False) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a report, a rubric.toml, an assignment.toml or a run.json.

    Args:
        consumer: the open schema, see `consumer_schema`.

    Raises:
        UsageProblem: there is no such kind.
    """
    if kind not in _FILES:
        said = _fault("no_schema", kind=shown(kind), guess=_guess(kind, _FILES))
        raise UsageProblem(said)
    raw = resources.files("grader").joinpath("schemas", _FILES[kind]).read_text("utf-8")
    strict: dict[str, Any] = json.loads(raw)
    return consumer_schema(strict) if consumer else strict


def consumer_schema(strict: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema for whoever reads: keys that a later 1.x adds are accepted."""
    opened: dict[str, Any] = _opened(strict)
    opened["$id"] = f"{strict['$id']}:consumer"
    version = opened["properties"].get("schema_version")
    if version is not None:
        del version["const"]
        version |= {"type": "string", "pattern": r"^1\.[0-9]+$"}
    return opened


def validate(report: object, *, consumer: bool = False) -> list[str]:
    """What is wrong with a report, in English; empty when valid. See `faults`."""
    return [each.en for each in faults(report, consumer=consumer)]


def faults(report: object, *, consumer: bool = False) -> list[Text]:
    """What is wrong with a report, as `$.criteria[2].points: expected …, got …`; empty when valid.

    Beyond the schema, the sums must agree, and no number may be NaN or infinite and no text
    hold a lone surrogate (JSON has neither).
    """
    problems = list(_unwritable(report))
    problems += sentences(_validator(consumer=consumer).iter_errors(report))
    if not problems and isinstance(report, dict):
        problems += _contradictions(report)
    return list({each.en: each for each in problems}.values())


def sentences(errors: "Iterable[ValidationError]") -> list[Text]:
    """What a schema refused, in the order of the places."""
    return [each for error in sorted(errors, key=_position) for each in _sentences(error)]


@cache
def _validator(*, consumer: bool) -> "Draft202012Validator":
    # 0.15 s to import, so only where a report is checked; 7 ms to build, so only once.
    from jsonschema import Draft202012Validator

    whole = schema("report", consumer=consumer)
    return Draft202012Validator(_spelled_out(whole, whole["$defs"]))


def _spelled_out(part: Any, definitions: Mapping[str, Any]) -> Any:
    """The schema with each `$ref` replaced by what it stands for.

    Looking references up takes half of the time of a validation, which in a batch is a tenth of
    what a submission costs. No definition of the report's schema contains itself.
    """
    match part:
        case {"$ref": str(name), **others}:
            target = definitions[name.removeprefix("#/$defs/")]
            return _spelled_out({**target, **others}, definitions)
        case dict():
            return {
                key: _spelled_out(value, definitions)
                for key, value in part.items()
                if key != "$defs"
            }
        case list():
            return [_spelled_out(each, definitions) for each in part]
    return part


def _opened(part: Any) -> Any:
    match part:
        case dict():
            return {
                key: _opened(value)
                for key, value in part.items()
                if not (key == "additionalProperties" and value is False)
            }
        case list():
            return [_opened(value) for value in part]
        case _:
            return part


# --- what the schema says ------------------------------------------------------------------


def _position(error: "ValidationError") -> list[str]:
    return [f"{step:09d}" if isinstance(step, int) else step for step in error.absolute_path]


def _sentences(error: "ValidationError") -> list[Text]:
    path = _path(error.absolute_path)
    seen: Any = error.instance
    rule: Any = error.validator_value
    within: Any = error.schema
    match error.validator:
        case "required":
            return [_fault("missing", path=path, key=shown(key)) for key in rule if key not in seen]
        case "additionalProperties":
            known = within["properties"]
            return [
                _fault("unknown", path=path, key=shown(key), guess=_guess(key, known))
                for key in seen
                if key not in known
            ]
        case _:
            expected = _expected(str(error.validator), rule) or error.message
            return [_fault("expected", path=path, expected=expected, seen=shown(seen))]


def _expected(keyword: str, rule: Any) -> Text | str | None:
    match keyword:
        case "type":
            return _types([rule] if isinstance(rule, str) else rule)
        case "enum":
            return _fault("one_of", values=[shown(each) for each in rule])
        case "const":
            return shown(rule)
        case "minimum":
            return _fault("at_least", least=rule)
        case "maximum":
            return _fault("at_most", most=rule)
        case "minLength":
            return _fault("not_empty")
        case "pattern":
            return _fault("pattern", pattern=rule)
        case _:
            return None


def _types(names: Sequence[str]) -> Text:
    first, *others = [_fault(f"type.{name}") for name in names]
    for each in others:
        first = _fault("several", first=first, last=each)
    return first


def _guess(word: str, known: Iterable[str]) -> Text:
    words = list(known)
    if close := closest(word, words):
        return _fault("guess", word=shown(close))
    return _fault("known", words=words) if words else _fault("none")


def _fault(code: str, **args: catalog.Filling) -> Text:
    return catalog.text(f"fault.{code}", **args)


def _path(steps: Sequence[str | int]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


# --- what JSON cannot hold -------------------------------------------------------------------


def _unwritable(report: object) -> Iterator[Text]:
    todo: list[tuple[tuple[str | int, ...], object]] = [((), report)]
    while todo:
        steps, value = todo.pop()
        match value:
            case dict():
                todo += [((*steps, str(key)), each) for key, each in reversed(value.items())]
                todo += [((*steps, "(key)"), key) for key in value]
            case list():
                todo += [((*steps, at), each) for at, each in reversed([*enumerate(value)])]
            case float() if not isfinite(value):
                finite = _fault("finite")
                yield _fault("expected", path=_path(steps), expected=finite, seen=str(value))
            case str() if (at := _surrogate(value)) is not None:
                around = value[max(0, at - _AROUND) : at + _AROUND]
                lone = _fault("lone", around=f"{around!a}")
                unicode = _fault("surrogate")
                yield _fault("expected", path=_path(steps), expected=unicode, seen=lone)


def _surrogate(text: str) -> int | None:
    """Where the first lone surrogate stands."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return error.start
    return None


# --- what contradicts itself -----------------------------------------------------------------


def _contradictions(report: dict[str, Any]) -> Iterator[Text]:
    criteria = report["criteria"]
    if report["status"] != "grader_failed":
        yield from _unequal("score", sum(each["earned"] or 0 for each in criteria), report)
        could = sum(each["points"] for each in criteria if each["earned"] is not None)
        yield from _unequal("decided", could, report)
        for at, criterion in enumerate(criteria):
            yield from _earned_wrongly(at, criterion)
    yield from _unequal("max_score", sum(each["points"] for each in criteria), report)
    if report["official"] and any(each["earned"] is None for each in criteria):
        yield _fault("pending", path="$.official")
    yield from _strangers(report)


def _unequal(key: str, expected: int, report: Mapping[str, Json]) -> Iterator[Text]:
    if report[key] != expected:
        yield _fault("sum", path=f"$.{key}", expected=expected, seen=shown(report[key]))


def _earned_wrongly(at: int, criterion: Mapping[str, Any]) -> Iterator[Text]:
    verdict, points = criterion["verdict"], criterion["points"]
    expected = {"passed": points, "pending": None, "errored": None}.get(verdict, 0)
    if criterion["earned"] != expected:
        yield _fault(
            "earned",
            path=f"$.criteria[{at}].earned",
            expected=shown(expected),
            points=points,
            verdict=shown(verdict),
            seen=shown(criterion["earned"]),
        )


def _strangers(report: Mapping[str, Any]) -> Iterator[Text]:
    """Ids that stand twice, and tests and needs of criteria that are not there or disagree."""
    verdicts: dict[str, str] = {}
    for at, criterion in enumerate(report["criteria"]):
        if criterion["id"] in verdicts:
            yield _fault("twice", path=f"$.criteria[{at}].id", value=shown(criterion["id"]))
        verdicts[criterion["id"]] = criterion["verdict"]
    for at, criterion in enumerate(report["criteria"]):
        for step, need in enumerate(criterion["needs"]):
            if need not in verdicts:
                path = f"$.criteria[{at}].needs[{step}]"
                yield _fault("no_criterion", path=path, value=shown(need))
    for at, test in enumerate(report["tests"]):
        verdict = verdicts.get(test["criterion"])
        if verdict is None:
            path = f"$.tests[{at}].criterion"
            yield _fault("no_criterion", path=path, value=shown(test["criterion"]))
        if verdict == "passed" and test["verdict"] != "passed":
            path = f"$.tests[{at}].verdict"
            seen = shown(test["verdict"])
            yield _fault("as_criterion", path=path, expected='"passed"', seen=seen)
