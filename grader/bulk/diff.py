"""Whose scores moved between two batches."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grader.bulk import run_record, tables
from grader.errors import UsageProblem
from grader.files import read_json
from grader.model import Text
from grader.texts import catalog

_CONDITIONS: Final = ("grader_version", "python", "torch", "seed", "until")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A criterion, by its title (of the newer report), and how many points more it earned."""

    title: Text
    change: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One score that is another one now; None where there is none (missing, failed, pending).

    Args:
        criteria: each that earned another number of points, by its title.
    """

    student: str
    assignment: str
    old: int | None
    new: int | None
    criteria: tuple[Shift, ...] = ()

    @property
    def change(self) -> int:
        return (self.new or 0) - (self.old or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Args: compared: how many scores there are in either; conditions: (key, old, new)."""

    moves: tuple[Move, ...]
    compared: int
    conditions: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Score:
    score: int | None
    earned: Mapping[str, int | None]
    titles: Mapping[str, Text]


def compare(old: Path, new: Path) -> Comparison:
    """What moved, who lost most first.

    Raises:
        UsageProblem: a folder is not one that `grade batch` wrote.
    """
    before, after = run_record.read(old), run_record.read(new)
    if before["pseudonym_key"] != after["pseudonym_key"]:
        # Everybody has another name in one of them: it would seem that all scores moved.
        raise UsageProblem(catalog.text("cli.diff.pseudonyms", old=str(old), new=str(new)))
    olds, news = dict(_scores(old, before)), dict(_scores(new, after))
    keys = sorted(olds.keys() | news.keys())
    moves = [move for key in keys if (move := _move(key, olds.get(key), news.get(key)))]
    return Comparison(
        moves=tuple(sorted(moves, key=lambda each: each.change)),
        compared=len(keys),
        conditions=tuple(_conditions(before, after)),
    )


def _move(key: tuple[str, str], old: _Score | None, new: _Score | None) -> Move | None:
    before, after = old.score if old else None, new.score if new else None
    if before == after:
        return None
    mine, theirs = (old.earned if old else {}), (new.earned if new else {})
    titles = {**(old.titles if old else {}), **(new.titles if new else {})}
    criteria = tuple(
        Shift(title=titles[id_], change=difference)
        for id_ in dict.fromkeys((*mine, *theirs))
        if (difference := (theirs.get(id_) or 0) - (mine.get(id_) or 0))
    )
    return Move(student=key[0], assignment=key[1], old=before, new=after, criteria=criteria)


def _scores(folder: Path, run: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], _Score]]:
    for each in run["planned"]:
        if not each["counts"]:
            continue
        key = (each["student"], each["assignment"])
        path = folder / "reports" / each["report"]
        # A run that was interrupted has no report yet.
        staff: Any = read_json(path) if path.is_file() else None
        try:
            score = tables.row(staff).score if staff else None
            criteria = staff["criteria"] if staff else []
            earned = {one["id"]: one["earned"] for one in criteria}
            titles = {one["id"]: _title(one) for one in criteria}
        except (KeyError, TypeError) as error:
            said = catalog.text("file.not_a_report", file=str(path))
            raise UsageProblem(said) from error
        yield key, _Score(score=score, earned=earned, titles=titles)


def _title(criterion: Mapping[str, Any]) -> Text:
    said = criterion["title"]
    return Text(code=criterion["id"], en=str(said["en"]), zh=str(said["zh"]))


def _conditions(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    for key in _CONDITIONS:
        if before[key] != after[key]:
            yield key, str(before[key]), str(after[key])
    olds = {each["id"]: each["digest"][:12] for each in before["assignments"]}
    news = {each["id"]: each["digest"][:12] for each in after["assignments"]}
    for id_ in sorted(olds.keys() & news.keys()):
        if olds[id_] != news[id_]:
            yield id_, olds[id_], news[id_]
