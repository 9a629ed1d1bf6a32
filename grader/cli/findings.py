"""The findings of `grade verify` as a table that course authors can read."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from grader.cli.layout import Line, columns, cut, pad, wrap
from grader.cli.root import Desk
from grader.texts import catalog

if TYPE_CHECKING:
    from grader.verifying.records import Row, RowVerdict, Survivor, Verification

_MOST_DETAILS: Final = 12
_WIDEST_ID: Final = 34
_COLOURS: Final = {"ok": "green", "warning": "yellow", "failed": "red"}


def draw(found: "Verification", here: Desk) -> list[Line]:
    """The screen of one assignment: rows, prices, surviving mutants, the verdict."""
    title = found.title.in_language(here.language)
    lines = [Line(text=found.id if title == found.id else f"{found.id}  {title}"), Line(text="")]
    lines += [line for row in found.rows for line in _row(row, found, here)]
    if found.prices:
        lines += [Line(text=""), Line(text=here.say("cli.verify.prices")), Line(text="")]
        lines += _prices(found, here)
    if found.survivors:
        lines += [Line(text=""), Line(text=here.say("cli.verify.survivors")), Line(text="")]
        lines += [line for each in found.survivors for line in _survivor(each, here)]
    if found.mutants:
        lines += [Line(text=""), *_plain(wrap(_killed(found, here)))]
    return [*lines, Line(text=""), *_plain(wrap(_verdict(found, here)))]


def _row(row: "Row", found: "Verification", here: Desk) -> Iterator[Line]:
    verdicts = [_word(each, here) for each in _COLOURS]
    names = [here.say(f"verify.check.{each.check}") for each in found.rows]
    word = _word(row.verdict, here)
    head = "  " + pad(word, max(map(columns, verdicts))) + "  "
    head += pad(here.say(f"verify.check.{row.check}"), max(map(columns, names))) + "  "
    for at, sentence in enumerate(_details(row, found, here)):
        first = head if at == 0 else " " * columns(head)
        for number, text in enumerate(wrap(sentence, first=first)):
            marked = at == 0 and number == 0
            yield Line(text=text, word=word if marked else "", colour=_COLOURS[row.verdict])


def _word(verdict: "RowVerdict | str", here: Desk) -> str:
    return here.say(f"verify.verdict.{verdict}")


def _details(row: "Row", found: "Verification", here: Desk) -> list[str]:
    if any(each.code == "verify.survivor" for each in row.details):
        # They stand below, in full.
        return [_killed(found, here)]
    told = [each.in_language(here.language) for each in row.details]
    if len(told) > _MOST_DETAILS:
        rest = len(told) - _MOST_DETAILS
        return [*told[:_MOST_DETAILS], here.say("cli.verify.and_more", count=rest)]
    return told or [""]


def _prices(found: "Verification", here: Desk) -> Iterator[Line]:
    worth = [
        here.say("cli.verify.price", points=each.points, of=found.points) for each in found.prices
    ]
    widest = max(map(columns, worth))
    ids = min(_WIDEST_ID, max(columns(each.id) for each in found.prices))
    for each, points in zip(found.prices, worth, strict=True):
        first = "  " + " " * (widest - columns(points)) + points + "  "
        first += pad(cut(each.id, ids), ids) + "  "
        criteria = catalog.say(here.language, "verify.problem", problem=[*each.criteria])
        yield from _plain(wrap(criteria or here.say("cli.verify.nothing"), first=first))


def _survivor(each: "Survivor", here: Desk) -> Iterator[Line]:
    line = here.say("cli.verify.line", line=each.mutant.line)
    first = f"  {line}  "
    blank = " " * columns(first)
    yield from _plain(wrap(f"- {each.mutant.old}", first=first, rest=blank + "  "))
    yield from _plain(wrap(f"+ {each.mutant.new}", first=blank, rest=blank + "  "))
    reason = here.say("cli.verify.unexplained")
    if each.reason is not None:
        reason = here.say("cli.verify.reason", reason=each.reason)
    yield from _plain(wrap(reason, first=blank))


def _killed(found: "Verification", here: Desk) -> str:
    equivalent = sum(each.reason is not None for each in found.survivors)
    return here.say(
        "cli.verify.killed",
        killed=found.mutants - len(found.survivors),
        made=found.mutants,
        equivalent=equivalent,
        alive=len(found.survivors) - equivalent,
    )


def _verdict(found: "Verification", here: Desk) -> str:
    failed, warned = _named(found, "failed", here), _named(found, "warning", here)
    if failed:
        return here.say("cli.verify.not_proven", id=found.id, failed=failed)
    if warned:
        return here.say("cli.verify.with_warnings", id=found.id, warnings=warned)
    return here.say("cli.verify.proven", id=found.id)


def _named(found: "Verification", verdict: str, here: Desk) -> list[str]:
    rows = [row for row in found.rows if row.verdict == verdict]
    return [here.say(f"verify.check.{row.check}") for row in rows]


def _plain(rows: Sequence[str]) -> list[Line]:
    return [Line(text=row) for row in rows]
