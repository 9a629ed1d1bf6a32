"""Which assignment a file is for, misspelt functions, filled-in variables."""

import json

import pytest
from builders import an_opened_file

from grader.errors import UsageProblem
from grader.model import Reading
from grader.submission import (
    Candidate,
    attribute,
    did_you_mean,
    filled_variables,
    missing,
    understand,
)

CANDIDATES = (
    Candidate(
        id="hw1",
        entry_points=("add_position_vectors",),
        variables={"final_vectors": "add_position_vectors"},
    ),
    Candidate(id="hw2", entry_points=("mask_padding",), variables={"masked": "mask_padding"}),
    Candidate(id="hw3", entry_points=("sinusoid_value", "sinusoid_period"), variables={}),
    Candidate(id="hw4", entry_points=("apply_rope",), variables={}),
)
NAMES = tuple(name for each in CANDIDATES for name in each.entry_points)


def script(text: str, file: str = "answer.py") -> Reading:
    opened = an_opened_file(text.encode(), file=file, kind="module")
    return understand(opened, names=NAMES)


def notebook(*cells: str, file: str = "week3.ipynb") -> Reading:
    book = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    content = json.dumps(book).encode()
    opened = an_opened_file(content, file=file, kind="notebook")
    return understand(opened, names=NAMES)


# --- attribution -------------------------------------------------------------------------


def test_a_file_is_for_every_assignment_whose_functions_it_defines_in_the_courses_order() -> None:
    reading = notebook(
        "def apply_rope(x): return x", "async def mask_padding(e, m): pass", "sinusoid_value = f"
    )

    assert attribute(reading, CANDIDATES) == ("hw2", "hw3", "hw4")


def test_what_it_defines_wins_over_marker_and_name() -> None:
    reading = script("# torchgrade: hw1\ndef apply_rope(x): return x\n", "hw2.py")

    assert attribute(reading, CANDIDATES) == ("hw4",)


def test_an_imported_function_counts_as_defined() -> None:
    reading = script("from helper import rotate as apply_rope\n")

    assert attribute(reading, CANDIDATES) == ("hw4",)


def test_a_function_in_a_broken_cell_counts_beside_others() -> None:
    reading = notebook("def mask_padding(e, m): return e", "def apply_rope(x:\n    return x")

    assert attribute(reading, CANDIDATES) == ("hw2", "hw4")


def test_the_marker_wins_over_the_name() -> None:
    assert attribute(script("# torchgrade: HW4\n", "hw1.py"), CANDIDATES) == ("hw4",)


def test_an_unknown_marker_leaves_it_to_the_name() -> None:
    assert attribute(script("# torchgrade: hw9\n", "hw1.py"), CANDIDATES) == ("hw1",)


@pytest.mark.parametrize(
    "file",
    [
        "hw1.py",
        "HW1.PY",
        "hw1 (2).ipynb",
        "lee_hw1.py",
        "lee-hw1-final.py",
        "HW-1.ipynb",
        "hw_01.py",
        "hw 1.py",
        "李雷_hw1.py",
        "hw1作业.py",
        "hw2/hw1.py",
    ],
)
def test_the_name_of_the_file_names_the_assignment(file: str) -> None:
    assert attribute(script("x = 1\n", file), CANDIDATES) == ("hw1",)


@pytest.mark.parametrize("file", ["hw10.py", "hw11.py", "show1.py", "hw.py", "hw1/a.py", "1.py"])
def test_a_name_that_only_looks_alike_does_not(file: str) -> None:
    with pytest.raises(UsageProblem):
        attribute(script("x = 1\n", file), CANDIDATES)


def test_hw1_and_hw10_are_told_apart() -> None:
    ten = Candidate(id="hw10", entry_points=("ten",), variables={})

    assert attribute(script("x = 1\n", "hw10.py"), (*CANDIDATES, ten)) == ("hw10",)


def test_ids_of_words_are_found_as_words() -> None:
    rope = Candidate(id="rope-basics", entry_points=("turn",), variables={})

    assert attribute(script("x = 1\n", "lee_Rope_Basics2.py"), [rope]) == ("rope-basics",)
    with pytest.raises(UsageProblem):
        attribute(script("x = 1\n", "rope-basicsx.py"), [rope])


@pytest.mark.parametrize("text", ["", "x = (\n# torchgrade: hw4", "\x00\x01"])
def test_a_file_that_cannot_be_read_is_known_by_its_name(text: str) -> None:
    assert attribute(script(text, "hw2.py"), CANDIDATES)[0] in {"hw2", "hw4"}


def test_a_damaged_notebook_is_known_by_its_marker() -> None:
    content = b'{"cells": [{"source": ["# torchgrade: hw4\\n", "'
    opened = an_opened_file(content, file="a.ipynb")

    assert attribute(understand(opened), CANDIDATES) == ("hw4",)


def test_the_names_in_a_script_with_a_syntax_error_decide_last() -> None:
    text = "def apply_rope(x):\n    return (x\n"

    assert attribute(script(text), CANDIDATES) == ("hw4",)
    assert attribute(script(text, "hw1.py"), CANDIDATES) == ("hw1",)


