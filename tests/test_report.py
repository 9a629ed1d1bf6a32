"""Reports: their keys, what students may see, and the files they become."""

import copy
import json
import os
import stat
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import (
    ASSIGNMENT_TOML,
    a_diagnosis,
    a_problem,
    a_reading,
    a_report,
    a_run,
    a_submission,
    a_text,
    an_assignment,
    an_outcome,
    some_outcomes,
)
from hypothesis import given
from hypothesis import strategies as st

from grader import files, report, rubric
from grader.assignment import Assignment
from grader.claims import clean
from grader.errors import GraderError, UsageProblem
from grader.model import Json, Outcome, Place, Text
from grader.report import Output

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes, umask and words")

LOST = (
    an_outcome("test_turned", criterion="turning"),
    an_outcome(
        "test_neighbours", verdict="failed", cause="mismatch", message=a_text("shown"), detail="x"
    ),
    an_outcome("test_base", criterion="base"),
    an_outcome(
        "test_more_bases",
        criterion="base",
        visibility="hidden",
        verdict="failed",
        cause="mismatch",
        message=a_text("SECRET inputs 0.25"),
        detail="SECRET tolerance",
    ),
)


@pytest.fixture(scope="module")
def hw4(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    return an_assignment(tmp_path_factory.mktemp("course"))


# --- building --------------------------------------------------------------------------------


def test_a_report_has_the_keys_of_the_contract_in_their_order(hw4: Assignment) -> None:
    made = a_report(hw4, problems=[a_problem()], diagnoses=[a_diagnosis()])

    def keys(part: dict[str, Any]) -> str:
        return " ".join(part)

    assert keys(made) == (
        "schema_version report_id assignment submission status official audience score decided"
        " max_score criteria tests diagnoses problems output run"
    )
    assert keys(made["assignment"]) == "id title version digest"
    assert keys(made["submission"]) == "student attempt file kind sha256 submitted_at late"
    assert keys(made["criteria"][0]) == "id title points earned verdict needs message"
    assert keys(made["tests"][0]) == "id criterion visibility verdict cause message detail"
    assert keys(made["diagnoses"][0]) == "id title hint function by"
    assert keys(made["problems"][0]) == "kind message line cell cell_id quote"
    assert keys(made["output"]) == "text truncated"
    assert keys(made["run"]) == (
        "started_at duration_s seed grader_version python torch platform cpu_capability packages"
        " sandbox usage output"
    )
    assert made["run"]["sandbox"] == {"level": "full", "layers": ["rlimits", "seccomp"]}
    assert made["run"]["usage"] == {"cpu_s": 0.5, "peak_memory_mib": 40}
    assert made["run"]["output"] == {"tail": "the tail", "dropped_bytes": 12}


@pytest.mark.parametrize("audience", ["student", "staff"])
@pytest.mark.parametrize("outcomes", [some_outcomes(), LOST, ()])
def test_every_report_satisfies_its_schema(hw4: Assignment, audience: str, outcomes) -> None:
    made = a_report(
        hw4,
        outcomes=outcomes,
        audience=audience,
        problems=[a_problem()],
        diagnoses=[a_diagnosis()],
    )

    assert report.validate(made) == []
    assert report.validate(made, consumer=True) == []


def test_the_scores_are_those_of_the_rubric(hw4: Assignment) -> None:
    made = a_report(hw4, outcomes=LOST)

    assert (made["score"], made["decided"], made["max_score"]) == (3, 7, 7)
    assert [each["earned"] for each in made["criteria"]] == [3, 0, 0]


def test_a_text_is_there_in_both_languages_with_its_arguments(hw4: Assignment) -> None:
    text = Text(code="mismatch.values", en="one", zh="一", args={"index": [1, 2]})
    outcomes = [an_outcome(verdict="failed", message=text)]

    made = a_report(hw4, outcomes=outcomes)

    assert made["tests"][0]["message"] == {
        "code": "mismatch.values",
        "args": {"index": [1, 2]},
        "en": "one",
        "zh": "一",
    }


def test_the_place_of_a_problem_is_spread_over_its_keys(hw4: Assignment) -> None:
    place = Place(line=2, cell=7, cell_id="a1", quote="x = 1")

    (problem,) = a_report(hw4, problems=[a_problem("raised", place=place)])["problems"]

    assert (problem["kind"], problem["line"], problem["cell"]) == ("raised", 2, 7)
    assert (problem["cell_id"], problem["quote"]) == ("a1", "x = 1")


def test_problems_of_the_reading_are_never_forgotten_nor_doubled(hw4: Assignment) -> None:
    syntax, timeout = a_problem("syntax_error"), a_problem("timeout")
    reading = a_reading(problems=(syntax,))

    alone = a_report(hw4, reading=reading, problems=[timeout])
    joined = a_report(hw4, reading=reading, problems=[timeout, syntax])

    assert [each["kind"] for each in alone["problems"]] == ["syntax_error", "timeout"]
    assert [each["kind"] for each in joined["problems"]] == ["timeout", "syntax_error"]


def test_the_same_grading_has_the_same_id_in_both_views(hw4: Assignment) -> None:
    staff = a_report(hw4, run=a_run(started_at="2025-03-01T09:30:00Z"))
    student = a_report(
        hw4, run=a_run(started_at="2026-01-01T00:00:00Z", python="3.13.1"), audience="student"
    )

    assert staff["report_id"] == student["report_id"]


def test_whatever_makes_another_grading_makes_another_id(hw4: Assignment) -> None:
    base = a_submission(student="lee")
    runs = [
        (base, "d1", a_run()),
        (a_submission(student="kim"), "d1", a_run()),
        (a_submission(student="lee", attempt=2), "d1", a_run()),
        (a_submission(b"other", student="lee"), "d1", a_run()),
        (base, "d2", a_run()),
        (base, "d1", a_run(seed=8)),
        (base, "d1", a_run(grader_version="0.2.0")),
    ]

    assert len({report.report_id(*each) for each in runs}) == len(runs)


def test_only_run_depends_on_the_circumstances(hw4: Assignment) -> None:
    first = a_report(hw4, outcomes=LOST)
    second = a_report(hw4, outcomes=LOST, run=a_run(started_at="2026-01-01T00:00:00Z", torch="2.2"))

    del first["run"], second["run"]
    assert report.dumps(first) == report.dumps(second)


def test_after_a_grader_failure_nothing_is_decided(hw4: Assignment) -> None:
    made = a_report(hw4, outcomes=LOST, status="grader_failed")

    assert (made["score"], made["decided"], made["max_score"]) == (None, 0, 7)
    assert {(each["verdict"], each["earned"]) for each in made["criteria"]} == {("errored", None)}
    assert report.validate(made) == []


def test_an_unreadable_file_earns_0(hw4: Assignment) -> None:
    reading = a_reading(problems=(a_problem("encoding", place=Place()),), unreadable=True)

    made = a_report(hw4, reading=reading, outcomes=(), scored=(), status="unreadable")

    assert (made["score"], made["decided"]) == (0, 7)
    assert report.validate(made) == []


# --- the student's view ----------------------------------------------------------------------


def test_students_see_nothing_of_hidden_tests_nor_of_the_staffs_part(hw4: Assignment) -> None:
    made = a_report(hw4, outcomes=LOST, audience="student")

    assert [each["id"] for each in made["tests"]] == ["test_turned", "test_neighbours", "test_base"]
    assert {each["detail"] for each in made["tests"]} == {None}
    assert (made["run"]["seed"], made["run"]["usage"], made["run"]["output"]) == (None, None, None)
    assert "SECRET" not in report.dumps(made)
    assert report.validate(made) == []


def test_students_are_told_that_a_hidden_test_was_lost_but_not_how(hw4: Assignment) -> None:
    made = a_report(hw4, outcomes=LOST, audience="student")

    assert made["criteria"][1]["message"]["en"] == "shown"
    assert made["criteria"][2]["message"]["en"] == (
        "A hidden test did not pass: the requirement is the same as in the shown tests, the"
        " inputs are others."
    )


def test_staff_see_the_hidden_message_and_the_detail(hw4: Assignment) -> None:
    made = a_report(hw4, outcomes=LOST)

    assert made["criteria"][2]["message"]["en"] == "SECRET inputs 0.25"
    assert made["tests"][3]["detail"] == "SECRET tolerance"
    assert made["run"]["seed"] == 7


def test_what_the_rubric_itself_says_reaches_students(hw4: Assignment) -> None:
    scored = rubric.score(hw4.criteria, (), (), blank={"apply_rope"}, missing={"angle"})

    made = a_report(hw4, outcomes=(), scored=scored, audience="student")

    codes = [each["message"]["code"] for each in made["criteria"]]
    assert codes == ["criterion.not_done", "criterion.not_done", "criterion.missing"]


def test_students_learn_that_shown_tests_left_no_time_for_hidden_ones(hw4: Assignment) -> None:
    spent = a_text("No time left.", code="spent.total")
    outcomes = [an_outcome(visibility="hidden", verdict="not_run", message=spent)]

    made = a_report(hw4, outcomes=outcomes, audience="student", hidden_asked=False)

    assert made["criteria"][1]["message"]["en"] == "No time left."
    assert made["criteria"][1]["verdict"] == "not_run"


HIDDEN_ENDS = {
    "failed": an_outcome(visibility="hidden", verdict="failed", message=a_text("SECRET 0.25")),
    "raised": an_outcome(
        visibility="hidden", verdict="failed", cause="raised", message=a_text("SECRET 0.5")
    ),
    "timeout": an_outcome(visibility="hidden", verdict="failed", cause="timeout"),
    "no time left": an_outcome(
        visibility="hidden", verdict="not_run", message=a_text("No.", code="spent.total")
    ),
    "no life left": an_outcome(
        visibility="hidden", verdict="not_run", message=a_text("No.", code="spent.deaths")
    ),
    "not begun": an_outcome(
        visibility="hidden", verdict="not_run", message=a_text("No.", code="criterion.not_run")
    ),
}


def test_all_ways_of_losing_a_hidden_test_look_alike_to_students(hw4: Assignment) -> None:
    """How it was lost is what a submission can choose once it has seen the inputs."""
    made = [
        a_report(hw4, outcomes=[an_outcome(), each], audience="student")
        for each in HIDDEN_ENDS.values()
    ]

    seen = {json.dumps(each, sort_keys=True) for each in made}
    assert len(seen) == 1
    assert made[0]["criteria"][1]["verdict"] == "failed"


def test_how_long_a_submission_with_hidden_inputs_took_is_for_staff(hw4: Assignment) -> None:
    hidden = [an_outcome(), an_outcome(visibility="hidden")]

    student = a_report(hw4, outcomes=hidden, audience="student")
    staff = a_report(hw4, outcomes=hidden)
    at_home = a_report(hw4, outcomes=[an_outcome()], audience="student", hidden_asked=False)

    assert student["run"]["duration_s"] is None
    broken = a_report(hw4, outcomes=(), status="grader_failed", audience="student")
    assert broken["run"]["duration_s"] is None
    assert student["run"]["started_at"].endswith(":00Z")
    assert staff["run"]["duration_s"] == at_home["run"]["duration_s"] > 0
    assert [report.validate(each) for each in (student, staff, at_home)] == [[], [], []]


def test_students_see_the_output_up_to_the_first_hidden_test(hw4: Assignment) -> None:
    output = Output(text="before\x1b[0m|after", before_hidden=len("before\x1b[0m|"))

    student = a_report(hw4, output=output, audience="student")["output"]
    staff = a_report(hw4, output=output)["output"]

    # Not whether there was more: that, too, a submission can decide by what it has seen.
    assert student == {"text": r"before\x1b[0m|", "truncated": False}
    assert staff == {"text": r"before\x1b[0m|after", "truncated": False}


def test_students_see_no_output_when_it_is_not_known_where_hidden_tests_begin(
    hw4: Assignment,
) -> None:
    made = a_report(hw4, output=Output(text="anything"), audience="student")

    assert made["output"] == {"text": "", "truncated": True}


def test_without_hidden_tests_students_see_all_output(hw4: Assignment) -> None:
    made = a_report(hw4, outcomes=LOST[:3], output=Output(text="anything"), audience="student")

    assert made["output"] == {"text": "anything", "truncated": False}


def test_a_hint_is_for_staff_only_where_hints_are_turned_off(tmp_path: Path) -> None:
    strict = an_assignment(
        tmp_path, assignment_toml=ASSIGNMENT_TOML.replace("hints = true", "hints = false")
    )

    student = a_report(strict, diagnoses=[a_diagnosis()], audience="student")
    staff = a_report(strict, diagnoses=[a_diagnosis()])

    assert student["diagnoses"][0]["hint"] is None
    assert staff["diagnoses"][0]["hint"]["en"] == "Which two are turned?"


# --- what a submission says ------------------------------------------------------------------


FOLDER = "torchgrade-xxxxxxxx"


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("windows\r\nline", "windows\nline"),
        ("10%\r20%", r"10%\r20%"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("a\u202eb\u2066c\u200f", r"a\u202eb\u2066c\u200f"),
        ("a\u2028b\ufeff", r"a\u2028b\ufeff"),
        ("\ud800 lone", "\ufffd lone"),
        ("<object at 0x7f3Abc00>", "<object at 0x…>"),
        ("mask 0xff", "mask 0xff"),
        ("in /tmp/torchgrade-a1_b2c3d/worker", "in /tmp/torchgrade-xxxxxxxx/worker"),
        ("| /tmp/torchgrade-ab12cd34 |\n", "| /tmp/torchgrade-xxxxxxxx |\n"),
        ("torchgrade-ab12cd34/bench/torchgrade-ef56gh78/f", f"{FOLDER}/bench/{FOLDER}/f"),
        ("torchgrade-ab12cd34/a/tmp9z_8y7x6/f.txt", f"{FOLDER}/a/tmpxxxxxxxx/f.txt"),
        (r"C:\torchgrade-ab12cd34\tmpab12cd34", rf"C:\{FOLDER}\tmpxxxxxxxx"),
        ("/tmp/tmpab12cd34", "/tmp/tmpab12cd34"),
        ("so far /tmp/torchgrade-ab1", "so far /tmp/torchgrade-xxx"),
        ("so far /tmp/torchgrade-ab12cd34/tmpz", f"so far /tmp/{FOLDER}/tmpx"),
        ("pip install ./torchgrade-0.1.0-py3-none-any.whl",) * 2,
        ("张量 👩‍💻", "张量 👩‍💻"),
    ],
)
def test_a_claim_is_made_harmless(claim: str, expected: str) -> None:
    assert expected == clean(claim)


