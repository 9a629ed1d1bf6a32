"""Makes the folder of an assignment, whole or not at all; nothing is ever overwritten.

The files of the smallest assignment stand in `smallest.toml`.
"""

import re
import secrets
import shutil
import tomllib
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Final

from grader import assignment as assignments
from grader.errors import AssignmentError, UsageProblem
from grader.scaffold import numbers
from grader.scaffold.folders import Source, id_of
from grader.texts import catalog
from grader.texts.reasons import why

NAME: Final = "weight_tokens"
_BLANK: Final = "__ID__"
# The files in which the marker or the id may stand; everything else is copied byte by byte.
_REWRITTEN: Final = (".py", ".ipynb", ".md", ".toml")
_LITTER: Final = shutil.ignore_patterns(".*", "__pycache__", "*.pyc", "*.pyo", "*~", "*.egg-info")


def fresh(id: str, parent: Path) -> Path:
    """The folder of the smallest assignment that verifies, made in `parent`.

    Raises:
        UsageProblem: it cannot be written there.
    """

    def fill(draft: Path) -> None:
        for name, text in _smallest().items():
            (draft / name).parent.mkdir(parents=True, exist_ok=True)
            _write(draft / name, text.replace(_BLANK, id))

    return _made(parent / f"{id}_{NAME}", fill)


def copied(id: str, parent: Path, source: Source) -> Path:
    """The folder of a copy of `source` under a new id, made in `parent`; caches stay behind.

    Raises:
        UsageProblem: it cannot be written there.
        AssignmentError: the assignment cannot be read, or its id cannot be found.
        GraderError: no judge could give the numbers for `diagnosis.json`.
    """

    assignments.load(source.folder)

    def fill(draft: Path) -> None:
        # Contents only: of a folder that may not be written to, the copy may.
        shutil.copytree(
            source.folder,
            draft,
            ignore=_LITTER,
            copy_function=shutil.copyfile,
            dirs_exist_ok=True,
        )
        for path in sorted(draft.rglob("*")):
            if path.is_file() and path.suffix.lower() in _REWRITTEN:
                _rename(path, old=source.id, new=id)
        if id_of(draft) != id:
            raise AssignmentError(
                f'{source.folder.name}/assignment.toml, id: expected a line id = "{source.id}"'
            )
        if source.id != id:
            numbers.renew(draft)

    return _made(parent / _copy_name(source, id), fill)


def _copy_name(source: Source, id: str) -> str:
    """`hw4_rope` becomes `hw5_rope`, `rope` becomes `hw5_rope`, and `hw4` becomes `hw5`."""
    if source.folder.name == source.id:
        return id
    return f"{id}_{source.folder.name.removeprefix(f'{source.id}_')}"


def _rename(path: Path, *, old: str, new: str) -> None:
    """Puts the new id where the old one stands: the key, markers, and names of students' files."""
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return  # an accepted style in another encoding; its marker is found by nobody but people
    if path.name == "assignment.toml":
        changed = re.sub(
            rf"""^(\s*id\s*=\s*)(["']){re.escape(old)}\2""",
            rf"\g<1>\g<2>{new}\g<2>",
            text,
            count=1,
            flags=re.MULTILINE,
        )
    else:
        word = rf"(?<![\w-]){re.escape(old)}"
        changed = re.sub(rf"(torchgrade:\s*){word}(?![\w-])", rf"\g<1>{new}", text)
        changed = re.sub(rf"{word}(?=\.(?:py|ipynb)\b)", new, changed)
    if changed != text:
        _write(path, changed)


def _smallest() -> dict[str, str]:
    """The files of the smallest assignment, by path."""
    raw = resources.files("grader.scaffold").joinpath("smallest.toml").read_text("utf-8")
    return {name: str(text) for name, text in tomllib.loads(raw).items()}


def _write(path: Path, text: str) -> None:
    # Bytes: on Windows, too, suites have the line ends that their digest was made with.
    path.write_bytes(text.encode("utf-8"))


def _made(folder: Path, fill: Callable[[Path], None]) -> Path:
    """The folder, filled under a hidden name first, so that no half assignment is ever found."""
    draft = folder.parent / f".torchgrade-{secrets.token_hex(8)}"
    try:
        draft.mkdir(parents=True)
        fill(draft)
        if folder.exists():  # by another command in the meantime
            raise UsageProblem(catalog.text("cli.new.exists", folder=str(folder)))
        draft.rename(folder)
    except (OSError, shutil.Error) as error:
        reason = why(error)
        raise UsageProblem(
            catalog.text("cli.new.cannot_write", folder=str(folder), reason=reason)
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder
