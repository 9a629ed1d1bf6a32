"""Whatever files and people are called: one job at most is lost, and nothing steers a screen."""

import csv
import io
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_cli import err, out
from test_cli_batch import RIGHT, USUAL, grade

from grader import report as reports
from grader.bulk import gradescope, tables
from grader.bulk.names import folder_name
from grader.texts import catalog
from grader.texts.names import visible

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs names of any bytes")

# What is typed, and how the student is called by it.
STUDENTS = {
    b"l\xe9e": "l%E9e",
    b"\xffnobody": "%FFnobody",
    b"con": "con",
    b"nul": "nul",
    b"aux.": "aux",
    b"a\nNext: rm": "a%0ANext: rm",
    b"t\tab": "t%09ab",
    b"\x1b[2Jesc": "%1B[2Jesc",
    "c1\x9b31m".encode(): "c1%C2%9B31m",
    "\u202eevil".encode(): "%E2%80%AEevil",
    "zero\u200bwidth".encode(): "zero%E2%80%8Bwidth",
    "\ufeffbom".encode(): "%EF%BB%BFbom",
    ("好" * 80).encode(): "好" * 80,
    b"=cmd": "=cmd",
    "نیما\u200cراد".encode(): "نیما\u200cراد",
    b"honest": "honest",
}
STEERING = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def handed_in(root: Path, names: list[bytes]) -> None:
    root.mkdir()
    for name in names:
        (root / os.fsdecode(name)).write_text(RIGHT, "utf-8")


@on_linux
def test_a_class_with_names_that_are_a_nuisance_is_graded_and_graded_again(tmp_path: Path) -> None:
    handed_in(tmp_path / "in", [name + b"_hw1.py" for name in STUDENTS])
    (tmp_path / "in" / "\\hw1.py").write_text(RIGHT, "utf-8")

    first = grade("batch", "in", "--out", "out", *USUAL, "--layout", "files", cwd=tmp_path)
    again = grade("batch", "in", "--out", "out", *USUAL, "--layout", "files", cwd=tmp_path)

    # The file without a student's name is the one that is left.
    assert (first.returncode, again.returncode) == (1, 1), err(first)
    scores = (tmp_path / "out" / "scores.csv").read_bytes()
    rows = list(csv.DictReader(io.StringIO(scores.decode("utf-8-sig"), newline="")))
    assert {row["student"].removeprefix("'") for row in rows} == set(STUDENTS.values())
    assert {row["hw1"] for row in rows} == {"10"}
    # One line for each, and one above.
    assert len(scores.decode("utf-8-sig").splitlines()) == len(STUDENTS) + 1
    shown = [out(first), err(first), out(again), err(again), scores.decode("utf-8-sig")]
    assert [each for each in shown if STEERING.search(each.removeprefix("\ufeff"))] == []


@on_linux
def test_a_platforms_file_with_impossible_names_and_dates_costs_nobody_else(tmp_path: Path) -> None:
    export = tmp_path / "in"
    for number in range(5):
        folder = export / f"submission_{number}"
        folder.mkdir(parents=True)
        (folder / "hw1.py").write_text(RIGHT, "utf-8")
    names = ['"\\ud800x"', '"\\\\\\\\root"', '"a\\nb\\e[2J"', "honest", '"  "']
    dates = ["0999-01-01 00:00:00 Z", "9999-13-41 10:00 Z", "2026-03-01 10:00:00.1 Z"]
    (export / "submission_metadata.yml").write_text(
        "".join(
            f"submission_{at}:\n  :submitters:\n  - :name: Somebody\n    :sid: {name}\n"
            f"  :created_at: {dates[at % 3]}\n"
            for at, name in enumerate(names)
        ),
        "utf-8",
    )

    first = grade("batch", "in", "--out", "out", *USUAL, cwd=tmp_path)
    again = grade("batch", "in", "--out", "out", *USUAL, cwd=tmp_path)

    assert first.returncode == again.returncode == 0, err(first) + out(first)
    run = json.loads((tmp_path / "out" / "run.json").read_bytes())
    assert [each["student"] for each in run["planned"]] == [
        "%ED%A0%80x",
        "?",
        "\\\\root",
        "a%0Ab%1B[2J",
        "honest",
    ]
    assert {each["submitted_at"] for each in run["planned"]} == {None, "2026-03-01T10:00:00Z"}