def test_wherever_a_claim_is_cut_two_runs_look_alike() -> None:
    told = "at /tmp/torchgrade-{0}/bench/torchgrade-{1}/worker/tmp{2} it was"
    first, second = told.format("ab12cd34", "a_b2c3d4", "hgfedcba"), told.format(*["q" * 8] * 3)

    for limit in range(len(first) + 1):
        assert clean(first, limit) == clean(second, limit)
        assert clean(first[:limit]) == clean(second[:limit])


def test_of_a_long_claim_head_and_tail_are_kept() -> None:
    assert clean("a" * 50 + "z" * 50, 30) == "a" * 18 + " … " + "z" * 9


PIECES = st.lists(st.sampled_from(["torchgrade-", "ab", "cd_9", ".", "/", "tmp", "12345678", " "]))


@given(
    st.text(alphabet=st.characters(codec=None)) | PIECES.map("".join),
    st.integers(0, 50),
)
def test_cleaning_again_changes_nothing_and_the_limit_holds(text: str, limit: int) -> None:
    once = clean(text, limit)

    assert len(once) <= limit
    assert once == clean(once, limit)
    once.encode("utf-8")
    assert all(each in "\n\t" or not (each < " " or "\x7f" <= each <= "\x9f") for each in once)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.integers(10**300, 10**400)
        | st.floats()
        | st.text(alphabet=st.characters(codec=None)),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ),
    st.text(alphabet=st.characters(codec=None)),
)
def test_whatever_is_said_the_report_is_valid_and_comes_back_equal(
    hw4: Assignment, value: Any, words: str
) -> None:
    message = Text(code="mismatch.values", en=words, zh=words, args={"seen": value})
    outcomes = [an_outcome(verdict="failed", message=message, detail=words)]

    made = a_report(hw4, outcomes=outcomes, output=Output(text=words))

    assert report.validate(made) == []
    text = report.dumps(made)
    assert text.isascii()
    assert json.loads(text) == made


