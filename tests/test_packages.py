"""Which libraries there are where work is graded, and which a submission asks for besides."""

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from builders import a_reading, an_assignment, an_opened_file
from test_cli import ROOT

from grader import ordering, packages
from grader.cli import doctor
from grader.cli.layout import Line
from grader.cli.root import Desk
from grader.reading.imports import imports
from grader.submission import understand


def imported(text: str) -> tuple[str, ...]:
    return imports([ast.parse(text)])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import torch, numpy as np", ("torch", "numpy")),
        ("import matplotlib.pyplot as plt", ("matplotlib",)),
        ("from torch.nn import functional", ("torch",)),
        ("def f():\n    from einops import rearrange", ("einops",)),
        ("try:\n    import a\nexcept ImportError:\n    import b", ("a", "b")),
        ("import os, sys\nfrom __future__ import annotations\nimport math", ()),
        ("from . import helper\nfrom .other import x", ()),
        ("if __name__ == '__main__':\n    import wandb\nelse:\n    import c", ("c",)),
        ("import a\nimport a.b", ("a",)),
    ],
)
def test_what_a_file_imports_is_known_without_running_it(text: str, names: tuple[str, ...]) -> None:
    assert imported(text) == names


def test_a_reading_knows_the_imports_of_scripts_and_notebooks() -> None:
    script = b"import numpy\ndef f():\n    import einops\n"
    notebook = (
        b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": ['
        b'{"cell_type": "code", "metadata": {}, "outputs": [], "source": "import numpy"},'
        b'{"cell_type": "code", "metadata": {}, "outputs": [], "source": "import ("},'
        b'{"cell_type": "code", "metadata": {}, "outputs": [], "source": "!pip x\\nimport b"}]}'
    )

    readings = [
        understand(an_opened_file(script)),
        understand(an_opened_file(notebook, file="a.ipynb")),
    ]

    assert [each.imports for each in readings] == [("numpy", "einops"), ("numpy", "b")]


@pytest.mark.parametrize(
    ("name", "other"),
    [("sklearn", "scikit-learn"), ("PIL", "Pillow"), ("cv2", "opencv_python"), ("a.b", "A-B")],
)
def test_a_package_may_be_named_as_it_is_installed_or_imported(name: str, other: str) -> None:
    assert packages.canonical(name) == packages.canonical(other)


def test_what_is_named_and_missing_has_no_version_and_what_is_usual_and_missing_no_row() -> None:
    found = packages.versions(("no-such-package", "pytest"))

    assert found["no-such-package"] is None
    assert found["pytest"] == pytest.__version__
    assert isinstance(found["numpy"], str)
    assert list(found) == sorted(found)
    assert [name for name, version in found.items() if version is None] == ["no-such-package"]


def test_looking_for_packages_imports_none_of_them() -> None:
    script = (
        "import sys; from grader import packages;"
        "packages.versions(('matplotlib',)); packages.unlisted(('numpy', 'pytest', 'torch'), ());"
        "print({'numpy', 'torch', 'pytest', 'matplotlib'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True)

    assert done.stdout.decode().strip() == "set()"


def test_unlisted_is_what_is_installed_and_brought_by_no_named_package() -> None:
    asked = ("torch", "numpy", "pytest", "_pytest", "no_such_module", "functorch", "yaml.x")

    assert packages.unlisted(asked, ("numpy",)) == ("pytest", "_pytest")
    assert packages.unlisted(asked, ("numpy", "pytest")) == ()


def test_all_packages_that_the_course_does_not_name_are_told_in_one_note(tmp_path: Path) -> None:
    assignment = replace(an_assignment(tmp_path), packages=("numpy", "matplotlib"))
    one = replace(a_reading(), imports=("torch", "numpy", "pytest"))
    two = replace(a_reading(), imports=("pytest", "hypothesis"))

    [first], [second] = ordering.unlisted(one, assignment), ordering.unlisted(two, assignment)

    assert first.kind == "package"
    assert first.message.en == (
        "pytest is not in this course's list of packages (torch, numpy, matplotlib):"
        " it may be missing where this is graded."
    )
    assert second.message.en.startswith("pytest, hypothesis are not in this course's list")
    assert second.message.zh == (
        "pytest、hypothesis 不在这门课的软件包列表里（torch、numpy、matplotlib）："
        "正式评分的环境里可能没有它们。"
    )


def test_without_a_list_nothing_is_noted(tmp_path: Path) -> None:
    silent = replace(an_assignment(tmp_path), packages=None)
    reading = replace(a_reading(), imports=("pytest",))

    assert ordering.unlisted(reading, silent) == ()
    assert (
        ordering.unlisted(replace(reading, imports=("torch",)), an_assignment(tmp_path / "b")) == ()
    )


def test_the_doctor_lists_what_a_submission_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"matplotlib": None, "numpy": "2.4.6", "tqdm": "4.67"}
    monkeypatch.setattr(doctor, "_packages", lambda _here: found)
    here = Desk(language="en", debug=False, assignments=None)

    rows = [each.text if isinstance(each, Line) else each for each in doctor._finds(here)]
    told = " ".join(rows)

    assert f"torch {packages.version('torch')}, numpy 2.4.6, tqdm 4.67." in told
    assert "Named by an assignment and not installed here: matplotlib." in told
    assert "no GPU is used for grading" in told