@on_linux
def test_the_last_lines_of_check_hold_no_line_of_a_files_name(tmp_path: Path) -> None:
    name = "a\nNext: rm -rf ~\x1b[2J\u202e.py"
    (tmp_path / name).write_text(RIGHT, "utf-8")

    result = grade(
        "check", f"./{name}", "--assignment", "hw1", "--json", f"{name}.json", cwd=tmp_path
    )

    shown = out(result) + err(result)
    assert result.returncode == 0
    assert not STEERING.search(shown)
    assert not any(line.startswith("Next: rm") for line in shown.splitlines())
    assert "Report written to a%0ANext: rm -rf ~%1B[2J%E2%80%AE.py.json" in err(result)
    report = json.loads((tmp_path / f"{name}.json").read_bytes())
    assert report["submission"]["file"] == "a%0ANext: rm -rf ~%1B[2J%E2%80%AE.py"


@on_linux
def test_a_file_that_begins_with_a_backslash_has_a_report(tmp_path: Path) -> None:
    (tmp_path / "\\hw1.py").write_text(RIGHT, "utf-8")

    result = grade("check", "\\hw1.py", "--assignment", "hw1", "--json", "-", cwd=tmp_path)

    assert json.loads(out(result))["submission"]["file"] == "hw1.py"


@pytest.mark.parametrize(
    ("file", "reported"),
    [
        ("\\\\server\\share\\hw1.py", "server/share/hw1.py"),
        ("/hw1.py", "hw1.py"),
        ("\\", "?"),
        ("", "?"),
        ("lee\\hw1.py", "lee/hw1.py"),
        ("a\udcffb\n.py", "a%FFb%0A.py"),
    ],
)
def test_every_name_of_a_file_can_stand_in_a_report(file: str, reported: str) -> None:
    assert reports.file_name(file) == reported


@pytest.mark.parametrize(
    "name", ["\ud800", "a" * 100_000, "\\", "..", ".", "con", "COM1.txt", "\0", "‮"]
)
def test_every_student_has_a_folder_of_its_own(name: str) -> None:
    folder = folder_name(name)

    assert folder.isascii()
    assert 0 < len(folder) <= 150
    assert not set(folder) & set('\\/:*?"<>|\0\n')


def everything() -> Iterator[str]:
    return (chr(number) for number in range(0x110000))


def test_no_visible_name_holds_a_control_or_a_mark_that_nobody_sees() -> None:
    hidden = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    # Arabic signs that stand before numbers, and the joiners.
    seen = {chr(each) for each in (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2)}
    seen |= {"\u200c", "\u200d", "\U000110bd", "\U000110cd"}

    raw = {
        each
        for each in everything()
        if unicodedata.category(each) in hidden and visible(each) == each and each not in seen
    }

    # Hieroglyphs, shorthand and music: shapes, no directions.
    assert {unicodedata.name(each).split()[0] for each in raw} <= {
        "EGYPTIAN",
        "SHORTHAND",
        "MUSICAL",
    }


def test_a_visible_name_stays_as_it_is_and_two_names_stay_two() -> None:
    names = ["李雷", "O'Neil", "a%0A", "a\n", "é", "e\u0301", "\udcff", "\xff"]

    assert [visible(visible(each)) for each in names] == [visible(each) for each in names]
    assert visible("Smith, Jo (2)") == "Smith, Jo (2)"


def test_a_sentence_about_a_file_stays_one_line() -> None:
    said = catalog.say("en", "cli.written", path="a\nb\x1b[2J")

    assert said == "Report written to a%0Ab%1B[2J"


def test_a_cell_of_the_table_holds_no_line_end() -> None:
    assert tables._text("a\r\n=1\x1b") == "a%0D%0A=1%1B"
    assert tables._text("\n=1") == "%0A=1"


def test_a_list_of_submitters_that_is_no_list_names_nobody() -> None:
    assert gradescope.submitters_of("a:\n  :submitters: 5\nb:\n  :submitters:\n  - [1]\n") == {}
