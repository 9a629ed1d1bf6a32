"""Fixtures for live things: benches that workers come from, sessions with workers."""

import ast
import importlib.util
import os
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from grader.model import Limits, Piece, Source
from grader.reading.units import units
from grader.sandbox.forked import ForkedBench, available
from grader.sandbox.link import Bench, Output
from grader.sandbox.session import Session

# A busy machine is no mistake: nothing here is asserted about time.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

OpenSession = Callable[..., Session]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs libraries that are absent here, or the absence of some that are here."""
    for wanted in (True, False):
        for mark in item.iter_markers("with_libraries" if wanted else "without_libraries"):
            for name in mark.args:
                if (importlib.util.find_spec(name) is not None) is not wanted:
                    pytest.skip(f"{name} is {'not ' if wanted else ''}installed here")


class Lifeline:
    """A pipe whose writing end is held, as the front desk holds the judge's stdin."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()

    def abandoned(self) -> None:
        raise AssertionError("the lifeline hung up")

    def close(self) -> None:
        os.close(self.reader)
        os.close(self.writer)


@pytest.fixture(scope="module")
def lifeline() -> Iterator[Lifeline]:
    made = Lifeline()
    yield made
    made.close()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, lifeline: Lifeline) -> Iterator[ForkedBench]:
    """A zygote that all tests of a module share."""
    if not available():
        pytest.skip("this platform cannot fork workers")
    made = ForkedBench(folder_for(tmp_path_factory), lifeline.reader, lifeline.abandoned)
    yield made
    made.close()


def a_source(*cells: str) -> Source:
    """A script, or a notebook where there are several cells."""
    texts = [textwrap.dedent(each).strip("\n") for each in cells]
    single = len(texts) == 1
    return Source(
        kind="module" if single else "notebook",
        pieces=tuple(
            Piece(text=each, cell=None if single else number)
            for number, each in enumerate(texts, 1)
        ),
        units=units([ast.parse(each) for each in texts]),
    )


def a_session(bench: Bench, *cells: str, **limits: Any) -> Session:
    """A session with short limits; whoever opens it closes it."""
    chosen = Limits(**{"load_s": 5.0, "call_s": 0.4, "memory_mib": 256} | limits)
    return Session(
        bench=bench, source=a_source(*cells), limits=chosen, output=Output(chosen.output_kib)
    )


@pytest.fixture
def open_session(bench: ForkedBench) -> Iterator[OpenSession]:
    """Opens sessions on the module's zygote and closes them after the test."""
    opened: list[Session] = []

    def opener(*cells: str, **limits: Any) -> Session:
        opened.append(a_session(bench, *cells, **limits))
        return opened[-1]

    yield opener
    for session in opened:
        session.close()


def folder_for(factory: pytest.TempPathFactory) -> Path:
    return factory.mktemp("bench")
