"""The judge under `grade check`: whose fault it is, and that nothing else is graded by it."""

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from test_cli import err, grade

from grader import assignment, grading, submission

ASSIGNMENT = """\
id = "tiny"
version = "1.0"
title = { en = "Two functions" }

[[entry_points]]
name = "double"
parameters = [{ name = "x", kind = "tensor" }]
result = { kind = "tensor", like = "x" }

[[entry_points]]
name = "half"
parameters = [{ name = "n", kind = "number" }]
result = { kind = "number" }

[limits]
call_s = 0.3
memory_mib = 128
"""

RUBRIC = """\
[[criteria]]
id = "double"
points = 4
title = { en = "Doubling" }
entry_points = ["double"]

[[criteria]]
id = "half"
points = 3
title = { en = "Halving" }
entry_points = ["half"]

[[criteria]]
id = "other"
points = 3
title = { en = "Halving other numbers" }
entry_points = ["half"]
"""

PUBLIC = """\
import pytest
import torch

from grader.suite.compare import assert_close


@pytest.mark.criterion("double")
def test_double(student):
    x = torch.tensor([1.0, 2.0])
    assert_close(student.double(x), 2 * x, atol=0.0)


@pytest.mark.criterion("half")
def test_half(student):
    assert_close(student.half(8), 4.0, atol=0.0)


@pytest.mark.criterion("other")
@pytest.mark.parametrize("n", [10, 3])
def test_half_of_others(student, n):
    assert_close(student.half(n), n / 2, atol=0.0)
"""

RIGHT = """\
def double(x):
    return 2 * x


def half(n):
    return n / 2
"""


def tiny(
    course: Path, *, id_: str = "tiny", suite: str = PUBLIC, call_s: float = 0.3, **files: str
) -> Path:
    """An assignment of two functions in the course folder, which is returned."""
    folder = course / f"{id_}_example"
    (folder / "suite").mkdir(parents=True)
    (folder / "assignment.toml").write_text(
        ASSIGNMENT.replace("tiny", id_).replace("call_s = 0.3", f"call_s = {call_s}")
    )
    (folder / "rubric.toml").write_text(RUBRIC)
    (folder / "suite" / "test_public.py").write_text(suite)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return course


def checked(
    course: Path,
    sources: Mapping[str, str],
    *options: str,
    env: Mapping[str, str] | None = None,
) -> tuple[dict[str, dict[str, Any]], "subprocess.CompletedProcess[bytes]"]:
    """The reports of one command over all these files, by name, and how the command ended."""
    work = course.parent / "work"
    work.mkdir(exist_ok=True)
    for name, text in sources.items():
        (work / f"{name}.py").write_text(text)
    result = grade(
        "--assignments",
        str(course),
        "check",
        *(f"{name}.py" for name in sources),
        "--out",
        "reports",
        "--audience",
        "staff",
        "--time-factor",
        "1",
        *options,
        cwd=work,
        env=env,
    )
    found = [json.loads(path.read_text()) for path in (work / "reports").rglob("*.json")]
    several = len({each["assignment"]["id"] for each in found}) > 1
    return {_name(each, several=several): each for each in found}, result


def grading_assignment(tmp_path: Path) -> assignment.Assignment:
    return assignment.load(tiny(tmp_path / "course") / "tiny_example")


def _name(report: Mapping[str, Any], *, several: bool) -> str:
    stem = Path(report["submission"]["file"]).stem
    return f"{stem}.{report['assignment']['id']}" if several else stem


def earned(report: Mapping[str, Any]) -> dict[str, int]:
    return {each["id"]: each["earned"] for each in report["criteria"]}


def causes(report: Mapping[str, Any]) -> dict[str, str | None]:
    return {each["id"]: each["cause"] for each in report["tests"]}


def outside_run(report: Mapping[str, Any]) -> str:
    """All of a report that must be equal from run to run."""
    parts = {key: value for key, value in report.items() if key != "run"}
    return json.dumps(parts, sort_keys=True)