# --- validating ------------------------------------------------------------------------------


def set_at(document: Any, path: str, value: Any) -> Any:
    """A copy of the document with another value at `criteria.0.points`."""
    changed = copy.deepcopy(document)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = changed
    for step in way:
        place = place[step]
    place[last] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("status", "done", '$.status: expected one of "graded", "unreadable", "grader_failed",'
         ' got "done"'),
        ("schema_version", "2.0", '$.schema_version: expected "1.0", got "2.0"'),
        ("score", 7.5, "$.score: expected integer or null, got 7.5"),
        ("score", True, "$.score: expected integer or null, got true"),
        ("score", 6, "$.score: expected 7, as the criteria add up to, got 6"),
        ("score", None, "$.score: expected integer, got null"),
        ("decided", 6, "$.decided: expected 7, as the criteria add up to, got 6"),
        ("max_score", 8, "$.max_score: expected 7, as the criteria add up to, got 8"),
        ("max_score", -1, "$.max_score: expected at least 0, got -1"),
        ("criteria.1.points", "3", '$.criteria[1].points: expected integer, got "3"'),
        ("criteria.1.message", {}, '$.criteria[1].message: the key "code" is missing'),
        ("criteria.1.needs", ["x"], '$.criteria[1].needs[0]: no criterion "x"'),
        ("criteria.1.id", "turning", '$.criteria[1].id: "turning" stands twice'),
        ("tests.0.visible", True, '$.tests[0]: unknown key "visible"; did you mean "visibility"?'),
        ("tests.0.criterion", "x", '$.tests[0].criterion: no criterion "x"'),
        ("tests.0.verdict", "failed", '$.tests[0].verdict: expected "passed", as its criterion'
         ' is, got "failed"'),
        ("tests.0.id", "", '$.tests[0].id: expected text that is not empty, got ""'),
        ("report_id", "x", '$.report_id: expected text that matches ^[0-9a-f]{64}$, got "x"'),
        ("run.seed", None, "$.run.seed: expected integer, got null"),
        ("run.duration_s", float("nan"), "$.run.duration_s: expected a finite number, got nan"),
        ("run.duration_s", float("inf"), "$.run.duration_s: expected a finite number, got inf"),
        ("output.text", "a\ud800", "$.output.text: expected Unicode text, got a lone surrogate in"
         " 'a\\ud800'"),
        ("submission.file", "/etc/x", '$.submission.file: expected text that matches ^[^\\\\/],'
         ' got "/etc/x"'),
    ],
)  # fmt: skip
def test_each_problem_names_path_expectation_and_value(
    hw4: Assignment, path: str, value: Any, problem: str
) -> None:
    problems = report.validate(set_at(a_report(hw4), path, value))

    assert problem == problems[0]


