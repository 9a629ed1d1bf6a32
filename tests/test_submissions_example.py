"""A small class as it would arrive, graded by the command, compared with what is expected."""

import json
import os
import shutil
import subprocess
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from test_cli import ROOT, err, grade, out

CLASS = ROOT / "submissions_example"
FILES = tomllib.loads((CLASS / "expected.toml").read_text("utf-8"))["files"]
GRADED = [each for each in FILES if "refused" not in each]
REFUSED = [each for each in FILES if "refused" in each]
SPEAKING = ("name", "about", "refused")
STARTING = "Starting PyTorch (the first time can take a minute) ...\n"
# Loops end earlier than in class; everything else is done in a fraction of this.
QUICKLY = ("--time-factor", "0.25")
# Screens name the day on which a file was saved.
SAVED = datetime(2025, 3, 1, 14, 3).timestamp()

PAIRS = [(each["name"], id_) for each in GRADED for id_ in each if id_ not in SPEAKING]
FLAWLESS = [
    each["name"]
    for each in GRADED
    if all(
        row["score"] == row["max"] and not row["problems"]
        for id_, row in each.items()
        if id_ not in SPEAKING
    )
]
# Set it to write the screens anew; a run that does so fails.
REWRITE = "REWRITE_SCREENS"
NOTEBOOKS = ("garcia_hw4.ipynb", "week3 Silva.ipynb")


def expected(name: str, id_: str) -> dict[str, Any]:
    row: dict[str, Any] = next(each for each in GRADED if each["name"] == name)[id_]
    return row


def found(report: dict[str, Any]) -> dict[str, Any]:
    """What a report says, in the words of expected.toml."""
    return {
        "score": report["score"],
        "decided": report["decided"],
        "max": report["max_score"],
        "status": report["status"],
        "criteria": {row["id"]: row["verdict"] for row in report["criteria"]},
        "problems": [problem["kind"] for problem in report["problems"]],
    }


