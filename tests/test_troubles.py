"""What is told of statements that failed: root causes only, with what they take along."""

import pytest

from grader.model import Died, Piece, Place, Raised, Source, Unit
from grader.sandbox.session import Session, Trouble
from grader.suite import troubles
from grader.suite.raising import Known


def a_trouble(
    error: str,
    *,
    line: int = 1,
    text: str = "",
    cell: int | None = None,
    lost: tuple[str, ...] = (),
    kept: tuple[str, ...] = (),
    annotation: bool = False,
) -> Trouble:
    """A failed statement; `error` is `Type: message`."""
    type_, _, message = error.partition(": ")
    return Trouble(
        piece=Piece(text=text or "x = 1\n" * line, cell=cell),
        line=line,
        observation=Raised(type=type_, message=message),
        lost=lost,
        kept=kept,
        annotation=annotation,
    )


def a_loaded_session(*found: Trouble, untold: int = 0, notes: tuple[str, ...] = ()) -> Session:
    """A session as it is after the load; nothing more is asked of it."""
    pieces = tuple({each.piece: None for each in found}) or (Piece(text="x = 1"),)
    source = Source(kind="module", pieces=pieces, units=(Unit(piece=0),))
    opened = Session(bench=None, source=source, limits=None, output=None)  # type: ignore[arg-type]
    opened.troubles, opened.untold, opened.notes = list(found), untold, set(notes)
    return opened


def known(layers: tuple[str, ...] = (), **bound: tuple[Place, ...]) -> Known:
    source = Source(kind="module", pieces=(), units=())
    return Known(source=source, layers=layers, bound=bound)


def sentences(*found: Trouble, layers: tuple[str, ...] = ("seccomp", "landlock")) -> list[str]:
    return [each.message.en for each in troubles.problems(a_loaded_session(*found), known(layers))]


NO_PLT = a_trouble(
    "ModuleNotFoundError: No module named 'matplotlib'",
    text="import matplotlib.pyplot as plt",
    lost=("plt",),
)


def test_what_follows_from_a_missing_import_is_not_told() -> None:
    figure = a_trouble("NameError: name 'plt' is not defined", line=5, lost=("fig", "ax"))
    saved = a_trouble("NameError: name 'fig' is not defined", line=9)

    assert sentences(NO_PLT, figure, saved) == [
        "matplotlib is not installed where this is graded. Because of it there is no plt."
    ]


def test_every_name_goes_back_to_the_statement_that_began_it() -> None:
    figure = a_trouble("NameError: name 'plt' is not defined", line=5, lost=("fig",))
    other = a_trouble("ZeroDivisionError: division by zero", line=7, lost=("y",))

    found = troubles.trace_back([NO_PLT, figure, other])

    assert found.roots == (NO_PLT, other)
    assert {name: root.line for name, root in found.of_name.items()} == {"plt": 1, "fig": 1, "y": 7}


def test_a_name_of_nobody_is_a_cause_of_its_own() -> None:
    (told,) = sentences(NO_PLT, a_trouble("NameError: name 'np' is not defined", line=2))[1:]

    assert told.startswith("NameError: name 'np' is not defined\n")


def test_a_module_that_may_be_the_students_own_has_its_next_step() -> None:
    found = a_trouble("ModuleNotFoundError: No module named 'utils.rope'", lost=("rope",))

    assert sentences(found) == [
        "utils is not installed where this is graded. If it is a file of your own, copy its code"
        " into this one. Because of it there is no rope."
    ]


def test_an_earlier_value_that_stays_is_told() -> None:
    found = a_trouble("ZeroDivisionError: division by zero", kept=("scale",))

    assert sentences(found) == [
        "ZeroDivisionError: division by zero\nBecause of it scale keeps its earlier value."
    ]


def test_the_binding_that_stays_is_told_with_its_place() -> None:
    found = a_trouble("ZeroDivisionError: division by zero", line=20, kept=("f",))
    places = (Place(line=3), Place(line=9), Place(line=20))

    (told,) = troubles.problems(a_loaded_session(found), known(f=places))

    assert told.message.en.endswith("Because of it f is still what line 9 made it.")
    assert told.message.args["kept"] == ["f"]


def test_a_name_of_a_newer_python_is_told_with_both_versions_and_no_path() -> None:
    message = "cannot import name 'TypeForm' from 'typing' (/usr/lib/python3/typing.py)"
    older = message.replace("TypeForm", "evaluate_forward_ref")

    (told,) = sentences(a_trouble(f"ImportError: {older}", lost=("evaluate_forward_ref",)))

    assert told.startswith("evaluate_forward_ref of typing is new in Python 3.14, and your work")
    assert "/usr/lib" not in told


def test_a_refusal_of_the_sandbox_names_the_sandbox() -> None:
    (told,) = sentences(a_trouble("PermissionError: [Errno 1] Operation not permitted"))

    assert "The sandbox in which this is graded starts no further processes" in told


def test_an_annotation_alone_loses_nothing() -> None:
    found = a_trouble("NameError: name 'Float' is not defined", annotation=True)

    assert sentences(found)[0].endswith(
        "Only an annotation needs that name, so the definition holds all the same."
    )


def test_a_failed_check_of_ones_own_costs_nothing() -> None:
    found = a_trouble("AssertionError: mine")

    assert sentences(found) == [
        "A check of your own failed here: AssertionError: mine\nIt costs no points."
    ]


def test_a_death_is_told_with_what_it_takes_along() -> None:
    found = Trouble(
        piece=Piece(text="model = train()"),
        line=1,
        observation=Died(cause="timeout"),
        lost=("model",),
    )
    (told,) = troubles.problems(a_loaded_session(found), known())

    assert told.kind == "timeout"
    assert told.message.en.endswith('__name__ == "__main__":\nBecause of it there is no model.')
    assert told.message.zh.endswith("因此 model 不存在。")


def test_more_than_a_screenful_is_counted() -> None:
    found = [a_trouble(f"ValueError: {n}", line=n) for n in range(1, 31)]

    told = troubles.problems(a_loaded_session(*found, untold=7, notes=("compile", "else")), known())

    assert len(told) == troubles.MOST_TOLD + 2
    assert told[-2].message.en == "And 17 more statements failed."
    assert told[-1].message.code == "problem.note.compile"


@pytest.mark.parametrize(
    ("found", "clause"),
    [
        (NO_PLT, "matplotlib is not installed where your work is graded"),
        (a_trouble("KeyError: 'a'"), "KeyError: 'a'"),
        (a_trouble("AssertionError"), "AssertionError"),
    ],
)
def test_the_reason_is_one_clause(found: Trouble, clause: str) -> None:
    assert troubles.reason(found).en == clause