def test_a_criterion_earns_all_its_points_or_none(hw4: Assignment) -> None:
    made = set_at(set_at(a_report(hw4), "criteria.0.earned", 2), "score", 6)

    assert report.validate(made) == [
        '$.criteria[0].earned: expected 3 of 3 points with verdict "passed", got 2'
    ]


def test_a_missing_key_is_named(hw4: Assignment) -> None:
    made = a_report(hw4)
    del made["run"]["python"]

    assert report.validate(made) == ['$.run: the key "python" is missing']


def test_an_official_report_has_nothing_pending(hw4: Assignment) -> None:
    made = a_report(hw4, outcomes=some_outcomes()[:2], official=True)

    assert report.validate(made) == [
        "$.official: expected false while a criterion is undecided, got true"
    ]


def test_a_students_view_with_a_seed_or_a_hidden_test_is_refused(hw4: Assignment) -> None:
    made = set_at(a_report(hw4), "audience", "student")

    assert report.validate(made) == [
        '$.run.output: expected null, got {"tail": "the tail", "dropped_bytes": 12}',
        "$.run.seed: expected null, got 7",
        '$.run.usage: expected null, got {"cpu_s": 0.5, "peak_memory_mib": 40}',
        '$.tests[3].detail: expected null, got "seed 7"',
        '$.tests[3].visibility: expected "shown", got "hidden"',
    ]


