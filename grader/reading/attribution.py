"""Which assignments a file is for, and what to say when a function is not there."""

import ast
import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.errors import UsageProblem
from grader.model import Definition, Json, Language, Problem, Reading
from grader.reading.parsing import parse
from grader.reading.places import code_at
from grader.texts import catalog

# `sinusoid_value` and `sinusoid_period` are 0.69 alike and must stay apart.
_ALIKE = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An assignment that a file may be for.

    Args:
        variables: the course's variable names, each with the entry point that it belongs to.
        parameters: the parameters of each entry point; only messages depend on them.
    """

    id: str
    entry_points: tuple[str, ...]
    variables: Mapping[str, str]
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def attribute(
    reading: Reading, candidates: Sequence[Candidate], *, language: Language = "en"
) -> tuple[str, ...]:
    """Ids of the assignments that the file is for, in the candidates' order.

    The functions that it defines decide (a function in a cell that Python could not read
    counts beside others); then the marker line, the file's name, what stands in unreadable
    code, the course's variable names, a misspelt function.

    Raises:
        UsageProblem: nothing decides, or two assignments are named; lists the candidates.
    """
    defined = _holding(candidates, reading.definitions.keys())
    if defined:
        return _holding(candidates, {*reading.definitions, *reading.unread})
    marked = tuple(c.id for c in candidates if c.id.lower() == (reading.marker or "").lower())
    if marked:
        return marked
    named = tuple(c.id for c in candidates if _names_id(reading.submission.file, c.id))
    if len(named) == 1:
        return named
    if not named:
        unread = _holding(candidates, reading.unread)
        if unread:
            return unread
        for guess in (_by_variables(reading, candidates), _by_near_miss(reading, candidates)):
            if len(guess) == 1:
                return guess
    raise UsageProblem(_which(reading, candidates, named, language))


def filled_variables(reading: Reading, candidate: Candidate) -> Problem | None:
    """What to say of a file with only the course's variables; None when it has a function."""
    if reading.open_ended or any(name in reading.definitions for name in candidate.entry_points):
        return None
    for definition, function in _variables(reading, candidate):
        code = "fill_in_placeholder" if definition.blank else "fill_in_variable"
        answer = code_at(reading, definition.place)
        if not definition.blank and _fixed_numbers(answer, candidate.parameters.get(function)):
            code = "fill_in_constants"
        message = catalog.text(
            f"reading.{code}",
            variable=definition.name,
            function=function,
            answer=answer,
            parameters=list(candidate.parameters.get(function, ())),
        )
        return Problem(kind="fill_in_variable", message=message, place=definition.place)
    return None


def _variables(reading: Reading, candidate: Candidate) -> Iterator[tuple[Definition, str]]:
    """Variables with the course's names, or of the same kind (`pe_7` beside `pe_0`)."""
    kinds = {_kind(name): function for name, function in candidate.variables.items()}
    for definition in reading.definitions.values():
        function = candidate.variables.get(definition.name) or kinds.get(_kind(definition.name))
        if definition.kind == "variable" and function is not None:
            yield definition, function


def _kind(name: str) -> str:
    return re.sub(r"\d+", "#", name.lower())


def _fixed_numbers(code: str, parameters: Collection[str] | None) -> bool:
    """Whether a line computes with numbers where the function has parameters."""
    tree = parse(code, cell=True)
    if not parameters or not isinstance(tree, ast.Module):
        return False
    nodes = list(ast.walk(tree))
    named = {node.id for node in nodes if isinstance(node, ast.Name)}
    numbers = [n for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, int | float)]
    return bool(numbers) and named.isdisjoint(parameters)


def missing(name: str, reading: Reading, *, others: Collection[str] = ()) -> Problem:
    """The problem of an entry point that the file does not define.

    It names the likeliest reason: a cell that Python could not read, a function inside
    another block, a misspelt name. `others` are entry points that are no misspelling.
    """
    if name in reading.unread:
        return _missing("missing_function_unread", name)
    if name in reading.nested:
        problem = _missing("missing_function_nested", name)
        return replace(problem, place=reading.nested[name])
    functions = [
        definition.name
        for definition in reading.definitions.values()
        if definition.kind == "function" and definition.name not in others
    ]
    near = did_you_mean(name, functions)
    if near is None:
        return _missing("missing_function", name)
    problem = _missing("missing_function_near", name, near=near)
    return replace(problem, place=reading.definitions[near].place)