def reports_in(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The reports that `--out` wrote, by file and assignment."""
    read = [json.loads(path.read_text("utf-8")) for path in sorted(folder.iterdir())]
    return {(each["submission"]["file"], each["assignment"]["id"]): each for each in read}


@pytest.fixture(scope="module")
def classroom(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class of 2025")
    for each in FILES:
        copy = shutil.copy(CLASS / each["name"], folder)
        os.utime(copy, (SAVED, SAVED))
    return folder


Run = subprocess.CompletedProcess[bytes]


@pytest.fixture(scope="module")
def in_english(classroom: Path) -> Run:
    names = [each["name"] for each in GRADED]
    return grade("check", *names, "--out", "reports", *QUICKLY, cwd=classroom)


@pytest.fixture(scope="module")
def two_notebooks(classroom: Path) -> dict[str, Run]:
    """One run over the same two files in each language."""
    return {
        language: grade("check", *NOTEBOOKS, "--lang", language, "--out", language, cwd=classroom)
        for language in ("en", "zh")
    }


@pytest.fixture(scope="module")
def reports(in_english: Run, classroom: Path) -> dict[tuple[str, str], dict[str, Any]]:
    return reports_in(classroom / "reports")


# --- the folder --------------------------------------------------------------------------------


def test_every_file_of_the_class_has_its_expected_result() -> None:
    ours = {"expected.toml", "README.md", ".gitattributes", "screens.en.txt", "screens.zh.txt"}
    names = {path.name for path in CLASS.iterdir()} - ours

    assert {each["name"] for each in FILES} == names
    assert len(names) >= 14


def test_the_readme_names_every_file_and_its_scores() -> None:
    rows = (CLASS / "README.md").read_text("utf-8").splitlines()

    for name, id_ in PAIRS:
        [row] = [each for each in rows if each.startswith(f"| `{name}` |")]
        assert f"{id_}: {expected(name, id_)['score']}" in row
    for each in REFUSED:
        assert any(row.startswith(f"| `{each['name']}` |") for row in rows)


def test_the_unfinished_notebook_is_the_one_that_start_makes(tmp_path: Path) -> None:
    name = "2024110233 assignment.ipynb"

    grade("start", "hw1", "-o", name, cwd=tmp_path)

    started, kept = (json.loads((at / name).read_text("utf-8")) for at in (tmp_path, CLASS))
    assert [each for each in started["cells"] if each["cell_type"] == "code"] == [
        each for each in kept["cells"] if each["cell_type"] == "code"
    ]


# --- verdicts ----------------------------------------------------------------------------------


def test_every_file_is_graded_for_its_assignments_and_no_others(
    reports: dict[tuple[str, str], dict[str, Any]],
) -> None:
    assert sorted(reports) == sorted(PAIRS)


@pytest.mark.parametrize(("name", "id_"), PAIRS, ids=lambda part: str(part).replace(" ", "_"))
def test_a_file_gets_the_report_that_is_expected(
    name: str, id_: str, reports: dict[tuple[str, str], dict[str, Any]]
) -> None:
    assert found(reports[name, id_]) == expected(name, id_)


def test_one_file_below_full_marks_makes_the_exit_code_1(in_english: Run) -> None:
    assert in_english.returncode == 1


def test_full_marks_alone_give_exit_code_0(classroom: Path) -> None:
    result = grade("check", *FLAWLESS, *QUICKLY, cwd=classroom)

    assert result.returncode == 0


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: str(file["name"]).replace(" ", "_"))
def test_what_is_no_submission_is_a_usage_error(file: dict[str, str], classroom: Path) -> None:
    result = grade("check", file["name"], cwd=classroom)

    complaint = err(result).removeprefix(
        "Starting PyTorch (the first time can take a minute) ...\n"
    )
    assert complaint.startswith(file["refused"])
    assert (result.returncode, result.stdout) == (2, b"")


def test_every_report_is_valid(in_english: Run, classroom: Path) -> None:
    files = sorted(f"reports/{path.name}" for path in (classroom / "reports").iterdir())

    result = grade("validate", *files, cwd=classroom)

    assert out(result) == "".join(f"{file}: ok\n" for file in files)
    assert result.returncode == 0


# --- what students see ---------------------------------------------------------------------------


def test_the_misspelt_function_is_asked_for(
    reports: dict[tuple[str, str], dict[str, Any]],
) -> None:
    [problem] = reports["hw1 (2).py", "hw1"]["problems"]

    assert problem["message"]["en"] == (
        "Your file does not define add_position_vectors, but it defines add_position_vector."
        " Did you mean that one? Then rename it to add_position_vectors."
    )


def test_a_megabyte_of_prints_is_cut(reports: dict[tuple[str, str], dict[str, Any]]) -> None:
    output = reports["adeyemi_hw3.py", "hw3"]["output"]

    assert output["text"].startswith("position 0 sine of pair 0: 0.0 and its cosine: 1.0\n")
    assert len(output["text"]) <= 64 * 1024
    assert output["truncated"] is True


def test_no_screen_is_wider_than_eighty_columns(in_english: Run) -> None:
    from grader.cli.layout import columns

    wide = [line for line in out(in_english).split("\n") if columns(line) > 80]

    assert wide == []


def test_nothing_of_the_grading_machine_is_shown(in_english: Run, classroom: Path) -> None:
    names = ("torchgrade-", "Traceback", "seed", "sandbox", "site-packages", str(classroom))

    assert [name for name in names if name in out(in_english)] == []


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "zh"])
def test_two_notebooks_get_the_screens_that_were_agreed(
    language: str, two_notebooks: dict[str, Run]
) -> None:
    golden = CLASS / f"screens.{language}.txt"
    printed = out(two_notebooks[language])
    if REWRITE in os.environ:
        golden.write_text(printed, encoding="utf-8", newline="\n")
        pytest.fail(f"{golden.name} was rewritten: look at it, then run without {REWRITE}")

    assert printed == golden.read_text("utf-8")
    assert two_notebooks[language].returncode == 1


@pytest.mark.long
def test_the_language_of_the_screen_changes_no_report(
    two_notebooks: dict[str, Run], classroom: Path
) -> None:
    english, chinese = (reports_in(classroom / language) for language in two_notebooks)

    assert [{**each, "run": None} for each in english.values()] == [
        {**each, "run": None} for each in chinese.values()
    ]
    assert len(english) == 4