def test_something_else_than_an_object_is_refused() -> None:
    assert report.validate([1]) == ["$: expected object, got [1]"]


def test_consumers_accept_the_keys_of_a_later_version(hw4: Assignment) -> None:
    later = set_at(set_at(a_report(hw4), "schema_version", "1.7"), "run.weather", "sunny")

    assert len(report.validate(later)) == 2
    assert report.validate(later, consumer=True) == []


def test_consumers_refuse_another_major_version(hw4: Assignment) -> None:
    assert report.validate(set_at(a_report(hw4), "schema_version", "2.0"), consumer=True)


def test_the_two_schemas_have_different_ids_and_only_one_is_strict() -> None:
    strict, opened = report.schema("report"), report.schema("report", consumer=True)

    assert strict["$id"] != opened["$id"]
    assert "additionalProperties" in json.dumps(strict)
    assert "additionalProperties" not in json.dumps(opened)


def test_an_unknown_schema_is_a_usage_problem() -> None:
    with pytest.raises(UsageProblem) as caught:
        report.schema("rubrik")

    assert str(caught.value) == 'there is no schema "rubrik"; did you mean "rubric"?'


# --- how long a report may be --------------------------------------------------------------------


def a_long_text(start: str, *, words: int = 400) -> Text:
    """What a submission may raise: 4,000 characters, told in both languages and its argument."""
    said = start + "0123456789" * words
    return Text(code="raised.call", args={"message": said}, en=f"raised {said}", zh=f"抛出 {said}")