def test_a_misspelt_function_decides_when_it_can_only_be_one() -> None:
    assert attribute(script("def aply_rope(x): return x\n"), CANDIDATES) == ("hw4",)
    with pytest.raises(UsageProblem):
        attribute(script("def aply_rope(x): pass\ndef maskPadding(e): pass\n"), CANDIDATES)


def test_the_courses_variables_decide_when_they_are_of_one_assignment() -> None:
    assert attribute(script("final_vectors = a + b\n"), CANDIDATES) == ("hw1",)
    with pytest.raises(UsageProblem):
        attribute(script("final_vectors = a + b\nmasked = a * b\n"), CANDIDATES)


def test_a_file_for_nothing_is_told_all_candidates() -> None:
    with pytest.raises(UsageProblem) as raised:
        attribute(script("x = 1\n"), CANDIDATES)

    assert str(raised.value).split("\n") == [
        "answer.py defines none of the functions that can be graded here, so it is not clear "
        "which assignment it is. Add --assignment hw1 (or another id), or write as the first "
        "line: # torchgrade: hw1",
        "  hw1: add_position_vectors",
        "  hw2: mask_padding",
        "  hw3: sinusoid_value, sinusoid_period",
        "  hw4: apply_rope",
    ]


def test_a_name_with_two_ids_is_told_both() -> None:
    with pytest.raises(UsageProblem) as raised:
        attribute(script("x = 1\n", "hw1_hw2.py"), CANDIDATES, language="zh")

    assert "hw1_hw2.py 的名字对应不止一次作业（hw1、hw2）" in str(raised.value)


# --- misspelt and missing ----------------------------------------------------------------


@pytest.mark.parametrize(
    "near",
    ["aply_rope", "apply_rop", "applyRope", "ApplyRope", "APPLY_ROPE", "applyrope", "apply_rope_",
     "my_apply_rope", "apply_rope_v2", "apply_ropes"],
)  # fmt: skip
def test_a_near_spelling_is_offered(near: str) -> None:
    assert did_you_mean("apply_rope", ["other", near, "main"]) == near


@pytest.mark.parametrize("other", ["rope", "apply", "main", "rotate", "apply_rope", "apply_mask"])
def test_other_names_are_not(other: str) -> None:
    assert did_you_mean("apply_rope", [other]) is None


def test_two_functions_of_one_assignment_are_not_confused() -> None:
    assert did_you_mean("sinusoid_value", ["sinusoid_period"]) is None
    assert did_you_mean("sinusoid_period", ["sinusoid_value"]) is None


def test_a_missing_function_names_its_near_neighbour_and_where_it_stands() -> None:
    problem = missing("apply_rope", script("import torch\ndef applyRope(x):\n    return x\n"))

    assert (problem.kind, problem.place.line) == ("missing_function", 2)
    assert problem.message.en == (
        "Your file does not define apply_rope, but it defines applyRope. "
        "Did you mean that one? Then rename it to apply_rope."
    )


def test_another_entry_point_is_no_misspelling() -> None:
    reading = script("def apply_rope2(x):\n    return x\n")

    assert missing("apply_rope", reading, others=["apply_rope2"]).place.line is None


def test_a_missing_function_without_neighbours_is_told_how_to_begin() -> None:
    problem = missing("apply_rope", script("x = 1\n"))

    assert problem.message.en.endswith("def apply_rope(...):")
    assert problem.place.line is None


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\nclass Solution:\n    def apply_rope(self, x): return x\n",
        "x = 1\ndef outer():\n    def apply_rope(x): return x\n",
        "x = 1\nif __name__ == '__main__':\n    def apply_rope(x): return x\n",
    ],
)
def test_a_function_below_top_level_is_found_and_told(text: str) -> None:
    problem = missing("apply_rope", script(text))

    assert problem.message.code == "reading.missing_function_nested"
    assert problem.place.line == 3


# --- variables ---------------------------------------------------------------------------


def test_a_filled_variable_is_told_which_function_it_belongs_in() -> None:
    problem = filled_variables(notebook("x = 1", "\nfinal_vectors = a + b"), CANDIDATES[0])

    assert problem is not None
    assert (problem.kind, problem.place.cell, problem.place.line) == ("fill_in_variable", 2, 2)
    assert problem.message.en == (
        "You filled in `final_vectors`. This grader needs the function `add_position_vectors`: "
        "put the same expression into its body."
    )


def test_an_untouched_variable_is_not_called_filled_in() -> None:
    problem = filled_variables(script("final_vectors = '''your code here'''\n"), CANDIDATES[0])

    assert problem is not None
    assert problem.message.code == "reading.fill_in_placeholder"


def test_a_file_with_the_function_or_without_the_variable_has_no_such_problem() -> None:
    both = script("def add_position_vectors(a, b): return a\nfinal_vectors = 1\n")

    assert filled_variables(both, CANDIDATES[0]) is None
    assert filled_variables(script("x = 1\n"), CANDIDATES[0]) is None
