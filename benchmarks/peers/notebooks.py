"""The ten tests as an assignment of nbgrader: a cell to fill in, and a graded cell for each."""

import ast
import json
from typing import Any

from benchmarks.peers.ten import CASES

CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "ten"\n'
# Run where nbgrader is installed.
SCORES = """\
import json
from nbgrader.api import Gradebook
with Gradebook("sqlite:///gradebook.db") as book:
    print(json.dumps([each.score for each in book.assignment_submissions("ps1")]))
"""
SOLUTION = """\
import torch

def apply_rope(x, positions=None, base=10000.0):
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION
"""
TEST = """\
import torch
from ten import ATOL, {case}
seen, expected = {case}(apply_rope)
assert torch.allclose(seen.double(), expected.double(), rtol=0.0, atol=ATOL)
"""


def source() -> str:
    """The instructor's notebook, as JSON."""
    cells = [_cell("solution", SOLUTION, solution=True)]
    cells += [_cell(each.__name__, TEST.format(case=each.__name__), points=1) for each in CASES]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def filled(released: str, text: str) -> str:
    """The released notebook with a submission in the cell to fill in."""
    notebook = json.loads(released)
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = ast.unparse(ast.parse(text))
    return json.dumps(notebook)


def _cell(id: str, text: str, *, solution: bool = False, points: int = 0) -> dict[str, Any]:
    told = {
        "grade": not solution,
        "grade_id": id,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": id.replace("_", "-"),
        "metadata": {"nbgrader": told if solution else {**told, "points": points}},
        "outputs": [],
        "source": text,
    }