def lost_to(*messages: Text, criterion: str = "base") -> list[Outcome]:
    return [
        an_outcome(
            f"test_{number}",
            criterion=criterion,
            verdict="failed",
            cause="raised",
            message=message,
            detail=message.en * 5,
        )
        for number, message in enumerate(messages)
    ]


def size(made: dict[str, Any]) -> int:
    return len(report.dumps(made))


def test_however_much_a_submission_says_its_report_stays_short(hw4: Assignment) -> None:
    said = [a_long_text(str(number)) for number in range(80)]

    made = a_report(hw4, outcomes=lost_to(*said))

    assert size(made) < 128 * 1024 + 40 * 1024
    assert report.validate(made) == []
    assert all("…" in each["message"]["en"] for each in made["tests"])


def test_emoji_count_as_the_bytes_that_they_take(hw4: Assignment) -> None:
    said = [a_long_text(f"{number}" + "\U0001f600" * 3000, words=10) for number in range(40)]

    assert size(a_report(hw4, outcomes=lost_to(*said))) < 200 * 1024


def test_the_first_three_losses_stay_whole(hw4: Assignment) -> None:
    first, second, third = (a_long_text(each) for each in ("first", "second", "third"))
    many = [a_long_text(str(number)) for number in range(80)]
    outcomes = [
        *lost_to(first, *many, criterion="turning"),
        *lost_to(second, *many, criterion="pairing"),
        *lost_to(third, *many, criterion="base"),
    ]

    made = a_report(hw4, outcomes=outcomes)

    told = [each["message"] for each in made["criteria"] if each["verdict"] == "failed"]
    assert told
    assert {len(each["en"]) for each in told} <= {len(each.en) for each in (first, second, third)}
    assert all("…" in each["message"]["en"] for each in made["tests"])


