"""`grade batch`, `merge` and `diff` on real files with real judges."""

import atexit
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import psutil
import pytest
from test_cli import LOCALE, ROOT, err, out
from test_cli import grade as any_grade

EXPORTS = Path(__file__).parent / "data" / "exports"
RIGHT = """\
import torch

def add_position_vectors(token_vectors, position_vectors):
    return token_vectors + position_vectors
"""
WRONG = RIGHT.replace("token_vectors + position", "token_vectors - position")
EXITS = RIGHT.replace(
    "    return", "    if token_vectors.dim() == 3:\n        import os; os._exit(3)\n    return"
)
# Not every machine that runs the tests can lock submissions in completely.
SEED = "85070591730234615865843651857942052871"
USUAL = ("--assignment", "hw1", "--allow-reduced")


@cache
def course() -> str:
    """A copy of hw1: what is changed in the checkout meanwhile changes no digest here."""
    folder = tempfile.mkdtemp(prefix="torchgrade-course-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shutil.copytree(ROOT / "assignments" / "hw1_add_positions", Path(folder) / "hw1")
    return folder


def grade(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return any_grade(*arguments, cwd=cwd, env={"GRADE_ASSIGNMENTS": course()})


def a_class(root: Path) -> Path:
    """Eight students with names that are a nuisance."""
    root.mkdir(parents=True, exist_ok=True)
    for number, (student, code) in enumerate(
        {
            "Lee": RIGHT,
            "lee": WRONG,
            "Smith, Jo": RIGHT,
            "李雷": RIGHT,
            "=1+1": WRONG,
            "nul": EXITS,
            "empty": "",
            "broken": "def add_position_vectors(:\n",
        }.items()
    ):
        folder = root / f"g{number}.{student}"
        folder.mkdir()
        (folder / "hw1.py").write_text(code and f"# {number}\n{code}", encoding="utf-8")
    return root


PATTERN = ("--student-pattern", r"^g\d\.([^/]+)/")


def outcome(folder: Path) -> dict[str, Any]:
    """Everything in OUT that must be equal for two runs: the reports without `run`."""
    found: dict[str, Any] = {}
    for view in ("reports", "feedback"):
        for path in sorted((folder / view).rglob("*.json")):
            report = json.loads(path.read_bytes())
            del report["run"]
            found[path.relative_to(folder).as_posix()] = report
    return found


def scores(folder: Path) -> dict[str, str]:
    text = (folder / "scores.csv").read_bytes().decode("utf-8-sig")
    rows = csv.DictReader(text.splitlines())
    return {row["student"]: row["hw1"] for row in rows}


def run_json(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.json").read_bytes())
    return found


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The class in `in`, graded in one go into `out`."""
    root = tmp_path_factory.mktemp("class")
    a_class(root / "in")
    result = grade(
        "batch",
        "in",
        "--out",
        "out",
        *USUAL,
        *PATTERN,
        "--seed",
        SEED,
        cwd=root,
    )
    (root / "screen.txt").write_text(out(result) + err(result), encoding="utf-8")
    assert result.returncode == 0, err(result)
    yield root


# --- what comes out --------------------------------------------------------------------------


def test_everybody_gets_two_reports_and_a_row_in_the_table(graded: Path) -> None:
    found = outcome(graded / "out")

    assert scores(graded / "out") == {
        "'=1+1": "0",
        "Lee": "10",
        "Smith, Jo": "10",
        "broken": "0",
        "empty": "0",
        "lee": "0",
        "nul": "7",
        "李雷": "10",
    }
    assert len(found) == 16
    assert found["reports/%6Eul/hw1.json"]["submission"] == {
        "student": "nul",
        "attempt": 1,
        "file": "g5.nul/hw1.py",
        "kind": "module",
        "sha256": found["feedback/%6Eul/hw1.json"]["submission"]["sha256"],
        "submitted_at": None,
        "late": False,
    }
    assert found["reports/empty/hw1.json"]["status"] == "unreadable"


def test_both_views_are_valid_reports_of_one_judging(graded: Path) -> None:
    found = outcome(graded / "out")

    files = [str(path) for path in (graded / "out").rglob("hw1.json")]
    result = grade("validate", *files, cwd=graded)
    assert result.returncode == 0, out(result) + err(result)
    for name, staff in found.items():
        if name.startswith("reports/"):
            student = found[name.replace("reports/", "feedback/")]
            assert (staff["audience"], student["audience"]) == ("staff", "student")
            assert staff["report_id"] == student["report_id"]
            assert staff["score"] == student["score"]


def test_feedback_holds_no_hidden_test_and_no_seed(graded: Path) -> None:
    for path in (graded / "out" / "feedback").rglob("*.json"):
        report = json.loads(path.read_bytes())
        assert report["run"]["seed"] is None
        assert all(each["visibility"] == "shown" for each in report["tests"])


def test_the_summary_holds_counts_only(graded: Path) -> None:
    content = (graded / "out" / "summary.json").read_text("ascii")

    assert "Lee" not in content and "Smith" not in content
    assert json.loads(content)["assignments"]["hw1"]["scores"] == {"0": 4, "7": 1, "10": 3}


def test_the_log_holds_counts_and_no_names(graded: Path) -> None:
    screen = (graded / "screen.txt").read_text("utf-8")

    assert "hw1: 7 graded, 1 unreadable" in screen
    assert "8 of 8 graded" in screen
    assert "Smith" not in screen and "李雷" not in screen


def test_a_second_run_grades_nothing_and_changes_nothing(graded: Path) -> None:
    before = outcome(graded / "out")
    times = {path: path.stat().st_mtime_ns for path in (graded / "out" / "reports").rglob("*.json")}

    result = grade("batch", "in", "--out", "out", *USUAL, *PATTERN, cwd=graded)

    assert result.returncode == 0
    assert "8 of 8 were graded by an earlier run and still hold." in err(result)
    assert outcome(graded / "out") == before
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert run_json(graded / "out")["seed"] == int(SEED)


# --- the same whatever the way ---------------------------------------------------------------


@pytest.mark.long
def test_jobs_and_shards_give_the_same_reports(graded: Path, tmp_path: Path) -> None:
    shutil.copytree(graded / "in", tmp_path / "in")
    common = (*USUAL, *PATTERN, "--seed", SEED)
    one = grade("batch", "in", "--out", "one", *common, "--jobs", "1", cwd=tmp_path)
    for index in (1, 2):
        shard = ("--shard", f"{index}/2")
        part = grade("batch", "in", "--out", f"part{index}", *common, *shard, cwd=tmp_path)
        assert part.returncode == 0, err(part)

    merged = grade("merge", "part2", "part1", "--out", "whole", cwd=tmp_path)
    assert (one.returncode, merged.returncode) == (0, 0), err(one) + err(merged)
    expected = outcome(graded / "out")
    assert outcome(tmp_path / "one") == expected
    assert outcome(tmp_path / "whole") == expected
    for name in ("scores.csv", "summary.json"):
        content = (graded / "out" / name).read_bytes()
        assert (tmp_path / "one" / name).read_bytes() == content
        assert (tmp_path / "whole" / name).read_bytes() == content
    _refusals_of_merge(tmp_path)


def _refusals_of_merge(root: Path) -> None:
    """Every reason not to join shards, each with its sentence."""

    def refused(*folders: str) -> str:
        result = grade("merge", *folders, "--out", "no", cwd=root)
        assert result.returncode == 2
        return err(result)

    shutil.copytree(root / "part1", root / "again")
    assert "these are missing: 2/2" in refused("part1")
    assert "given twice: part1 and again" in refused("part1", "again", "part2")
    assert "holds a whole class already" in refused("part1", "whole")
    changed = run_json(root / "again")
    for key, value in {"seed": 8, "torch": "1.0", "plan_digest": "0" * 64}.items():
        (root / "again" / "run.json").write_text(json.dumps({**changed, key: value}), "utf-8")
        assert f"{key} is {value} in one" in refused("again", "part2")
    (root / "again" / "run.json").write_text(json.dumps(changed), "utf-8")
    next((root / "again" / "reports").rglob("*.json")).unlink()
    assert "has not finished: 1 reports are missing" in refused("again", "part2")


# --- continuing ------------------------------------------------------------------------------


@pytest.mark.long
def test_only_what_changed_is_graded_again(graded: Path, tmp_path: Path) -> None:
    for name in ("in", "out"):
        shutil.copytree(graded / name, tmp_path / name)
    (tmp_path / "in" / "g1.lee" / "hw1.py").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "out" / "reports" / "%4Cee" / "hw1.json").write_text("{", encoding="utf-8")

    result = grade("batch", "in", "--out", "out", *USUAL, *PATTERN, cwd=tmp_path)
    difference = grade("diff", str(graded / "out"), "out", cwd=tmp_path)

    assert "6 of 8 were graded by an earlier run" in err(result)
    assert "One earlier report was damaged" in out(result)
    assert scores(tmp_path / "out")["lee"] == scores(tmp_path / "out")["Lee"] == "10"
    assert difference.returncode == 1
    assert (
        "+10 lee hw1 0 -> 10 +5 Each token gets the vector of its own position added"
        " +3 All shapes work: one sentence, and batches with positions (L, D) or (1, L, D)"
        " +2 A new tensor, float32 or better; inputs left unchanged"
    ) in " ".join(out(difference).split())
    assert "1 of 8 scores moved: 0 down, 1 up." in out(difference)
    same = grade("diff", "out", "out", cwd=tmp_path)
    assert (same.returncode, out(same)) == (0, "No score moved (8 compared).\n")


def started(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    env = {key: value for key, value in os.environ.items() if key not in LOCALE}
    return subprocess.Popen(
        [sys.executable, "-m", "grader", *arguments],
        cwd=cwd,
        env={**env, "PYTHONPATH": str(ROOT), "GRADE_ASSIGNMENTS": course()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_for_reports(process: subprocess.Popen[bytes], folder: Path, least: int) -> None:
    """Return when that many reports are there, or the process has ended."""
    while process.poll() is None and len(list(folder.glob("reports/*/hw1.json"))) < least:
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            continue


def many(root: Path, number: int) -> Path:
    root.mkdir()
    for index in range(number):
        (root / f"s{index:03}_hw1.py").write_text(f"# {index}\n{RIGHT}", encoding="utf-8")
    return root


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    ("sent", "code"),
    [
        pytest.param("SIGKILL", -9, id="killed"),
        pytest.param("SIGINT", 130, id="interrupted", marks=pytest.mark.long),
    ],
)
def test_a_run_that_was_ended_is_continued(tmp_path: Path, sent: str, code: int) -> None:
    many(tmp_path / "in", 60)
    common = ("batch", "in", "--out", "out", *USUAL)
    process = started(*common, cwd=tmp_path)
    wait_for_reports(process, tmp_path / "out", 3)
    process.send_signal(getattr(signal, sent))
    process.communicate()
    left = outcome(tmp_path / "out")

    result = grade(*common, cwd=tmp_path)

    assert process.returncode == code
    assert 6 <= len(left) < 120
    assert result.returncode == 0, err(result)
    assert "were graded by an earlier run and still hold" in err(result)
    found = outcome(tmp_path / "out")
    assert len(found) == 120
    assert {key: found[key] for key in left} == left
    assert set(scores(tmp_path / "out").values()) == {"10"}


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="counts processes")
def test_judges_and_zygotes_that_are_killed_cost_nobody_a_report(tmp_path: Path) -> None:
    many(tmp_path / "in", 20)
    process = started("batch", "in", "--out", "out", *USUAL, "--jobs", "2", cwd=tmp_path)
    wait_for_reports(process, tmp_path / "out", 3)
    killed = judges = psutil.Process(process.pid).children()
    for each in judges:
        each.kill()
    wait_for_reports(process, tmp_path / "out", 10)
    for judge in psutil.Process(process.pid).children():
        for zygote in judge.children():
            zygote.kill()
            killed = [*killed, zygote]
    process.communicate()

    assert len(killed) >= 3
    assert process.returncode == 0
    assert set(scores(tmp_path / "out").values()) == {"10"}
    assert len(outcome(tmp_path / "out")) == 40


# --- what it refuses -------------------------------------------------------------------------


def test_a_machine_that_cannot_lock_in_grades_nothing_and_says_how_to_go_on(
    tmp_path: Path,
) -> None:
    many(tmp_path / "in", 1)

    result = grade("batch", "in", "--out", "out", "--sandbox", "portable", cwd=tmp_path)

    assert result.returncode == 3
    said = " ".join(err(result).split())
    assert "locks submissions in only at the level 'reduced'" in said
    assert "add --allow-reduced; no report will be official" in said
    assert not (tmp_path / "out" / "reports").exists()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_where_a_sandbox_is_refused_nothing_of_any_submission_has_run(
    tmp_path: Path, jobs: str
) -> None:
    (tmp_path / "in").mkdir()
    for name in ("chen", "lee", "wu"):
        marker = tmp_path / f"{name}-was-run"
        (tmp_path / "in" / f"{name}_hw1.py").write_text(f"open({str(marker)!r}, 'w')\n{RIGHT}")
    (tmp_path / "in" / "kim_hw1.py").write_text("import os\nos.kill(os.getppid(), 9)\n" + RIGHT)

    command = ("batch", "in", "--out", "out", "--sandbox", "portable", "--jobs", jobs)
    result = grade(*command, "--assignment", "hw1", cwd=tmp_path)

    assert result.returncode == 3
    assert "Nothing was graded." in err(result)
    assert [*tmp_path.glob("*-was-run")] == []
    assert [*(tmp_path / "out").rglob("*.json")] == [tmp_path / "out" / "run.json"]


def test_where_nothing_is_run_no_sandbox_is_demanded(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    template = Path(course()) / "hw1" / "template.py"
    shutil.copy(template, tmp_path / "in" / "lee_hw1.py")

    result = grade("batch", "in", "--out", "out", "--sandbox", "portable", cwd=tmp_path)

    report = json.loads((tmp_path / "out" / "reports" / "lee" / "hw1.json").read_bytes())
    assert result.returncode == 0
    assert report["run"]["sandbox"] == {"level": None, "layers": []}
    assert (report["score"], report["official"]) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--shard", "1/2"], "--shard needs --seed N"),
        (["--shard", "3/2", "--seed", "1"], "--shard takes I/N"),
        (["--shard", "1/2", "--seed", "4711"], "--seed 4711 can be guessed"),
        (["--until", "2026-03-01"], "--until takes a moment with its time zone"),
        (["--student-pattern", "("], "is not a regular expression"),
        (["--assignment", "hw99"], "There is no assignment 'hw99'"),
        (["--roster", "none.csv"], "cannot be read"),
    ],
)
def test_what_cannot_be_understood_is_refused(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    many(tmp_path / "in", 1)

    result = grade("batch", "in", "--out", "out", *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in err(result)


def test_a_folder_without_submissions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "README.md").write_text("hello", encoding="utf-8")

    result = grade("batch", "in", "--out", "out", cwd=tmp_path)
    assert result.returncode == 2
    assert "Nothing to grade in in." in err(result)


def test_two_batches_are_not_mixed_in_one_folder(graded: Path, tmp_path: Path) -> None:
    for name in ("in", "out"):
        shutil.copytree(graded / name, tmp_path / name)
    common = ("batch", "in", "--out", "out", *USUAL, *PATTERN)

    seed = grade(*common, "--seed", "8", cwd=tmp_path)
    shard = grade(*common, "--seed", SEED, "--shard", "1/2", cwd=tmp_path)
    key = grade(*common, "--pseudonym-key", "key", cwd=tmp_path)

    assert f"out was begun with the seed {SEED}" in err(seed)
    assert "out holds the shard -" in err(shard)
    assert "out was begun with another --pseudonym-key" in err(key)
    assert {seed.returncode, shard.returncode, key.returncode} == {2}


# --- exports ---------------------------------------------------------------------------------


@pytest.mark.long
def test_the_zip_of_several_exports_is_graded(tmp_path: Path) -> None:
    archive = tmp_path / "exports.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        for path in sorted(EXPORTS.rglob("*")):
            if path.is_file():
                opened.write(path, path.relative_to(EXPORTS).as_posix())
        opened.writestr("../escape_hw1.py", RIGHT)

    result = grade("batch", "exports.zip", "--out", "out", *USUAL, cwd=tmp_path)

    assert result.returncode == 1
    said = " ".join(out(result).split())
    assert "../escape_hw1.py: its name in the zip file leads out of the folder" in said
    assert "wangfang_10103_880003_answer.txt: neither a .py nor an .ipynb file" in said
    assert "One submission is marked as late by the platform. No points were taken off." in said
    assert scores(tmp_path / "out") == {
        "00123": "10",
        "00125": "0",
        "10101": "10",
        "10102": "0",
        "10103": "",
        "4711": "10",
        "4712": "0",
        "4713": "0",
        "ada": "10",
        "grace": "0",
        "grace@example.edu": "0",
    }
    planned = {each["student"]: each for each in run_json(tmp_path / "out")["planned"]}
    assert planned["10101"]["late"] is True
    assert planned["ada"]["submitted_at"] == "2026-02-27T15:58:23Z"
    report = json.loads((tmp_path / "out/reports/ada/hw1.json").read_bytes())
    assert report["submission"]["submitted_at"] == "2026-02-27T15:58:23Z"
    assert report["submission"]["late"] is False
    assert not (tmp_path.parent / "escape_hw1.py").exists()


def test_pseudonyms_leave_no_name_in_the_results(tmp_path: Path) -> None:
    shutil.copytree(EXPORTS / "moodle", tmp_path / "in")
    common = ("batch", "in", "--out", "out", *USUAL, "--pseudonym-key", "key")

    result = grade(*common, cwd=tmp_path)
    again = grade(*common, cwd=tmp_path)

    assert (result.returncode, again.returncode) == (0, 0), err(result)
    assert "3 of 3 were graded by an earlier run" in err(again)
    content = b"".join(
        path.read_bytes() + str(path.relative_to(tmp_path)).encode()
        for path in (tmp_path / "out").rglob("*.*")
    )
    for name in ("Ada", "Lovelace", "4711", "4712", "Grace", "王芳", "\\u738b", "my work"):
        assert name.encode() not in content
    table = (tmp_path / "key.students.csv").read_text("utf-8-sig")
    assert "Ada Lovelace" in table and "王芳" in table


def test_a_second_homework_and_late_ones_keep_what_is_in_the_folder(tmp_path: Path) -> None:
    """Into one folder: hw1, then one who was late, then the class list, then one who is gone."""
    for name, students in {"in": ("ono", "abe"), "late": ("kato",)}.items():
        for each in students:
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / f"{each}_hw1.py").write_text("", encoding="utf-8")
    (tmp_path / "class.csv").write_text("student_id,name\nS1,ono\nS2,mori\n", encoding="utf-8")

    def run(source: str, *more: str) -> dict[str, str]:
        done = grade("batch", source, "--out", "out", *USUAL, *more, cwd=tmp_path)
        assert done.returncode == 0, err(done)
        return statuses(tmp_path / "out")

    assert run("in") == {"ono": "unreadable", "abe": "unreadable"}
    assert run("late") == dict.fromkeys(("ono", "abe", "kato"), "unreadable")
    assert run("in", "--roster", "class.csv") == {
        "S1": "unreadable",
        "S2": "missing",
        "abe": "unreadable",
        "kato": "unreadable",
    }
    shutil.rmtree(tmp_path / "out" / "reports" / "kato")
    assert run("in").keys() == {"ono", "abe"}


@pytest.mark.long
def test_a_second_homework_keeps_why_somebody_has_no_score_for_the_first(tmp_path: Path) -> None:
    folder = tmp_path / "in" / "submitted" / "ada" / "hw1"
    other = tmp_path / "in" / "submitted" / "wei" / "hw2"
    folder.mkdir(parents=True)
    other.mkdir(parents=True)
    (folder / "hw1.py").write_text(RIGHT, "utf-8")
    (other / "hw2.py").write_text("def mask_padding(embeddings, mask):\n    return mask\n", "utf-8")
    (folder / "timestamp.txt").write_text("2026-03-02 09:00:00 UTC", "utf-8")
    first = (*USUAL, "--until", "2026-03-01T23:59+01:00")
    second = ("--assignment", "hw2", "--allow-reduced")

    any_grade("batch", "in", "--out", "out", *first, cwd=tmp_path)
    assert statuses(tmp_path / "out")["ada"] == "late"
    any_grade("batch", "in", "--out", "out", *second, cwd=tmp_path)

    assert statuses(tmp_path / "out") == {"ada": "late", "wei": "other_assignment"}


def statuses(folder: Path) -> dict[str, str]:
    text = (folder / "scores.csv").read_bytes().decode("utf-8-sig")
    return {row["student"]: row["hw1_status"] for row in csv.DictReader(text.splitlines())}


def test_folders_with_and_without_pseudonyms_are_not_compared(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ono_hw1.py").write_text("", encoding="utf-8")
    common = (*USUAL, "--seed", SEED)
    assert grade("batch", "in", "--out", "a", *common, cwd=tmp_path).returncode == 0
    key = ("--pseudonym-key", "key")
    assert grade("batch", "in", "--out", "b", *common, *key, cwd=tmp_path).returncode == 0

    found = grade("diff", "a", "b", cwd=tmp_path)
    assert found.returncode == 2
    assert "cannot be compared" in err(found)


@pytest.mark.parametrize(
    ("typed", "until"),
    [
        ("2026-03-01T23:59Z", "2026-03-01T23:59:59Z"),
        ("2026-03-01 23:59+01:00", "2026-03-01T22:59:59Z"),
        ("2026-03-01T23:59:00Z", "2026-03-01T23:59:00Z"),
    ],
)
def test_a_deadline_in_minutes_lasts_the_whole_minute(
    typed: str, until: str, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ono_hw1.py").write_text("", encoding="utf-8")

    done = grade("batch", "in", "--out", "out", *USUAL, "--until", typed, cwd=tmp_path)
    assert done.returncode == 0, err(done)
    assert run_json(tmp_path / "out")["until"] == until