def not_done(
    definition: Definition, reading: Reading | None = None, candidate: Candidate | None = None
) -> Problem:
    """The problem of an entry point that is still a blank, at its placeholder.

    It names an answer that stands in quotes, or in a variable outside of the function.
    """
    place = definition.blank or definition.place
    code, args = "not_done", dict[str, Json]()
    filled = _filled_outside(definition.name, reading, candidate) if reading and candidate else None
    if definition.quoted is not None:
        code, args = "not_done_quoted", {"answer": definition.quoted}
    elif filled is not None and candidate is not None:
        code, args = _misplaced(*filled, candidate.parameters.get(definition.name, ()))
    message = catalog.text(f"reading.{code}", function=definition.name, source=place.quote, **args)
    return Problem(kind="not_done", message=message, place=place)


def _misplaced(
    variable: str, answer: str, parameters: Sequence[str]
) -> tuple[str, dict[str, Json]]:
    """What to say of an answer in a variable outside of the function: its text, and the fields."""
    code = "not_done_constants" if _fixed_numbers(answer, parameters) else "not_done_variable"
    return code, {"variable": variable, "answer": answer, "parameters": [*parameters]}


def _filled_outside(
    function: str, reading: Reading, candidate: Candidate
) -> tuple[str, str] | None:
    """A course variable that holds an answer at top level, and its line of code."""
    for definition, owner in _variables(reading, candidate):
        code = code_at(reading, definition.place)
        # `final_vectors = add_position_vectors(…)` only tries the function out.
        if owner == function and definition.blank is None and not re.search(rf"\b{owner}\b", code):
            return definition.name, code
    return None


def did_you_mean(name: str, names: Collection[str]) -> str | None:
    """The one of `names` that `name` was most likely meant to be, or None."""
    plain = _plain(name)
    for other in names:
        if other != name and _plain(other) == plain:
            return other
    for other in names:
        # `my_apply_rope`, `apply_rope_v2`
        if other != name and len(plain) > 4 and plain in _plain(other):
            return other
    close = difflib.get_close_matches(name, [n for n in names if n != name], n=1, cutoff=_ALIKE)
    return close[0] if close else None


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _missing(code: str, name: str, **args: str) -> Problem:
    message = catalog.text(f"reading.{code}", function=name, **args)
    return Problem(kind="missing_function", message=message)


# --- what decides ------------------------------------------------------------------------


def _holding(candidates: Sequence[Candidate], names: Collection[str]) -> tuple[str, ...]:
    return tuple(c.id for c in candidates if any(name in names for name in c.entry_points))


def _names_id(file: str, id_: str) -> bool:
    """Whether a file's name holds the id: `HW-1 (2).ipynb` does for hw1, `hw10.py` does not."""
    stem = file.rpartition("/")[2].rpartition(".")[0]
    letters = id_.rstrip("0123456789")
    digits = id_[len(letters) :]
    spelt = r"[\W_]*".join(re.escape(part) for part in re.split(r"[\W_]+", letters) if part)
    number = rf"[\W_]*0*{int(digits)}(?!\d)" if digits else r"(?![^\W\d_])"
    return re.search(rf"(?<![^\W_]){spelt}{number}", stem, re.I) is not None


def _by_variables(reading: Reading, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    return tuple(c.id for c in candidates if filled_variables(reading, c) is not None)


def _by_near_miss(reading: Reading, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    functions = [each.name for each in reading.definitions.values() if each.kind == "function"]
    return tuple(
        c.id for c in candidates if any(did_you_mean(name, functions) for name in c.entry_points)
    )


def _which(
    reading: Reading, candidates: Sequence[Candidate], named: tuple[str, ...], language: Language
) -> str:
    rows = [
        catalog.say(language, "reading.candidate", id=c.id, functions=list(c.entry_points))
        for c in candidates
    ]
    code = "reading.several_assignments" if named else "reading.no_assignment"
    example = named[0] if named else candidates[0].id if candidates else "hw1"
    head = catalog.say(language, code, file=reading.submission.file, ids=list(named), id=example)
    return "\n".join([head, *rows])