def test_equal_messages_stay_equal_when_they_are_cut(hw4: Assignment) -> None:
    made = a_report(hw4, outcomes=lost_to(*[a_long_text("same")] * 80))

    assert len({json.dumps(each["message"]) for each in made["tests"]}) == 1


def test_a_report_of_ordinary_length_is_not_touched(hw4: Assignment) -> None:
    said = [a_long_text(str(number), words=20) for number in range(8)]

    made = a_report(hw4, outcomes=lost_to(*said))

    assert [each["message"]["en"] for each in made["tests"]] == [each.en for each in said]


def test_a_notebook_of_thousands_of_bad_cells_names_fifty(hw4: Assignment) -> None:
    bad = [
        replace(a_problem("raised", place=Place(line=1, cell=cell)), message=a_long_text(str(cell)))
        for cell in range(1, 3001)
    ]

    made = a_report(hw4, problems=bad)

    assert [each["cell"] for each in made["problems"]] == [*range(1, 51), None]
    assert made["problems"][-1]["message"]["en"] == "And 2950 more problems like these."
    assert made["problems"][-1]["message"]["zh"] == "另外还有 2950 个类似的问题。"
    assert size(made) < 200 * 1024


# --- files -----------------------------------------------------------------------------------


def test_a_written_report_is_ascii_with_plain_line_ends_and_reads_back(
    hw4: Assignment, tmp_path: Path
) -> None:
    made, path = a_report(hw4), tmp_path / "hw4.json"

    report.write(made, path)

    raw = path.read_bytes()
    assert raw.isascii()
    assert b"\r" not in raw
    assert raw.endswith(b"}\n")
    assert made == report.read(path)
    assert [path] == [*tmp_path.iterdir()]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_a_report_is_read_in_any_unicode_encoding(
    hw4: Assignment, tmp_path: Path, encoding: str
) -> None:
    made, path = a_report(hw4), tmp_path / "hw4.json"
    text = json.dumps(made, ensure_ascii=False, indent=1).replace("\n", "\r\n")
    path.write_bytes(text.encode(encoding))

    assert made == report.read(path)


def test_an_invalid_report_is_not_written(hw4: Assignment, tmp_path: Path) -> None:
    path = tmp_path / "hw4.json"

    with pytest.raises(GraderError) as caught:
        report.write(set_at(a_report(hw4), "score", 1), path)

    assert str(caught.value) == (
        "the report is not valid:\n$.score: expected 7, as the criteria add up to, got 1"
    )
    assert [*tmp_path.iterdir()] == []


@posix_only
def test_a_report_replaces_an_older_one_also_through_a_link(
    hw4: Assignment, tmp_path: Path
) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)

    report.write(a_report(hw4), link)

    assert link.is_symlink()
    assert report.read(target) == a_report(hw4)
    assert {target, link} == {*tmp_path.iterdir()}


