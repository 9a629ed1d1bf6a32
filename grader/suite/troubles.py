"""What happened while the source was loaded, in sentences: root causes, and what they take along.

A statement that failed for want of a name that an earlier one failed to bind is not told: its
cause is. All of it rests on claims of the worker; the sentences help people, and no point depends
on them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.claims import clean
from grader.model import Died, Json, Place, Problem, Raised, Text
from grader.reading.parsing import line_at
from grader.sandbox.session import Session, Trouble
from grader.sandbox.wire import NO_INPUT
from grader.texts import catalog

# More of them than this say nothing new.
MOST_TOLD = 20
_NO_NAME = re.compile(r"(?:name|free variable) '([^'\n]{1,100})'")
_NO_MODULE = re.compile(r"No module named '([^'\n]{1,200})'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Causes:
    """The failures that no other one explains, and which of them each missing name goes back to."""

    roots: tuple[Trouble, ...] = ()
    of_name: Mapping[str, Trouble] = field(default_factory=dict)


def causes(troubles: Iterable[Trouble]) -> Causes:
    """Root causes, in the order in which they happened."""
    roots: list[Trouble] = []
    of_name: dict[str, Trouble] = {}
    for trouble in troubles:
        root = of_name.get(missing_name(trouble.observation) or "")
        if root is None:
            root = trouble
            roots.append(trouble)
        of_name |= dict.fromkeys(trouble.lost, root)
    return Causes(roots=tuple(roots), of_name=of_name)


def missing_name(seen: Raised | Died) -> str | None:
    """The name whose absence this exception tells."""
    if not isinstance(seen, Raised) or seen.type != "NameError":
        return None
    found = _NO_NAME.search(seen.message)
    return found[1] if found else None


def problems(session: Session) -> tuple[Problem, ...]:
    """The root causes as problems, at their places in the student's own file."""
    known = causes(session.troubles)
    told = [_problem(each) for each in known.roots[:MOST_TOLD]]
    if more := len(known.roots) - len(told) + session.untold:
        told.append(Problem(kind="more", message=catalog.text("problem.more_failed", count=more)))
    told += [
        Problem(kind="note", message=catalog.text(f"problem.note.{note}"))
        for note in sorted(session.notes)
        if note in _NOTES
    ]
    return tuple(told)


_NOTES = ("compile",)


def place_of(trouble: Trouble) -> Place:
    """Line, cell, and the line's own text."""
    line = line_at(trouble.piece.text.split("\n"), trouble.line)
    return Place(line=trouble.line, cell=trouble.piece.cell, quote=line[:120] or None)


def reason(trouble: Trouble) -> Text:
    """Why a statement failed: one clause, to stand after a colon."""
    seen = trouble.observation
    if isinstance(seen, Died):
        return catalog.text(f"problem.reason.{seen.cause}")
    module = absent_module(seen)
    if module is not None:
        return catalog.text("problem.reason.no_module", module=module)
    args: dict[str, Json] = {"type": clean(seen.type, 100), "message": clean(seen.message, 300)}
    return catalog.text("problem.reason.raised" if seen.message else "problem.reason.bare", **args)


def absent_module(seen: Raised | Died) -> str | None:
    """The library that is not there, by the name that people install."""
    if not isinstance(seen, Raised) or seen.type not in ("ModuleNotFoundError", "ImportError"):
        return None
    found = _NO_MODULE.search(seen.message)
    return clean(found[1], 100).partition(".")[0] if found else None


# --- one problem ---------------------------------------------------------------------------


def _problem(trouble: Trouble) -> Problem:
    seen = trouble.observation
    where = "file" if trouble.piece.cell is None else "cell"
    match seen:
        case Died():
            kind: str = seen.cause
            parts = [catalog.text(f"problem.{where}.{seen.cause}")]
        case Raised():
            kind = _kind_of(trouble, seen)
            parts = list(_sentences(trouble, seen, where))
    parts += _effects(trouble)
    args: dict[str, Json] = {}
    for part in reversed(parts):
        args |= part.args
    return Problem(
        kind=kind,
        message=Text(
            code=parts[0].code,
            args=args,
            en=_together([part.en for part in parts], " "),
            zh=_together([part.zh for part in parts], ""),
        ),
        place=place_of(trouble),
    )


def _together(sentences: Sequence[str], between: str) -> str:
    """One paragraph; a sentence that ends with a new line begins the next."""
    told = ""
    for sentence in sentences:
        told += (between if told and not told.endswith("\n") else "") + sentence
    return told.strip()


def _sentences(trouble: Trouble, seen: Raised, where: str) -> Iterator[Text]:
    """What failed, and the next step where there is one that is true."""
    module = absent_module(seen)
    if module is not None:
        yield catalog.text("problem.import_error", module=module)
        if module not in KNOWN_LIBRARIES:
            yield catalog.text(f"problem.{where}.own_module", module=module)
    elif seen.message == NO_INPUT:
        yield catalog.text(f"problem.{where}.input")
    elif trouble.is_assert:
        code = "problem.assertion" if seen.message else "problem.assertion_bare"
        yield catalog.text(code, type=seen.type, message=clean(seen.message, 300))
    else:
        yield _plainly(seen)
        yield from _next_step(trouble, seen, where)


def _plainly(seen: Raised) -> Text:
    args: dict[str, Json] = {"type": clean(seen.type, 100), "message": clean(seen.message, 600)}
    return catalog.text("problem.raised" if seen.message else "problem.bare", **args)


def _next_step(trouble: Trouble, seen: Raised, where: str) -> Iterator[Text]:
    absent = missing_name(seen)
    if trouble.annotation:
        yield catalog.text("problem.annotation")
    elif absent is not None:
        yield catalog.text(f"problem.{where}.no_name", name=clean(absent, 100))
    elif seen.type in ("FileNotFoundError", "NotADirectoryError"):
        yield catalog.text(f"problem.{where}.no_file")
    elif seen.type == "SystemExit":
        yield catalog.text("problem.system_exit")


def _effects(trouble: Trouble) -> Iterator[Text]:
    if trouble.lost:
        yield catalog.text("problem.lost", names=list(trouble.lost), count=len(trouble.lost))
    if trouble.kept and not trouble.annotation:
        yield catalog.text("problem.kept", names=list(trouble.kept))


def _kind_of(trouble: Trouble, seen: Raised) -> str:
    if trouble.is_assert:
        return "assertion"
    if seen.type in ("ImportError", "ModuleNotFoundError"):
        return "import_error"
    return "memory" if seen.type == "MemoryError" else "raised"


# Of these nobody has a file of their own.
KNOWN_LIBRARIES = frozenset(
    {"IPython", "PIL", "accelerate", "bs4", "cv2", "datasets", "einops", "gensim", "google"}
    | {"huggingface_hub", "ipywidgets", "jax", "jaxtyping", "keras", "lightning", "matplotlib"}
    | {"mpl_toolkits", "networkx", "nltk", "numba", "pandas", "plotly", "pytorch_lightning"}
    | {"requests", "scipy", "seaborn", "sentencepiece", "sklearn", "skimage", "spacy", "sympy"}
    | {"tensorboard", "tensorboardX", "tensorflow", "tiktoken", "timm", "tokenizers"}
    | {"torchaudio", "torchinfo", "torchsummary", "torchtext", "torchvision", "tqdm"}
    | {"transformers", "wandb", "yaml"}
)