# --- deaths in one criterion ---------------------------------------------------------------------

DEADLY = {
    "leaving": ("import os; os._exit(0)", "exit"),
    "crashing": ("import ctypes; ctypes.string_at(0)", "signal"),
    "looping": (
        "while True:\n            try:\n                while True: pass\n"
        "            except BaseException: pass",
        "timeout",
    ),
    "hoarding": ("kept = b'x' * (1 << 29); import time; time.sleep(5)", "memory"),
    "forging": (
        "import os, contextlib, time\n"
        "        for descriptor in range(3, 64):\n"
        "            with contextlib.suppress(OSError):\n"
        "                os.write(descriptor, b'{}' * 100)\n"
        "        time.sleep(9)",
        "garbled",
    ),
    "raising": ("raise SystemExit(0)", "raised"),
}


@pytest.mark.parametrize("sandbox", ["auto", pytest.param("portable", marks=pytest.mark.long)])
def test_a_death_in_one_criterion_costs_that_one_and_names_its_cause(
    tmp_path: Path, sandbox: str
) -> None:
    sources = {
        name: RIGHT.replace("    return n / 2", f"    if n == 8:\n        {code}\n    return n / 2")
        for name, (code, _) in DEADLY.items()
    }

    reports, result = checked(tiny(tmp_path / "course"), sources, "--sandbox", sandbox)

    assert result.returncode == 1, err(result)
    assert {name: earned(report) for name, report in reports.items()} == {
        name: {"double": 4, "half": 0, "other": 3} for name in DEADLY
    }
    assert {name: causes(report)["test_half"] for name, report in reports.items()} == {
        name: cause for name, (_, cause) in DEADLY.items()
    }
    for report in reports.values():
        test = next(each for each in report["tests"] if each["id"] == "test_half")
        assert test["verdict"] == "failed"
        assert test["message"]["en"]
        assert test["message"]["zh"]


def test_after_three_deaths_the_rest_is_not_run_and_earns_nothing(tmp_path: Path) -> None:
    source = "import os\ndef double(x): os._exit(1)\ndef half(n): os._exit(2)\n"

    reports, _ = checked(tiny(tmp_path / "course"), {"dying": source})

    verdicts = [(each["verdict"], each["cause"]) for each in reports["dying"]["tests"]]
    assert verdicts == [("failed", "exit")] * 3 + [("not_run", None)]
    assert reports["dying"]["score"] == 0


# --- whose fault it is ------------------------------------------------------------------------


def test_a_suite_that_errs_on_the_reference_too_is_the_graders_failure(tmp_path: Path) -> None:
    suite = PUBLIC + "\n\n@pytest.mark.criterion('half')\ndef test_broken(student):\n    1 / 0\n"

    reports, result = checked(
        tiny(tmp_path / "course", suite=suite, reference=RIGHT), {"one": RIGHT, "two": RIGHT}
    )

    assert result.returncode == 3
    assert [each["status"] for each in reports.values()] == ["grader_failed"] * 2
    assert [each["score"] for each in reports.values()] == [None, None]
    assert "test_broken" in err(result)


def test_a_suite_that_errs_on_the_submission_alone_leaves_that_criterion_open(
    tmp_path: Path,
) -> None:
    suite = PUBLIC + (
        "\n\n@pytest.mark.criterion('half')\n"
        "def test_fragile(student):\n"
        "    assert 1 / (student.half(4) - 3) == -1\n"
    )
    source = RIGHT.replace("n / 2", "3.0 if n == 4 else n / 2")

    reports, result = checked(
        tiny(tmp_path / "course", suite=suite, reference=RIGHT), {"odd": source, "right": RIGHT}
    )

    verdicts = {each["id"]: each["verdict"] for each in reports["odd"]["tests"]}
    assert verdicts["test_fragile"] == "errored"
    detail = next(e["detail"] for e in reports["odd"]["tests"] if e["id"] == "test_fragile")
    assert "test_fragile" in detail and "ZeroDivisionError" in detail
    assert not any(frame in detail for frame in ("_hookexec", "_multicall", "pytest_pyfunc"))
    assert earned(reports["odd"]) == {"double": 4, "half": None, "other": 3}
    assert (reports["odd"]["score"], reports["odd"]["decided"]) == (7, 7)
    assert reports["right"]["score"] == 10
    assert result.returncode == 0


