"""The counts of a batch as Markdown, as a CI run shows them: no names, no ids, no files.

Only `summary.json`, which knows nobody, and the versions of `run.json` go into it. Titles come
from the course's own files; they are escaped all the same, so that none becomes markup.
"""

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grader.bulk import run_record
from grader.errors import UsageProblem
from grader.files import read_json
from grader.model import Language
from grader.texts import catalog
from grader.texts.reasons import why

# Up to so many points each score has a line of its own; above, as many ranges.
_MOST_LINES: Final = 11
_BAR: Final = 20
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]<>#|~$&:@!./]")
_STATUSES: Final = (
    *("graded", "unreadable", "grader_failed", "suite_failed", "pending", "missing"),
    *("no_source", "late", "other_assignment", "ambiguous", "rival"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a digest tells of `run.json`.

    Args:
        level: the weakest sandbox level of any submission; None where nothing was run.
        part: index and number of parts; None for a whole class.
    """

    grader_version: str
    python: str
    torch: str
    demanded: str
    level: str | None
    part: tuple[int, int] | None = None


def circumstances(run: Mapping[str, Any]) -> Circumstances:
    shard = run["shard"]
    return Circumstances(
        grader_version=run["grader_version"],
        python=run["python"],
        torch=run["torch"],
        demanded=run["sandbox"]["demanded"],
        level=run["sandbox"]["level"],
        part=(shard["index"], shard["count"]) if shard else None,
    )


def of(folder: Path, language: Language) -> str:
    """The digest of a folder that `grade batch` or `grade merge` wrote.

    Raises:
        UsageProblem: it is not such a folder.
    """
    counts = read_json(folder / "summary.json")
    if not isinstance(counts, dict):
        file = str(folder / "summary.json")
        raise UsageProblem(catalog.text("file.not_a_summary", file=file))
    return markdown(counts, circumstances(run_record.read(folder)), language)


def append(path: Path, digest: str) -> None:
    """Put the digest below whatever the file holds already.

    Raises:
        UsageProblem: naming the file.
    """
    try:
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(digest)
    except OSError as error:
        reason = why(error)
        said = catalog.text("bulk.digest.cannot_write", file=str(path), reason=reason)
        raise UsageProblem(said) from error


def markdown(counts: Mapping[str, Any], under: Circumstances, language: Language) -> str:
    """GitHub-flavoured Markdown; it begins with an empty line, so that it can be appended.

    Args:
        counts: the content of `summary.json`.
    """
    say = _Speaker(language)
    blocks = [f"## {say('heading')}"]
    if under.part is not None:
        blocks.append(say("part", index=under.part[0], count=under.part[1]))
    blocks.append(_whole(counts, say))
    for id_, each in counts["assignments"].items():
        blocks += _assignment(id_, each, say)
    blocks.append("\n".join(f"- {each}" for each in _below(counts, under, say)))
    return "\n" + "\n\n".join(blocks) + "\n"


def escaped(text: str) -> str:
    """The text as one line of Markdown that shows it as it is, also in a table."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    return _MARKUP.sub(r"\\\g<0>", " ".join(plain.split()))


@dataclass(frozen=True, slots=True)
class _Speaker:
    """Says the sentences of digests in one language."""

    language: Language

    def __call__(self, code: str, **args: Any) -> str:
        return catalog.say(self.language, f"bulk.digest.{code}", **args)


def _whole(counts: Mapping[str, Any], say: _Speaker) -> str:
    rows = [
        (say(key), str(counts[key])) for key in ("students", "planned", "unattributed", "aside")
    ]
    return _table(("", ""), rows)


def _assignment(id_: str, each: Mapping[str, Any], say: _Speaker) -> Iterator[str]:
    title = each["title"][say.language] if each["title"] else ""
    yield f"### {escaped(id_)}  {escaped(title)}".rstrip()
    told = [say(key, number=each[key]) for key in _STATUSES if each.get(key)]
    yield say("statuses", parts=catalog.clauses(say.language, told)) if told else say("nobody")
    scores = [int(score) for score, number in each["scores"].items() for _ in range(number)]
    if scores:
        yield _middle(scores, each["max_score"], say)
        yield _histogram(scores, each["max_score"], say)
    else:
        yield say("no_scores")
    if any(criterion["decided"] for criterion in each["criteria"]):
        yield _criteria(each["criteria"], say)


def _middle(scores: Sequence[int], most: int, say: _Speaker) -> str:
    """Mean, median and quartiles.

    Quartiles are interpolated between the two neighbouring scores, the lowest score being the
    0 % and the highest the 100 % point (definition 7 of Hyndman and Fan, 1996).
    """
    several = scores if len(scores) > 1 else [*scores, *scores]
    lower, median, upper = statistics.quantiles(several, n=4, method="inclusive")
    return say(
        "middle",
        number=len(scores),
        max=most,
        mean=f"{statistics.fmean(scores):.1f}",
        median=f"{median:g}",
        lower=f"{lower:g}",
        upper=f"{upper:g}",
    )


def _histogram(scores: Sequence[int], most: int, say: _Speaker) -> str:
    width = -(-(most + 1) // _MOST_LINES)
    ranges = [(low, min(low + width - 1, most)) for low in range(0, most + 1, width)]
    numbers = [sum(low <= score <= high for score in scores) for low, high in ranges]
    rows = [
        (f"{low}" if low == high else f"{low}–{high}", str(number), _bar(number, max(numbers)))
        for (low, high), number in zip(ranges, numbers, strict=True)
    ]
    return _table((say("score"), say("submissions"), ""), rows, left=(2,))


def _bar(number: int, most: int) -> str:
    return "█" * (max(1, round(_BAR * number / most)) if number else 0)


def _criteria(criteria: Sequence[Mapping[str, Any]], say: _Speaker) -> str:
    rows = []
    for each in criteria:
        of = say("of", earned=each["earned"], decided=each["decided"])
        share = f"{100 * each['earned'] / each['decided']:.0f} %" if each["decided"] else "–"
        rows.append((escaped(each["title"][say.language]), str(each["points"]), of, share))
    return _table((say("criterion"), say("points"), say("earned"), say("share")), rows, left=(0,))


def _below(counts: Mapping[str, Any], under: Circumstances, say: _Speaker) -> Iterator[str]:
    unofficial = counts["unofficial"]
    yield say("unofficial", number=unofficial) if unofficial else say("official")
    level = under.level or say("not_run")
    yield say("sandbox", level=escaped(level), demanded=escaped(under.demanded))
    yield say(
        "versions",
        grader=escaped(under.grader_version),
        python=escaped(under.python),
        torch=escaped(under.torch),
    )


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[int] = (0,)
) -> str:
    """Numbers stand to the right, the columns `left` to the left."""
    rule = [":---" if at in left else "---:" for at in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))
