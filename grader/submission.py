"""A file as it was handed in, and what can be understood of it without running it.

`read` opens it, `understand` takes it apart, `attribute` says which assignments it is for;
`missing`, `not_done` and `filled_variables` say what it lacks.
"""

import difflib
import hashlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path, PurePath

from grader.errors import UsageProblem
from grader.model import Kind, Language, OpenedFile, Problem, Reading, Submission
from grader.reading import cells, decoding, notebook, script
from grader.reading.attribution import (
    Candidate,
    attribute,
    did_you_mean,
    filled_variables,
    missing,
    not_done,
)
from grader.reading.looks import is_script
from grader.reading.places import code_at, locate
from grader.reading.shared import unreadable
from grader.reading.slimming import slim
from grader.texts import catalog
from grader.texts.names import visible
from grader.texts.reasons import why

# One door for the callers: how reading is split up behind it is nobody's business.
__all__ = [
    "MAX_BYTES",
    "MAX_FILE_BYTES",
    "Candidate",
    "attribute",
    "code_at",
    "did_you_mean",
    "filled_variables",
    "locate",
    "missing",
    "not_done",
    "read",
    "understand",
    "without_outputs",
]

# Of what is read: the code and text of a notebook, not its plots.
MAX_BYTES = 10 * 1024 * 1024
# Of the file as such. Far above what plots and videos make of a notebook, and still held in
# memory without thought: the outputs are cut out of the bytes before anything is parsed.
MAX_FILE_BYTES = 200 * 1024 * 1024

_SLIM_ABOVE = 1024 * 1024
_KINDS: dict[str, Kind] = {".py": "module", ".ipynb": "notebook"}
_MIB = 1024 * 1024


def read(
    path: Path,
    *,
    root: Path | None = None,
    student: str | None = None,
    attempt: int = 1,
    max_bytes: int = MAX_FILE_BYTES,
    language: Language = "en",
) -> OpenedFile:
    """The file, opened once; of one above `max_bytes` only the first byte more is kept.

    Args:
        root: the folder to which the submission's `file` is relative (else the path as typed).
        language: in which a usage problem speaks.

    Raises:
        UsageProblem: there is no such file, it cannot be opened, or it is no .py or .ipynb file.
    """
    try:
        refusal = _refusal(path, language)
        if refusal is not None:
            raise UsageProblem(refusal)
        with path.open("rb") as opened:
            content = opened.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        reason = why(error)
        message = catalog.say(language, "reading.cannot_open", file=_shown(path), reason=reason)
        raise UsageProblem(message) from error
    submission = Submission(
        file=_relative(path, root),
        kind=_KINDS[path.suffix.lower()],
        sha256=hashlib.sha256(content).hexdigest(),
        student=student,
        attempt=attempt,
    )
    return OpenedFile(submission=submission, content=content)


def understand(
    opened: OpenedFile, *, names: Collection[str] = (), max_bytes: int = MAX_BYTES
) -> Reading:
    """Units to run, top-level definitions, and problems with their places; never raises.

    A notebook saved as `.py`, or a script as `.ipynb`, is read as what it is, and told.

    Args:
        names: the entry points of all known assignments; only messages depend on them.
        max_bytes: of the file without outputs; the file as such may have MAX_FILE_BYTES.
    """
    if len(opened.content) > MAX_FILE_BYTES:
        return _too_large(opened, "file_too_large", MAX_FILE_BYTES)
    opened = without_outputs(opened, above=min(max_bytes, _SLIM_ABOVE))
    if len(opened.content) > max_bytes:
        return _too_large(opened, "too_large", max_bytes)
    told, kind = opened.submission.kind, _held_kind(opened)
    held = replace(opened, submission=replace(opened.submission, kind=kind))
    read_as = cells.understand if kind == "notebook" else script.understand
    reading = read_as(held, names)
    if kind == told or reading.unreadable:
        return reading
    problem = Problem(kind="wrong_ending", message=catalog.text(f"reading.held_{kind}"))
    return replace(reading, problems=(problem, *reading.problems))


def without_outputs(opened: OpenedFile, *, above: int = _SLIM_ABOVE) -> OpenedFile:
    """The file, of a notebook of more than `above` bytes without plots and attachments."""
    if opened.submission.kind != "notebook" or len(opened.content) <= above:
        return opened
    return replace(opened, content=slim(opened.content))


def _held_kind(opened: OpenedFile) -> Kind:
    """What the file holds, whatever its ending says; the ending where that is not certain."""
    kind = opened.submission.kind
    text = decoding.decode(opened.content, "module")
    if isinstance(text, Problem):
        return kind
    if kind == "module":
        return "notebook" if notebook.is_notebook(text) else "module"
    return "module" if is_script(text) else "notebook"


def _too_large(opened: OpenedFile, code: str, limit: int) -> Reading:
    message = catalog.text(f"reading.{code}", limit=max(limit // _MIB, 1))
    return unreadable(opened, Problem(kind="too_large", message=message))


# --- why a path cannot be read -----------------------------------------------------------


def _refusal(path: Path, language: Language) -> str | None:
    shown = _shown(path)
    if path.is_dir():
        inside = sorted(_shown(PurePath(each.name)) for each in path.iterdir() if _kind(each))
        if inside:
            return catalog.say(language, "reading.folder_with", file=shown, files=list(inside[:3]))
        return catalog.say(language, "reading.folder", file=shown)
    if not path.exists():
        near = _near(path)
        code = "reading.no_file_near" if near else "reading.no_file"
        return catalog.say(language, code, file=shown, near=near)
    if _kind(path) is None:
        inner = _kind(path.with_suffix(""))
        code = "reading.hidden_ending" if inner else "reading.other_ending"
        right = _shown(path.with_suffix("")) if inner else ""
        return catalog.say(language, code, file=shown, right=right)
    if not path.is_file():
        # A pipe or a device may never end.
        return catalog.say(language, "reading.no_regular_file", file=shown)
    return None


def _kind(path: Path) -> Kind | None:
    return _KINDS.get(path.suffix.lower())


def _near(path: Path) -> str | None:
    """A file beside the missing one whose name is close: same stem, other ending, a misspelling."""
    if not path.parent.is_dir():
        return None
    beside = sorted(each.name for each in path.parent.iterdir() if _kind(each))
    stem = path.stem.lower() if path.suffix.lower() in _KINDS else path.name.lower()
    same = [name for name in beside if PurePath(name).stem.lower() == stem]
    close = same or difflib.get_close_matches(path.name, beside, n=1, cutoff=0.7)
    return _shown(path.parent / close[0]) if close else None


# --- names of files ----------------------------------------------------------------------


def _relative(path: Path, root: Path | None) -> str:
    """The path with `/`; of an absolute path, or one that climbs, no more than the name."""
    if root is not None and path.is_relative_to(root):
        path = path.relative_to(root)
    inside = not path.is_absolute() and not path.drive and ".." not in path.parts
    return _shown(PurePath(path if inside else path.name), slash=True)


def _shown(path: PurePath, *, slash: bool = False) -> str:
    """The path as text that can be printed and stored, whatever bytes its name holds."""
    return visible(path.as_posix() if slash else str(path))
