"""Assignments: where their folders are, and what their two TOML files say.

Both files are read strictly: one `AssignmentError` names every problem of both, each with
file, place, value and expectation. `grader/schemas/` holds the same rules as JSON Schemas.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, cast

from grader.criteria import read_criteria, title
from grader.errors import AssignmentError, UsageProblem
from grader.model import Criterion, EntryPoint, Limits, Parameter, Probe, Result, Text
from grader.packages import canonical
from grader.probing import read_probes
from grader.strict import Value, did_you_mean, read_toml, shown
from grader.texts import catalog

Edition = Literal["student", "staff"]

# Report files are named after assignments, so names that Windows keeps for devices are out.
ID = r"(?!(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$)[a-z][a-z0-9_-]{0,63}"
_ID_WORDS = "lower-case letters, digits, - and _, a letter first, at most 64"
# Of a distribution or of a module; versions belong to the installation, not to the course.
PACKAGE = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?"
_MOST_SECONDS = 86_400.0
_MOST_UNITS = 1_048_576
_DECIDING = (
    "assignment.toml",
    "rubric.toml",
    "texts.toml",
    "misconceptions.toml",
    "explanations.toml",
    "diagnosis.json",
)


# No slots: the digest reads every file of the suite, so it is worked out when it is first asked
# for (`grade list` never asks) and kept with the record.
@dataclass(frozen=True, kw_only=True)
class Assignment:
    """One assignment, its rubric included.

    Args:
        folder: where its files are, absolute.
        variables: the course page's fill-in variables, each with the function that wants
            the same expression.
        edition: `staff` when the hidden suite is there.
        hints: whether students see the hints of diagnoses.
        packages: what the course uses besides torch; None when it does not say.
    """

    id: str
    title: Text
    version: str
    folder: Path
    entry_points: tuple[EntryPoint, ...]
    criteria: tuple[Criterion, ...]
    limits: Limits
    variables: Mapping[str, str]
    edition: Edition
    hints: bool = True
    probes: tuple[Probe, ...] = ()
    packages: tuple[str, ...] | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 over every file that decides about a verdict; see `digest_of`."""
        return digest_of(self.folder)

    @property
    def max_score(self) -> int:
        return sum(criterion.points for criterion in self.criteria)


# --- finding -----------------------------------------------------------------------------


def find_all(option: Path | None, environ: Mapping[str, str]) -> tuple[Assignment, ...]:
    """Every assignment that can be graded here, hw2 before hw10.

    Raises:
        UsageProblem: `--assignments` or `GRADE_ASSIGNMENTS` is not a folder with assignments.
        AssignmentError: with the problems of all of them.
    """
    found: list[Assignment] = []
    problems: list[str] = []
    for folder in (each for parent in search_folders(option, environ) for each in _inside(parent)):
        try:
            found.append(load(folder))
        except AssignmentError as error:
            problems += error.problems
    problems += _twice(found)
    if problems:
        raise AssignmentError(*problems)
    return tuple(sorted(found, key=lambda each: natural(each.id)))


