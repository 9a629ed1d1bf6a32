"""Records as plain JSON, and back: what crosses the pipes between the grader's own processes.

Nothing is pickled. Whoever reads such JSON back checks no types: both ends are ours, and what
student code said stands inside of texts.
"""

from collections.abc import Mapping
from typing import Any

from grader.model import (
    Definition,
    Passage,
    Piece,
    Place,
    Problem,
    Reading,
    Source,
    Submission,
    Text,
    Unit,
)


def fields_of(record: Any) -> dict[str, Any]:
    """The fields of a record, for `json.dumps(…, default=fields_of)`."""
    return {name: getattr(record, name) for name in record.__slots__}


def text_from(raw: Mapping[str, Any] | None) -> Text | None:
    return None if raw is None else Text(**raw)


def problem_from(raw: Mapping[str, Any]) -> Problem:
    return Problem(kind=raw["kind"], message=Text(**raw["message"]), place=Place(**raw["place"]))


def source_from(raw: Mapping[str, Any]) -> Source:
    return Source(
        kind=raw["kind"],
        pieces=tuple(Piece(**piece) for piece in raw["pieces"]),
        units=tuple(Unit(**{**unit, "names": tuple(unit["names"])}) for unit in raw["units"]),
        converted=raw["converted"],
    )


def reading_from(raw: Mapping[str, Any]) -> Reading:
    return Reading(
        submission=Submission(**raw["submission"]),
        source=source_from(raw["source"]) if raw["source"] else None,
        definitions={name: _definition_from(each) for name, each in raw["definitions"].items()},
        problems=tuple(problem_from(each) for each in raw["problems"]),
        unreadable=raw["unreadable"],
        marker=raw["marker"],
        unread=tuple(raw["unread"]),
        open_ended=raw["open_ended"],
        imports=tuple(raw["imports"]),
        nested={name: Place(**place) for name, place in raw["nested"].items()},
        passages=tuple(Passage(**each) for each in raw["passages"]),
    )


def _definition_from(raw: Mapping[str, Any]) -> Definition:
    places = {name: Place(**raw[name]) for name in ("blank", "rebound") if raw[name]}
    return Definition(
        name=raw["name"],
        kind=raw["kind"],
        place=Place(**raw["place"]),
        earlier=tuple(Place(**each) for each in raw["earlier"]),
        quoted=raw["quoted"],
        **places,
    )
