"""What happened while the source was loaded, in sentences: root causes, and what they take along.

A statement that failed for want of a name that an earlier one failed to bind is not told: its
cause is. All of it rests on claims of the worker; the sentences help people, and no point depends
on them.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.claims import clean
from grader.model import Died, Json, Place, Problem, Raised, Text
from grader.reading.newer import newer_name, running, spelt
from grader.reading.parsing import line_at
from grader.sandbox import refusals
from grader.sandbox.session import Session, Trouble
from grader.suite import causes
from grader.suite.raising import Known
from grader.texts import catalog

# More of them than this say nothing new.
MOST_TOLD = 20
_QUOTE_CHARACTERS = 120
_NO_NAME = re.compile(r"(?:name|free variable) '([^'\n]{1,100})'")
_NO_MEMBER = re.compile(r"cannot import name '([^'\n]{1,100})' from '([^'\n]{1,200})'")
_NOTES = ("compile",)
# Their own sentence says less than the sandbox's does.
_PERHAPS_REFUSED = ("raised", "sandbox", "network")


@dataclass(frozen=True, slots=True, kw_only=True)
class Causes:
    """The failures that no other one explains, and which of them each missing name goes back to."""

    roots: tuple[Trouble, ...] = ()
    of_name: Mapping[str, Trouble] = field(default_factory=dict)


def trace_back(troubles: Iterable[Trouble]) -> Causes:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What was told of the load up to a moment."""

    troubles: tuple[Trouble, ...]
    untold: int
    notes: frozenset[str]

    @staticmethod
    def by(session: Session) -> "Loaded":
        """Up to now."""
        return Loaded(
            troubles=tuple(session.troubles), untold=session.untold, notes=frozenset(session.notes)
        )


def problems(loaded: Loaded, known: Known) -> tuple[Problem, ...]:
    """The root causes as problems, at their places in the student's own file."""
    roots = trace_back(loaded.troubles).roots
    texts = [piece.text for piece in known.source.pieces]
    told = [_problem(each, texts, known) for each in roots[:MOST_TOLD]]
    if more := len(roots) - len(told) + loaded.untold:
        told.append(Problem(kind="more", message=catalog.text("problem.more_failed", count=more)))
    told += [
        Problem(kind="note", message=catalog.text(f"problem.note.{note}"))
        for note in sorted(loaded.notes)
        if note in _NOTES
    ]
    return tuple(told)


def place_of(trouble: Trouble) -> Place:
    """Line, cell, and the line's own text."""
    line = line_at(trouble.piece.text.split("\n"), trouble.line)
    return Place(line=trouble.line, cell=trouble.piece.cell, quote=line[:_QUOTE_CHARACTERS] or None)


def reason(trouble: Trouble) -> Text:
    """Why a statement failed: one clause, to stand after a colon."""
    seen = trouble.observation
    if isinstance(seen, Died):
        return catalog.text(f"problem.reason.{seen.cause}")
    if (newer := _newer(seen)) is not None:
        return catalog.text("problem.reason.newer", **newer)
    words = causes.words(seen.type, seen.message)
    if causes.kind_of(seen.type, seen.message) == "absent_module" and "module" in words:
        return catalog.text("problem.reason.no_module", module=_root(words))
    return catalog.text("problem.reason.raised", error=words["error"])


# --- one problem ---------------------------------------------------------------------------


def _problem(trouble: Trouble, texts: Sequence[str], known: Known) -> Problem:
    seen, place = trouble.observation, place_of(trouble)
    where = "file" if place.cell is None else "cell"
    match seen:
        case Died():
            kind: str = seen.cause
            parts = [catalog.text(f"problem.{where}.{seen.cause}")]
        case Raised():
            kind, code = causes.of_statement(
                seen, place.quote or "", texts, is_assert=trouble.is_assert
            )
            parts = list(_sentences(seen, code, where, place, known.layers))
    parts += _effects(trouble, place, known)
    return Problem(
        kind=kind,
        message=Text(
            code=parts[0].code,
            args={name: value for part in reversed(parts) for name, value in part.args.items()},
            en=_together([part.en for part in parts], " "),
            zh=_together([part.zh for part in parts], ""),
        ),
        place=place,
    )


def _sentences(
    seen: Raised, code: str, where: str, place: Place, layers: Collection[str]
) -> Iterator[Text]:
    """What failed, and the next step where there is one that is true."""
    if (newer := _newer(seen)) is not None:
        yield catalog.text("problem.newer", **newer)
        return
    args = causes.words(seen.type, seen.message)
    refused = refusals.explain(seen.type, seen.message, layers)
    if code in _PERHAPS_REFUSED and refused is not None:
        yield catalog.text(f"problem.{where}.raised", **args)
        yield refused
        return
    if code == "platform":
        args["platform"] = causes.platform(seen.type, seen.message, place.quote or "")
    elif code == "absent_module":
        args["module"] = _root(args)
    yield catalog.text(f"problem.{where}.{code}", **args)
    if code == "absent_module" and args["module"] not in KNOWN_LIBRARIES:
        yield catalog.text(f"problem.{where}.own_module")


def _effects(trouble: Trouble, place: Place, known: Known) -> Iterator[Text]:
    """What the failure takes along, and what it leaves as it was."""
    if trouble.annotation:
        yield catalog.text("problem.annotation")
        return
    if trouble.lost:
        yield catalog.text("problem.lost", names=list(trouble.lost))
    if trouble.kept:
        yield _kept(trouble.kept, place, known)


def _kept(names: Sequence[str], place: Place, known: Known) -> Text:
    """Which names are still what an earlier statement made them, with its place where it is one."""
    last = {_last_before(place, known.bound.get(name, ())) for name in names}
    before = last.pop() if len(last) == 1 else None
    if before is None or before.line is None:
        return catalog.text("problem.kept", kept=list(names))
    if before.cell is None:
        return catalog.text("problem.kept_line", kept=list(names), earlier=before.line)
    return catalog.text(
        "problem.kept_cell", kept=list(names), earlier=before.line, earlier_cell=before.cell
    )


def _last_before(place: Place, bound: Sequence[Place]) -> Place | None:
    here = (place.cell or 0, place.line or 0)
    earlier = [each for each in bound if (each.cell or 0, each.line or 0) < here]
    return earlier[-1] if earlier else None


def _together(sentences: Sequence[str], between: str) -> str:
    """One paragraph; after a sentence that ends with a colon or a new line the next one begins."""
    told = ""
    for sentence in sentences:
        if told.endswith((":", "：")):
            told += "\n"
        told += (between if told and not told.endswith("\n") else "") + sentence
    return told.strip()


def _newer(seen: Raised) -> dict[str, Json] | None:
    """A name of a newer Python's standard library than the one that grades, with both versions."""
    found = _NO_MEMBER.search(seen.message) if seen.type == "ImportError" else None
    needed = newer_name(found[2], found[1]) if found else None
    if found is None or needed is None:
        return None
    return {
        "name": clean(found[1], 100),
        "module": clean(found[2], 200),
        "needed": spelt(needed),
        "here": spelt(running()),
    }


def _root(words: Mapping[str, Json]) -> str:
    """The name under which people install a module."""
    return str(words.get("module", "")).partition(".")[0]


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