def search_folders(option: Path | None, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The folder whose subfolders are the assignments, or none.

    The first of these decides alone, because a mixture would let the id `hw1` mean the
    teacher's private copy on one machine and the public example on another:

    1. `--assignments`, 2. `GRADE_ASSIGNMENTS` (whoever names a folder means that one: naming
    one that holds none is an error, never a reason to go on), 3. the checkout from which
    `grader` was imported (staff edition), 4. the wheel's data (student edition).

    Never the current folder and nothing near a submission: those belong to the student.
    """
    if option is not None:
        return (_named(option, "--assignments"),)
    if named := environ.get("GRADE_ASSIGNMENTS"):
        return (_named(Path(named), "GRADE_ASSIGNMENTS"),)
    package = Path(__file__).resolve().parent
    if _is_checkout(package.parent):
        return (package.parent / "assignments",)
    shipped = package / "student_edition"
    return (shipped,) if shipped.is_dir() else ()


def natural(id: str) -> tuple[tuple[str, int], ...]:
    """A sorting key by which hw2 comes before hw10."""
    return tuple((word, int(number or 0)) for word, number in re.findall(r"(\D*)(\d*)", id))


def _named(folder: Path, by: str) -> Path:
    if not folder.is_dir():
        raise UsageProblem(catalog.text("cli.usage.no_place", by=by, folder=str(folder)))
    if not _inside(folder):
        raise UsageProblem(catalog.text("cli.usage.empty_place", by=by, folder=str(folder)))
    return folder.resolve()


def _inside(parent: Path) -> list[Path]:
    """The assignment folders in `parent`; it may also be one itself."""
    if (parent / "assignment.toml").is_file():
        return [parent]
    return [
        folder
        for folder in sorted(parent.iterdir())
        if not folder.name.startswith(".") and (folder / "assignment.toml").is_file()
    ]


def _is_checkout(folder: Path) -> bool:
    if not (folder / "assignments").is_dir():
        return False
    project = read_toml(folder / "pyproject.toml", [])
    seen = project.seen if project is not None else None
    match seen:
        case {"project": {"name": "torchgrade"}}:
            return True
        case _:
            return False


def _twice(found: Sequence[Assignment]) -> list[str]:
    first: dict[str, str] = {}
    problems = []
    for each in found:
        if each.id in first:
            problems.append(
                f"{each.folder.name}/assignment.toml, id: {shown(each.id)} is already"
                f" the id of {first[each.id]}"
            )
        first.setdefault(each.id, each.folder.name)
    return problems


# --- the digest ----------------------------------------------------------------------------


def digest_of(folder: Path) -> str:
    """SHA-256 over names and bytes of every file of the assignment that decides.

    These are the TOML files, `diagnosis.json` and everything below `suite/`; the same on every
    system. Statement, template, reference and gallery decide nothing.
    """
    from hashlib import sha256  # `grade list` works without it

    whole = sha256()
    for name, path in sorted(_deciding(folder)):
        # Both parts have a fixed form, so no two sets of files give the same stream.
        whole.update(f"{sha256(path.read_bytes()).hexdigest()}  {name!r}\n".encode())
    return whole.hexdigest()


def _deciding(folder: Path) -> Iterable[tuple[str, Path]]:
    for name in _DECIDING:
        if (folder / name).is_file():
            yield name, folder / name
    for path in (folder / "suite").rglob("*"):
        parts = path.relative_to(folder).parts
        # Written by Python and by desktops, also while the grader is at work.
        litter = path.suffix == ".pyc" or any(
            part == "__pycache__" or part.startswith(".") for part in parts
        )
        if path.is_file() and not litter:
            yield "/".join(parts), path


# --- reading -------------------------------------------------------------------------------


def load(folder: Path) -> Assignment:
    """The assignment in `folder`.

    Raises:
        AssignmentError: with every problem of assignment.toml and rubric.toml.
    """
    problems: list[str] = []
    folder = folder.resolve()
    paper = read_toml(folder / "assignment.toml", problems)
    rubric = read_toml(folder / "rubric.toml", problems)
    head = _head(paper, folder) if paper is not None else None
    # Without the functions, every name in the rubric would look wrong.
    functions = [each.name for each in head.entry_points] if head and not problems else None
    criteria = read_criteria(rubric, head.id if head else "", functions) if rubric else ()
    if problems or head is None:
        raise AssignmentError(*problems)
    return replace(head, criteria=criteria)


def _head(paper: Value, folder: Path) -> Assignment:
    """What assignment.toml says; the criteria are still to come."""
    part = paper.keys(
        required=("id", "version", "title", "entry_points"),
        optional=("variables", "limits", "hints", "packages", "probes"),
    )
    id = part["id"].matching(ID, _ID_WORDS) if "id" in part else ""
    entry_points = _entry_points(part["entry_points"]) if "entry_points" in part else ()
    names = [each.name for each in entry_points]
    return Assignment(
        id=id,
        title=title(part, f"{id}.title"),
        version=part["version"].text() if "version" in part else "",
        folder=folder,
        entry_points=entry_points,
        criteria=(),
        limits=_limits(part["limits"]) if "limits" in part else Limits(),
        variables=_variables(part["variables"], names) if "variables" in part else {},
        edition="staff" if (folder / "suite" / "test_hidden.py").is_file() else "student",
        hints=part["hints"].boolean() if "hints" in part else True,
        probes=read_probes(part["probes"], entry_points) if "probes" in part else (),
        packages=_packages(part["packages"]) if "packages" in part else None,
    )


def _packages(listed: Value) -> tuple[str, ...]:
    names: list[str] = []
    for item in listed.items():
        name = item.matching(PACKAGE, "a package's name, as it is installed or imported")
        if canonical(name) in map(canonical, names):
            item.say(f"{shown(name)} is listed twice")
        names.append(name)
    return tuple(names)


def _entry_points(listed: Value) -> tuple[EntryPoint, ...]:
    entry_points: list[EntryPoint] = []
    for item in listed.items(least=1):
        part = item.keys(required=("name", "parameters", "result"))
        parameters = _parameters(part["parameters"]) if "parameters" in part else ()
        name = part["name"].name() if "name" in part else ""
        if name and name in [each.name for each in entry_points]:
            part["name"].say(f"{shown(name)} is listed twice")
        entry_points.append(
            EntryPoint(
                name=name,
                parameters=parameters,
                result=_result(part["result"], parameters)
                if "result" in part
                else Result(kind="number"),
            )
        )
    return tuple(entry_points)


def _parameters(listed: Value) -> tuple[Parameter, ...]:
    parameters: list[Parameter] = []
    for item in listed.items():
        part = item.keys(required=("name", "kind"), optional=("optional",))
        name = part["name"].name() if "name" in part else ""
        kind = part["kind"].choice(("tensor", "number", "integer")) if "kind" in part else "tensor"
        optional = part["optional"].boolean() if "optional" in part else False
        if name and name in [each.name for each in parameters]:
            part["name"].say(f"{shown(name)} is listed twice")
        if not optional and any(each.optional for each in parameters):
            item.say("a parameter without optional = true after one with it")
        parameters.append(
            Parameter(
                name=name,
                kind=cast(Literal["tensor", "number", "integer"], kind),
                optional=optional,
            )
        )
    return tuple(parameters)


def _result(table: Value, parameters: Sequence[Parameter]) -> Result:
    part = table.keys(required=("kind",), optional=("like", "family"))
    kind = part["kind"].choice(("tensor", "number")) if "kind" in part else "tensor"
    families = ("float", "integer", "bool", "complex")
    family = part["family"].choice(families) if "family" in part else "float"
    like = part["like"].name() if "like" in part else None
    tensors = [each.name for each in parameters if each.kind == "tensor"]
    if like is not None and kind == "number":
        part["like"].say('only a result of kind "tensor" has a shape')
    elif like and like not in tensors:
        part["like"].say(f"no tensor parameter {shown(like)}{did_you_mean(like, tensors)}")
    return Result(
        kind=cast(Literal["tensor", "number"], kind),
        like=like,
        family=cast(Literal["float", "integer", "bool", "complex"], family),
    )


def _limits(table: Value) -> Limits:
    names = [each.name for each in fields(Limits)]
    seen: dict[str, float | int] = {
        name: value.seconds(most=_MOST_SECONDS)
        if name.endswith("_s")
        else value.integer(least=1, most=_MOST_UNITS)
        for name, value in table.keys(optional=names).items()
    }
    return Limits(**seen)  # type: ignore[arg-type]


def _variables(table: Value, functions: Sequence[str]) -> dict[str, str]:
    variables = {}
    for name, value in table.entries().items():
        if not name.isidentifier():
            value.say("expected a Python name on the left")
        function = variables[name] = value.name()
        # An entry point without a readable name is a problem of its own.
        if function and function not in functions and "" not in functions:
            value.say(f"no entry point {shown(function)}{did_you_mean(function, functions)}")
    return variables