@posix_only
def test_others_may_read_a_report_as_the_umask_allows(hw4: Assignment, tmp_path: Path) -> None:
    path = tmp_path / "hw4.json"
    before = os.umask(0o022)
    try:
        report.write(a_report(hw4), path)
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@posix_only
def test_a_failed_write_leaves_neither_report_nor_draft(hw4: Assignment, tmp_path: Path) -> None:
    (tmp_path / "hw4.json").mkdir()

    with pytest.raises(UsageProblem) as caught:
        report.write(a_report(hw4), tmp_path / "hw4.json")

    assert str(caught.value) == f"cannot write {tmp_path / 'hw4.json'}: Is a directory"
    assert [tmp_path / "hw4.json"] == [*tmp_path.iterdir()]


def test_a_missing_folder_is_a_usage_problem(hw4: Assignment, tmp_path: Path) -> None:
    path = tmp_path / "gone" / "hw4.json"

    with pytest.raises(UsageProblem) as caught:
        report.write(a_report(hw4), path)

    assert str(caught.value) == f"cannot write {path}: No such file or directory"


@posix_only
def test_a_pipe_is_written_to_and_stays_a_pipe(hw4: Assignment, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()

    report.write(a_report(hw4), pipe)

    reader.join()
    assert pipe.is_fifo()
    assert json.loads(got[0]) == a_report(hw4)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{\n  "score": ,\n}', ", line 2, column 12: not JSON: Expecting value"),
        (b"", ", line 1, column 1: not JSON: Expecting value"),
        (b'{"score": NaN}', ": not JSON: NaN is not a JSON number"),
        (b'{"a": 1, "a": 2}', ': not JSON: the key "a" stands twice in one object'),
        (b'{"a": "\xff"}', ", byte 8: not UTF-8 text"),
        (b"[" * 100_000, ": not JSON that can be read: nested too deeply"),
    ],
)
def test_what_is_not_json_is_refused_with_file_and_place(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "hw4.json"
    path.write_bytes(content)

    with pytest.raises(UsageProblem) as caught:
        report.read(path)

    assert str(caught.value) == f"{path}{problem}"


@pytest.mark.parametrize("levels", [101, 500, 985, 992, 994])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a": ', "}")])
def test_json_that_later_readers_could_not_follow_is_refused_at_once(
    tmp_path: Path, levels: int, opened: str, closed: str
) -> None:
    path = tmp_path / "hw4.json"
    path.write_text(opened * levels + "1" + closed * levels, "ascii")

    with pytest.raises(UsageProblem, match="nested too deeply"):
        report.read(path)


def test_a_hundred_levels_of_json_can_be_read_and_are_no_report(tmp_path: Path) -> None:
    path = tmp_path / "hw4.json"
    path.write_text("[" * 100 + "]" * 100, "ascii")

    wrong = report.validate(report.read(path))

    assert [each.partition(", got")[0] for each in wrong] == ["$: expected object"]


class Key(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Key.compared += 1
        return str.__eq__(self, other)


def test_a_key_that_stands_twice_among_many_is_found_by_one_look_at_each() -> None:
    pairs: list[tuple[str, Json]] = [(Key(number), None) for number in range(3000)]
    pairs.append((Key(2999), None))
    Key.compared = 0

    with pytest.raises(ValueError, match='the key "2999" stands twice'):
        files._once(pairs)

    assert Key.compared < 100


def test_a_number_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hw4.json"
    path.write_bytes(b"1" * 5000)

    with pytest.raises(UsageProblem, match="not JSON"):
        report.read(path)


def test_a_missing_report_is_a_usage_problem(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem) as caught:
        report.read(tmp_path / "gone.json")

    assert str(caught.value) == f"cannot read {tmp_path / 'gone.json'}: No such file or directory"


def test_a_wrong_character_in_a_long_text_is_shown_with_what_stands_around_it(
    hw4: Assignment,
) -> None:
    broken = a_report(hw4)
    broken["output"]["text"] = "a" * 90_000 + "before \ud83d after" + "z" * 90_000

    assert report.validate(broken) == [
        "$.output.text: expected Unicode text, got a lone surrogate in"
        r" 'aaaaaaaaaaaaabefore \ud83d afterzzzzzzzzzzzzz'"
    ]
