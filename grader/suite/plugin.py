"""The pytest plugin of suites: `student`, `rng`, `shown`, and the marker `criterion`.

It is not installed into pytest; `pytest -p grader.suite.plugin SUITE --submission FILE` asks for
it. So nobody else's options, fixtures or folders named `grader` meet with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.errors import AssignmentError, GraderError
from grader.model import EntryPoint, Visibility

if TYPE_CHECKING:
    import torch

    from grader.sandbox.session import Session
    from grader.suite.debugging import Lent
    from grader.suite.rng import Rng
    from grader.suite.student import Student


@dataclass(slots=True, kw_only=True)
class Desk:
    """What the tests of the moment work on; the judge lays a new session on it."""

    assignment: str
    entry_points: dict[str, EntryPoint]
    seed: int = 0
    session: Session | None = None
    # Why the test of the moment gets no submission: a reason of `Spent`.
    refusal: str | None = None
    students: dict[str, Student] = field(default_factory=dict)


DESK = pytest.StashKey[Desk]()
LENT: pytest.StashKey[Lent] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("torchgrade")
    group.addoption(
        "--submission",
        metavar="FILE",
        help="run a suite of torchgrade against this file, e.g. under a debugger",
    )
    group.addoption("--submission-seed", type=int, default=0, metavar="N", help="of its inputs")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "criterion(id): the criterion that this test decides")


def pytest_unconfigure(config: pytest.Config) -> None:
    lent = config.stash.get(LENT, None)
    if lent is not None:
        lent.close()


@pytest.fixture
def student(request: pytest.FixtureRequest) -> Iterator[Student]:
    """The submission: `student.NAME(...)` calls its function NAME behind the boundary."""
    from grader.suite.student import Student

    desk = _desk(request)
    if desk.session is None:
        raise GraderError("no submission lies on the desk")
    if desk.refusal is not None:
        from grader.sandbox.session import Spent

        raise Spent(desk.refusal)
    made = Student(desk.session, desk.entry_points)
    desk.students[request.node.name] = made
    yield made
    desk.students.pop(request.node.name, None)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Rng:
    """Random inputs that depend on seed, assignment, test and parameter alone."""
    from grader.suite.rng import Rng

    desk = _desk(request)
    return Rng(desk.seed, desk.assignment, *test_key(request.node))


@pytest.fixture(scope="module")
def shown(request: pytest.FixtureRequest) -> dict[str, torch.Tensor]:
    """The stored float64 results of the shown tests, by name."""
    return read_values(request.path.parent / "public_values.json")


def read_values(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a `public_values.json`, float64.

    Raises:
        AssignmentError: when the file is missing or a value does not fit its shape.
    """
    import torch

    try:
        raw = json.loads(path.read_text("utf-8"))
        return {
            name: torch.tensor(value["values"], dtype=torch.float64).reshape(value["shape"])
            for name, value in raw.items()
        }
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise AssignmentError(f"{path.name}: {error}") from error


def visibility_of(item: pytest.Item) -> Visibility:
    """Tests of `test_hidden*.py` are hidden, all others shown."""
    return "hidden" if item.path.name.startswith("test_hidden") else "shown"


def criterion_of(item: pytest.Item) -> str:
    """The criterion that a test decides.

    Raises:
        AssignmentError: when the test names none.
    """
    marker = item.get_closest_marker("criterion")
    if marker is None or len(marker.args) != 1 or not isinstance(marker.args[0], str):
        raise AssignmentError(f'{item.nodeid}: needs @pytest.mark.criterion("ID")')
    return marker.args[0]


def is_settled(session: pytest.Session) -> bool:
    """Whether no fixture is up, as it must be while no test is under way."""
    # Only pytest's own state knows.
    return not session._setupstate.stack


def test_key(item: pytest.Item) -> tuple[str, str]:
    """Function name and parameter id of a test: `function[param]` is its id in reports."""
    function = getattr(item, "originalname", None) or item.name
    return function, item.name.removeprefix(function)


# pytest collects neither this module nor its helpers.
test_key.__test__ = False  # type: ignore[attr-defined]


def _desk(request: pytest.FixtureRequest) -> Desk:
    config = request.config
    desk = config.stash.get(DESK, None)
    if desk is not None:
        return desk
    file = config.getoption("--submission")
    if file is None:
        raise pytest.UsageError("this suite needs a submission: add --submission FILE")
    if LENT not in config.stash:
        from grader.suite.debugging import Lent

        config.stash[LENT] = Lent(Path(file), int(config.getoption("--submission-seed")))
    return config.stash[LENT].desk(request.path.parent.parent)
