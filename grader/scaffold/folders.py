"""Where a new assignment goes, which id it may have, and whose copy it is."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader import assignment as assignments
from grader.assignment import ID
from grader.errors import UsageProblem
from grader.model import Json
from grader.texts import catalog
from grader.texts.reasons import why


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An assignment that is to be copied: its folder and the id that it has now."""

    folder: Path
    id: str


def parent(named: Path | None, edition: Path | None) -> Path:
    """The folder in which the new assignment is made; it need not exist yet.

    Args:
        named: by `--assignments` or `GRADE_ASSIGNMENTS`.
        edition: the assignments of the checkout; None in the student edition, whose own folder
            belongs to the installed package and goes with it.

    Raises:
        UsageProblem: no folder is named where one is needed, or it cannot hold assignments.
    """
    folder = named or edition
    if folder is None:
        raise _problem("no_place")
    try:
        no_folder = folder.exists() and not folder.is_dir()
        itself = (folder / "assignment.toml").is_file()
    except OSError as error:  # e.g. a name that is too long
        reason = why(error)
        raise _problem("cannot_write", folder=str(folder), reason=reason) from error
    if no_folder:
        raise _problem("not_a_folder", folder=str(folder))
    if itself:
        # What lies inside of an assignment is never searched for others.
        raise _problem("inside", folder=str(folder), outer=str(folder.absolute().parent))
    return folder


def checkout() -> Path | None:
    """The assignments of the checkout that `grader` was imported from; None where it has none."""
    package = Path(assignments.__file__).resolve().parent
    found = assignments.search_folders(None, {})
    return next((each for each in found if package not in each.parents), None)


def refuse(id: str, parent: Path) -> None:
    """Nothing for an id that may be used in `parent`.

    Raises:
        UsageProblem: it is not an id, or something in `parent` is called by it.
    """
    if not re.fullmatch(ID, id):
        raise _problem("id", id=id)
    for folder in _subfolders(parent):
        found = id_of(folder)
        # A folder whose assignment.toml cannot be read has only its name to tell the id.
        called = folder.name.lower() == id or folder.name.lower().startswith(f"{id}_")
        if found == id or (found is None and called):
            raise _problem("taken", id=id, folder=str(folder))


def source(id: str, *places: Path | None) -> Source:
    """The assignment with this id in the first of these folders that has it.

    Raises:
        UsageProblem: none has it; it lists those that can be copied.
    """
    known: list[Json] = []
    for place in dict.fromkeys(each for each in places if each is not None):
        for folder in _subfolders(place):
            found = id_of(folder)
            if found == id.lower():
                return Source(folder=folder, id=found)
            known += [found] if found is not None and found not in known else []
    if not known:
        raise _problem("nothing_to_copy", id=id)
    raise _problem("no_such_source", id=id, known=known)


def id_of(folder: Path) -> str | None:
    """The id in a folder's assignment.toml; whatever else is wrong there is no matter here."""
    try:
        found = tomllib.loads((folder / "assignment.toml").read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError):
        return None
    return found["id"] if isinstance(found.get("id"), str) else None


def _subfolders(parent: Path) -> Iterator[Path]:
    if parent.is_dir():
        yield from (each for each in sorted(parent.iterdir()) if each.is_dir())


def _problem(code: str, **args: catalog.Filling) -> UsageProblem:
    return UsageProblem(catalog.text(f"cli.new.{code}", **args))