BROKEN = {
    "skip_mark": (
        "@pytest.mark.skip\n@pytest.mark.criterion('half')\ndef test_it(student): pass",
        "may not skip",
    ),
    "xfail_mark": (
        "@pytest.mark.xfail\n@pytest.mark.criterion('half')\ndef test_it(student): pass",
        "may not skip",
    ),
    "skip": (
        "@pytest.mark.criterion('half')\ndef test_it(student): pytest.skip('no')",
        "may not skip",
    ),
    "xfail": (
        "@pytest.mark.criterion('half')\ndef test_it(student): pytest.xfail('no')",
        "may not skip",
    ),
    "exit": ("@pytest.mark.criterion('half')\ndef test_it(student): pytest.exit('no')", "ended"),
    "unknown_criterion": (
        "@pytest.mark.criterion('none')\ndef test_it(student): pass",
        "has no criterion 'none'",
    ),
    "no_criterion": ("def test_it(student): pass", "needs @pytest.mark.criterion"),
    "module_skip": ("pytest.skip('all of it', allow_module_level=True)", "all of it"),
    "import_error": ("import nowhere_to_be_found", "nowhere_to_be_found"),
    "unknown_entry_point": (
        "@pytest.mark.criterion('half')\ndef test_it(student): student.third(1)",
        "student.third",
    ),
}


def test_a_suite_that_breaks_the_rules_costs_no_student_a_point_and_others_are_judged(
    tmp_path: Path,
) -> None:
    course = tmp_path / "course"
    for id_, (line, _) in BROKEN.items():
        tiny(course, id_=id_, suite=f"{PUBLIC}\n\n{line}\n")
    tiny(course, id_="sound")

    reports, result = checked(course, {"one": RIGHT})

    assert {key: each["status"] for key, each in reports.items()} == {
        **{f"one.{id_}": "grader_failed" for id_ in BROKEN},
        "one.sound": "graded",
    }
    assert reports["one.sound"]["score"] == 10
    assert result.returncode == 3
    for id_, (_, named) in BROKEN.items():
        assert any(line.startswith(f"{id_}: ") for line in err(result).splitlines())
        assert named in err(result)


def test_who_kills_the_judge_gets_no_score_and_the_next_is_graded(tmp_path: Path) -> None:
    # The portable sandbox cannot keep a worker from it: the judge is its parent.
    killer = RIGHT.replace(
        "    return n / 2",
        "    import os, time\n    os.kill(os.getppid(), 9)\n    time.sleep(60)",
    )

    reports, result = checked(
        tiny(tmp_path / "course"), {"killer": killer, "next": RIGHT}, "--sandbox", "portable"
    )

    assert {name: each["status"] for name, each in reports.items()} == {
        "killer": "grader_failed",
        "next": "graded",
    }
    assert reports["next"]["score"] == 10
    assert result.returncode == 3


def test_who_aims_at_the_zygote_keeps_no_more_than_the_other_criteria(tmp_path: Path) -> None:
    killer = RIGHT.replace(
        "    return n / 2",
        "    import os, time\n    os.kill(os.getppid(), 9)\n    time.sleep(60)",
    )

    reports, _ = checked(tiny(tmp_path / "course"), {"killer": killer, "next": RIGHT})

    # Locked down, the signal is refused; else the zygote is gone, and so is the score.
    assert reports["killer"]["score"] in (None, 4)
    assert reports["next"]["score"] == 10


