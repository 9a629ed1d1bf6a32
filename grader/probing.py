"""The probes of assignment.toml, read strictly.

An argument is a number, a list that becomes a tensor, or a table:
`{ shape = [2, 3, 8] }` (random dyadic numbers; optional `low`, `high`, `dtype`) or
`{ values = [1, 0, 1], dtype = "float32" }`.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from grader.model import EntryPoint, Json, Probe, Recipe
from grader.strict import Value, did_you_mean, shown

DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "bool",
)
_ID = r"[a-z][a-z0-9_]{0,63}"
_MOST_SIZE = 4096


def read_probes(listed: Value, entry_points: Sequence[EntryPoint]) -> tuple[Probe, ...]:
    """The probes, in order; every argument must be a parameter of the probe's function."""
    known = {each.name: [part.name for part in each.parameters] for each in entry_points}
    probes: list[Probe] = []
    for item in listed.items():
        part = item.keys(
            required=("id", "function", "arguments"),
            optional=("twice", "first", "exact", "last_rows"),
        )
        probe = _probe(part, known)
        if probe.id in [each.id for each in probes]:
            part["id"].say(f"{shown(probe.id)} is listed twice")
        probes.append(probe)
    return tuple(probes)


def _probe(part: Mapping[str, Value], known: Mapping[str, Sequence[str]]) -> Probe:
    function = part["function"].text() if "function" in part else ""
    if function and function not in known:
        part["function"].say(f"no entry point {shown(function)}{did_you_mean(function, known)}")
    if "first" in part and "twice" not in part:
        part["first"].say("belongs to twice = true")
    return Probe(
        id=part["id"].matching(_ID, "lower-case letters, digits and _") if "id" in part else "",
        function=function,
        arguments=_arguments(part.get("arguments"), function, known),
        twice=part["twice"].boolean() if "twice" in part else False,
        first=_arguments(part.get("first"), function, known),
        exact=part["exact"].boolean() if "exact" in part else False,
        last_rows=part["last_rows"].integer(least=1, most=_MOST_SIZE)
        if "last_rows" in part
        else None,
    )


def _arguments(
    table: Value | None, function: str, known: Mapping[str, Sequence[str]]
) -> dict[str, Recipe]:
    arguments: dict[str, Recipe] = {}
    for name, value in table.entries().items() if table is not None else ():
        if function in known and name not in known[function]:
            value.say(f"{function} has no such parameter{did_you_mean(name, known[function])}")
        arguments[name] = _recipe(value)
    return arguments


def _recipe(value: Value) -> Recipe:
    if isinstance(value.seen, dict):
        return _table(value)
    if isinstance(value.seen, list):
        return Recipe(values=_numbers(value))
    return Recipe(number=value.number())


def _table(value: Value) -> Recipe:
    part = value.keys(optional=("shape", "values", "dtype", "low", "high"))
    if ("shape" in part) == ("values" in part):
        value.refuse("a table with either shape or values")
    sizes = part["shape"].items() if "shape" in part else []
    return Recipe(
        values=_numbers(part["values"]) if "values" in part else None,
        shape=tuple(size.integer(least=1, most=_MOST_SIZE) for size in sizes),
        dtype=part["dtype"].choice(DTYPES) if "dtype" in part else None,
        low=part["low"].number() if "low" in part else -2.0,
        high=part["high"].number() if "high" in part else 2.0,
    )


def _numbers(value: Value) -> tuple[Json, ...]:
    for item in value.items():
        if isinstance(item.seen, list):
            _numbers(item)
        elif not isinstance(item.seen, int | float):
            item.refuse("a number, true or false")
    return tuple(cast("list[Json]", value.seen)) if isinstance(value.seen, list) else ()
