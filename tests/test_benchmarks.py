"""The benchmarks measure what they say: known classes, real calls, a table that is complete."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from test_cli import ROOT

# The checkout's own, however this is run.
sys.path.insert(0, str(ROOT))
from benchmarks import capacity, classes, hostile_class, measuring, preloading, run
from benchmarks.measuring import Benchmark, Row, Skipped
from benchmarks.peers import notebooks as peers_notebooks
from benchmarks.peers import ten


def a_row(**changes: object) -> Row:
    known = {"name": "floor-hw1", "ratio": 2.5, "measured_ms": 50.0, "yardstick_ms": 20.0}
    return Row(**{**known, **changes})


def test_a_class_cycles_through_the_gallery_and_no_two_files_are_equal(tmp_path: Path) -> None:
    answers = classes.gallery(classes.known()["hw1"])[:4]

    handed_in = classes.written(tmp_path, "hw1", answers, 10)

    texts = [path.read_text("utf-8") for path in sorted(tmp_path.glob("*/hw1.py"))]
    assert len(set(texts)) == len(handed_in) == 10
    assert [each.name for each in handed_in.values()] == [
        answers[number % 4].name for number in range(10)
    ]
    assert all(text.startswith(answers[number % 4].text) for number, text in enumerate(texts))


def test_the_gallery_says_what_each_answer_earns() -> None:
    answers = {each.name: each.score for each in classes.gallery(classes.known()["hw4"])}

    assert answers["complex_view"] == 10
    assert answers["half_pairing"] == 7


def test_a_notebook_holds_the_same_code_in_cells_that_can_be_run_in_turn() -> None:
    text = "# first\nimport torch\n\n\n@print\ndef one():\n    return 1\n\n# last\n"

    made = nbformat.reads(classes.notebook(text), as_version=4)

    nbformat.validate(made)
    assert [each.source for each in made.cells] == [
        "# first\nimport torch",
        "@print\ndef one():\n    return 1",
        "# last",
    ]


@pytest.mark.parametrize("case", ten.CASES, ids=lambda case: case.__name__)
def test_every_case_for_the_peers_finds_the_right_answer_right(case) -> None:
    seen, expected = case(ten.turned)

    assert (seen.double() - expected.double()).abs().max() <= ten.ATOL


def test_the_cases_for_the_peers_find_the_identity_wrong() -> None:
    pairs = [case(lambda x, positions=None, base=10000.0: x) for case in ten.CASES]

    apart = [float((seen.double() - expected.double()).abs().max()) for seen, expected in pairs]
    assert sum(each > ten.ATOL for each in apart) == 7


def test_the_notebook_for_nbgrader_is_one() -> None:
    made = nbformat.reads(peers_notebooks.source(), as_version=4)

    nbformat.validate(made)
    assert len(made.cells) == 1 + len(ten.CASES)


def test_a_missed_budget_is_told_in_the_table_and_a_skipped_one_says_why() -> None:
    kept, missed = a_row(budget=3.0), a_row(budget=2.0)
    slow_peer, reason = a_row(budget=2.0, sense="at least"), Skipped(name="dask", reason="none")

    lines = [measuring.line(each) for each in (kept, missed, slow_peer, reason)]

    assert lines[0].split() == ["2.50", "<=3", "50.0", "20.0", "1", "floor-hw1"]
    assert lines[1].endswith("MISSED")
    assert lines[2].split()[1] == ">=2"
    assert not lines[2].endswith("MISSED")
    assert lines[3].endswith("dask: none")
    assert {len(each[: each.index(" floor")]) for each in lines[:3]} == {
        len(measuring.HEADER[: measuring.HEADER.index(" what")])
    }


def test_a_broken_benchmark_is_told_and_hides_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(wanted: measuring.Wanted) -> list[Row]:
        raise measuring.Broken("no word from it")

    some = [
        Benchmark(name="one", about="", run=breaks),
        Benchmark(name="two", about="", run=lambda wanted: [a_row(name="two")]),
    ]
    monkeypatch.setattr(run, "benchmarks", lambda: some)

    code = run.main([])

    told = capsys.readouterr().out.splitlines()
    assert code == 1
    assert told[1].endswith("one: no word from it")
    assert told[2].endswith("two")


def test_a_name_chooses_one_benchmark_or_all_that_begin_with_it() -> None:
    names = [each.name for each in run.benchmarks()]

    assert len(set(names)) == len(names)
    assert run.named("floor", "floor-hw1")
    assert run.named("floor-hw1", "floor-hw1")
    assert not run.named("floor-hw1", "floor-hw11")


def test_the_command_measures_writes_json_and_ends_well(tmp_path: Path) -> None:
    words = [sys.executable, ROOT / "benchmarks" / "run.py", "--only", "help", "--pairs", "1"]

    done = subprocess.run(
        [*words, "--json", tmp_path / "figures.json"],
        capture_output=True,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        cwd=tmp_path,
    )

    told = json.loads((tmp_path / "figures.json").read_bytes())
    # Whether the budget is kept is for a quiet machine to say.
    assert done.returncode in (0, 1), done.stderr
    assert [each["name"] for each in told["rows"]] == ["help"]
    assert told["skipped"] == []


def test_an_unknown_name_is_answered_by_all_there_are(tmp_path: Path) -> None:
    words = [sys.executable, ROOT / "benchmarks" / "run.py", "--only", "nothing"]

    done = subprocess.run(
        words, capture_output=True, check=False, env={"PYTHONPATH": str(ROOT)}, cwd=tmp_path
    )

    assert done.returncode == 2
    assert b"unknown: nothing; there are:" in done.stderr
    assert b"capacity-hw1" in done.stderr


# --- what the course names -----------------------------------------------------------------------


def wanted(folder: Path) -> measuring.Wanted:
    return measuring.Wanted(folder=folder, full=False, pairs=1, peers=None)


@pytest.mark.with_libraries("matplotlib")
def test_an_import_that_the_course_names_is_held_against_none(tmp_path: Path) -> None:
    (benchmark,) = preloading.benchmarks()

    (row,) = benchmark.run(wanted(tmp_path))

    assert isinstance(row, Row)
    assert row.budget == preloading.BUDGET
    # What the zygote has imported costs no worker a second time.
    assert row.measured_ms is not None
    assert row.measured_ms < row.figures["unnamed_ms"]


@pytest.mark.without_libraries("matplotlib")
def test_where_the_library_is_absent_the_row_says_so(tmp_path: Path) -> None:
    (benchmark,) = preloading.benchmarks()

    (row,) = benchmark.run(wanted(tmp_path))

    assert row == Skipped(name="preloaded", reason="matplotlib is not installed")


# --- a class with hostile submissions ------------------------------------------------------------


def a_told(student: str, *, score: int, causes: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "submission": {"student": student},
        "status": "graded",
        "score": score,
        "tests": [{"cause": cause} for cause in causes],
        "problems": [],
        "run": {"duration_s": 0.5, "usage": {"cpu_s": 0.25}},
    }


@pytest.fixture
def hostile(tmp_path: Path) -> hostile_class.Class:
    return hostile_class.made(tmp_path, 10)


def told_of(handed_in: hostile_class.Class, causes: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        a_told(student, score=each.score, causes=causes if student in handed_in.kinds else ())
        for student, each in handed_in.answers.items()
    ]


def test_every_tenth_submission_of_such_a_class_is_hostile(hostile: hostile_class.Class) -> None:
    assert [kind.name for kind in hostile.kinds.values()] == ["endless_loop"]
    assert hostile_class.wrong(told_of(hostile, ("timeout",)), hostile) == []


def test_a_wrong_score_cause_or_no_report_is_found(hostile: hostile_class.Class) -> None:
    told = told_of(hostile, ("exit",))[:-1]
    told[0]["score"] = 3

    assert hostile_class.wrong(told, hostile) == [
        "student000009 (float64_sum): no report",
        "student000000 (edited_copy): graded with 3 of 10",
        "student000005 (endless_loop): ['exit'] instead of ['timeout']",
    ]


def test_three_calls_of_an_endless_loop_explain_what_it_costs(hostile: hostile_class.Class) -> None:
    told = told_of(hostile, ("timeout",))

    costs = hostile_class.costs(told, hostile, classes.known()["hw1"])

    assert [(each["kind"], each["count"], each["bound_s"]) for each in costs] == [
        ("ordinary", 9, 0.5),
        ("endless_loop", 1, 3 * 2.0 + 3 * 0.5),
    ]


# --- the page on capacity ----------------------------------------------------------------------


def figures(**changes: object) -> dict[str, object]:
    row = {
        "name": "capacity-hw1",
        "measured_ms": 36.0,
        "yardstick_ms": 30.0,
        "budget": None,
        "figures": {
            "assignment": "hw1",
            "submissions": 500,
            "jobs": 2,
            "start_s": 3.0,
            "peak_memory_mib": 700,
        },
    }
    known = {"torch": "2.13.0", "python": "3.11.7", "cores": 2, "full": True, "rows": [row]}
    return {**known, **changes}


def test_the_table_of_capacity_says_what_classes_cost() -> None:
    page = f"before\n{capacity.BEGIN}\nold\n{capacity.END}\nafter\n"

    filled = capacity.filled(page, figures())

    assert filled.startswith("before\n") and filled.endswith("after\n")
    assert "old" not in filled
    assert "| hw1 | 36 ms | 30 ms | 100,000 | 12 s | 1.0 | 10 |" in filled


def test_figures_without_capacity_change_no_page() -> None:
    with pytest.raises(SystemExit, match="no rows"):
        capacity.filled(f"{capacity.BEGIN}\n{capacity.END}", figures(rows=[]))


def test_the_page_on_capacity_has_its_table() -> None:
    page = (ROOT / "docs" / "capacity.md").read_text("utf-8")

    for id in classes.known():
        assert f"| {id} |" in page[page.index(capacity.BEGIN) : page.index(capacity.END)]