@pytest.mark.skipif(sys.platform != "linux", reason="finds the worker as Linux names it")
def test_a_worker_that_something_else_kills_costs_nobody_a_point(tmp_path: Path) -> None:
    made = grading_assignment(tmp_path)
    slow = RIGHT.replace("    return 2 * x", "    import time\n    time.sleep(1)\n    return 2 * x")
    (tmp_path / "slow.py").write_text(slow)
    reading = submission.understand(submission.read(tmp_path / "slow.py"), names=["double", "half"])
    ended = threading.Event()
    killer = threading.Thread(target=_kill_one_worker, args=(ended,))
    with grading.Judge.start(grading.Settings(time_factor=1.0, audience="staff")) as judge:
        killer.start()
        report = judge.grade(reading, made)
        ended.set()
        killer.join()

    assert (report["status"], report["score"], report["problems"]) == ("graded", 10, [])


def _kill_one_worker(ended: threading.Event) -> None:
    """Kill the first worker that computes something."""
    while not ended.wait(0.02):
        for each in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                parent = each.parent()
                names = (each.cmdline()[:1], parent.cmdline()[:1] if parent else [])
                # Its second child: below the judge there is the zygote, and below that the worker.
                if names[0] == names[1] and "torchgrade-worker" in "".join(names[0]):
                    ended.wait(0.3)
                    each.kill()
                    return


def test_who_kills_itself_loses_what_it_did_not_compute(tmp_path: Path) -> None:
    killer = RIGHT.replace("    return n / 2", "    import os\n    os.kill(os.getpid(), 9)")

    reports, _ = checked(tiny(tmp_path / "course"), {"killer": killer})

    assert (reports["killer"]["status"], reports["killer"]["score"]) == ("graded", 4)


# --- what stays the same --------------------------------------------------------------------------


def test_grading_a_b_a_gives_equal_reports_for_a(tmp_path: Path) -> None:
    spoiler = (
        "import torch, random, os\n"
        "torch.manual_seed(5); random.seed(5); torch.set_default_dtype(torch.float64)\n"
        "torch.set_num_threads(1)\nprint('noise')\nopen('left.txt', 'w').write('x')\n" + RIGHT
    )
    noisy = (
        "import torch, os\nprint(torch.rand(2).tolist(), sorted(os.listdir('.')))\n"
        + RIGHT
        + "\nprint(hash('a'), object())\n"
    )

    reports, _ = checked(
        tiny(tmp_path / "course"), {"first": noisy, "between": spoiler, "second": noisy}
    )

    first, second = (reports[name] for name in ("first", "second"))
    second["submission"]["file"] = first["submission"]["file"]
    assert outside_run(first) == outside_run(second)
    assert "left.txt" not in second["output"]["text"]


def test_several_assignments_in_one_file_are_judged_each_by_its_own_suite(tmp_path: Path) -> None:
    course = tiny(tmp_path / "course", id_="one")
    tiny(course, id_="two", suite=PUBLIC.replace("n / 2", "n / 4").replace("4.0", "2.0"))

    reports, result = checked(course, {"both": RIGHT})

    assert {name: each["score"] for name, each in reports.items()} == {
        "both.one": 10,
        "both.two": 4,
    }
    assert result.returncode == 1


def test_a_module_fixture_lives_for_one_submission(tmp_path: Path) -> None:
    suite = """\
import pytest


@pytest.fixture(scope="module")
def calls():
    return []


@pytest.mark.criterion("double")
def test_first(student, calls):
    calls.append(1)
    assert len(calls) == 1


@pytest.mark.criterion("half")
def test_second(student, calls):
    calls.append(1)
    assert len(calls) == 2


@pytest.mark.criterion("other")
def test_third(student, calls):
    assert len(calls) == 2
"""

    reports, _ = checked(
        tiny(tmp_path / "course", suite=suite), dict.fromkeys(("a", "b", "c"), RIGHT)
    )

    assert [each["score"] for each in reports.values()] == [10, 10, 10]


def test_staff_read_at_which_line_of_the_suite_a_test_was_lost(tmp_path: Path) -> None:
    course = tiny(tmp_path / "course")

    reports, _ = checked(course, {"wrong": RIGHT.replace("2 * x", "3 * x")})

    line = PUBLIC[: PUBLIC.index("    assert_close(student.double")].count("\n") + 1
    (lost,) = (each for each in reports["wrong"]["tests"] if each["verdict"] == "failed")
    assert f"\n  test_public.py:{line} test_double\n" in lost["detail"]


def test_a_parametrized_test_is_reported_once_for_each_parameter(tmp_path: Path) -> None:
    reports, _ = checked(tiny(tmp_path / "course"), {"odd": RIGHT.replace("n / 2", "n // 2")})

    verdicts = {each["id"]: each["verdict"] for each in reports["odd"]["tests"]}
    assert verdicts == {
        "test_double": "passed",
        "test_half": "passed",
        "test_half_of_others[10]": "passed",
        "test_half_of_others[3]": "failed",
    }
    assert earned(reports["odd"]) == {"double": 4, "half": 3, "other": 0}


def test_the_type_name_of_a_result_is_cleaned_before_it_is_shown(tmp_path: Path) -> None:
    source = RIGHT.replace("return n / 2", "return Bad()") + (
        "\nBad = type('\\x1b[31m\\u202eBad' + 'x' * 500, (), {})\n"
    )

    reports, _ = checked(tiny(tmp_path / "course"), {"bad": source})

    message = next(e for e in reports["bad"]["tests"] if e["id"] == "test_half")["message"]
    assert "\\x1b[31m\\u202eBad" in message["en"]
    assert "x" * 200 not in message["en"]


@pytest.mark.long
def test_a_judge_that_says_nothing_for_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading, "PATIENCE_S", 12.0)
    monkeypatch.setattr(grading, "PATIENCE_FACTOR", 0.0)
    suite = PUBLIC.replace("import torch\n", "import time\n\nimport torch\n\ntime.sleep(600)\n", 1)
    found = assignment.find_all(tiny(tmp_path / "course", suite=suite), {})[0]
    (tmp_path / "submission.py").write_text(RIGHT)
    reading = submission.understand(submission.read(tmp_path / "submission.py"))

    with grading.Judge.start(grading.Settings()) as judge:
        report = judge.grade(reading, found)

    assert (report["status"], report["score"]) == ("grader_failed", None)
    assert "the judge ended without an answer" in judge.failures[0]


# --- a sentence of the assignment's own for a wrong kind of value --------------------------


def test_an_assignment_says_in_its_own_words_what_a_tuple_lacks(tmp_path: Path) -> None:
    course = tiny(tmp_path / "course")
    (course / "tiny_example" / "texts.toml").write_text(
        '[en]\nreturned_tuple = "{function} gave a {got}: add its two halves."\n'
        '[zh]\nreturned_tuple = "{function} 返回了 {got}：请把两半加起来。"\n',
        encoding="utf-8",
    )
    sources = {
        "pair": RIGHT.replace("return 2 * x", "return x, x"),
        "listed": RIGHT.replace("return 2 * x", "return [x, x]"),
    }

    reports, _ = checked(course, sources)

    said = {name: each["criteria"][0]["message"] for name, each in reports.items()}
    assert said["pair"]["code"] == "tiny.returned_tuple"
    assert said["pair"]["en"] == "double gave a tuple: add its two halves."
    assert said["pair"]["zh"] == "double 返回了 tuple：请把两半加起来。"
    assert said["listed"]["code"] == "mismatch.kind.tensor"


def test_a_table_of_cosines_and_sines_is_told_to_be_applied(tmp_path: Path) -> None:
    text = (
        "import torch\n\n\n"
        "def apply_rope(x, positions=None, base=10000.0):\n"
        "    angles = torch.arange(x.shape[-2])[:, None] / base ** torch.arange(0, 1, 0.5)\n"
        "    return torch.cos(angles), torch.sin(angles)\n"
    )
    (tmp_path / "hw4.py").write_text(text, encoding="utf-8")

    result = grade("check", "hw4.py", "--lang", "zh", cwd=tmp_path)

    told = "".join(result.stdout.decode("utf-8").split())
    assert "用它们旋转x的每一对，再返回结果。" in told
