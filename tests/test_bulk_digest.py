"""The counts of a batch as Markdown: what stands there, what cannot, and where it is added."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from test_bulk_store import a_run
from test_cli import err, grade

from grader.bulk import digest, tables
from grader.bulk.digest import Circumstances, escaped, markdown
from grader.bulk.tables import Mark, Row

UNDER = Circumstances(
    grader_version="0.1.0", python="3.12.1", torch="2.13.0", demanded="full", level="full"
)


def a_mark(earned: int | None = 5, **changes: Any) -> Mark:
    parts = {"id": "values", "en": "The values", "zh": "数值", "points": 5} | changes
    return Mark(earned=earned, **parts)


def a_row(student: str, score: int | None = 7, **changes: Any) -> Row:
    parts: dict[str, Any] = {
        "assignment": "hw1",
        "status": "graded",
        "max_score": 10,
        "official": True,
        "title": ("Add vectors", "加上向量"),
        "marks": (a_mark(),),
    }
    return Row(student=student, score=score, **(parts | changes))


def counts(rows: Sequence[Row], **run: Any) -> dict[str, Any]:
    """What `summary.json` says of a class with these rows."""
    students = [each.student for each in rows]
    said: dict[str, Any] = json.loads(tables.summary(a_run(students, **run), rows))
    return said


def a_class(*scores: int, **changes: Any) -> list[Row]:
    return [a_row(f"student{at}", score, **changes) for at, score in enumerate(scores)]


def lines(text: str) -> list[str]:
    return text.split("\n")


# --- numbers ---------------------------------------------------------------------------------


def test_scores_are_told_by_mean_median_and_quartiles() -> None:
    said = markdown(counts(a_class(0, 4, 6, 10, 10)), UNDER, "en")

    assert "5 scores of at most 10: mean 6.0, median 6, quartiles 4 and 10." in lines(said)


def test_one_score_is_its_own_median_and_quartile() -> None:
    said = markdown(counts(a_class(7)), UNDER, "en")

    assert "1 scores of at most 10: mean 7.0, median 7, quartiles 7 and 7." in lines(said)


def test_each_score_has_a_bar_and_the_longest_is_of_the_most() -> None:
    said = lines(markdown(counts(a_class(*[10] * 40, 9, 9)), UNDER, "en"))

    assert f"| 10 | 40 | {'█' * 20} |" in said
    assert "| 9 | 2 | █ |" in said
    assert "| 8 | 0 |  |" in said


@pytest.mark.parametrize("most", [1, 10, 11, 12, 20, 99, 100, 1000])
def test_ranges_of_scores_hold_every_score_once(most: int) -> None:
    course = [{"id": "hw1", "max_score": most}]

    said = lines(markdown(counts(a_class(*range(most + 1)), assignments=course), UNDER, "en"))
    bars = [re.fullmatch(r"\| (\d+)(?:–(\d+))? \| (\d+) \| █* \|", each) for each in said]
    ranges = [(int(bar[1]), int(bar[2] or bar[1]), int(bar[3])) for bar in bars if bar]
    assert 2 <= len(ranges) <= 11
    assert ranges[0][0] == 0
    assert ranges[-1][1] == most
    assert all(number == high - low + 1 for low, high, number in ranges)
    assert all(high + 1 == low for (_, high, _), (low, _, _) in pairwise(ranges))


def test_a_criterion_is_told_by_those_who_earned_it() -> None:
    rows = [
        a_row("a", marks=(a_mark(5), a_mark(None, id="extra", en="More"))),
        a_row("b", marks=(a_mark(0), a_mark(None, id="extra", en="More"))),
        a_row("c", marks=(a_mark(None), a_mark(None, id="extra", en="More"))),
    ]

    said = lines(markdown(counts(rows), UNDER, "en"))

    assert "| The values | 5 | 1 of 2 | 50 % |" in said
    assert "| More | 5 | 0 of 0 | – |" in said


def test_what_is_missing_unreadable_and_failed_is_counted() -> None:
    rows = [
        *a_class(3, 4),
        a_row("bad", 0, status="unreadable"),
        a_row("ours", None, status="grader_failed", official=False, marks=(a_mark(None),)),
    ]
    left = [{"file": "secret.txt", "reason": "no_source"}]
    absent = [{"student": "away", "assignment": "hw1"}]

    said = lines(markdown(counts(rows, unattributed=left, absent=absent), UNDER, "en"))

    assert "2 graded, 1 unreadable, 1 where the grader failed, 1 missing." in said
    assert "| Files that could not be attributed | 1 |" in said
    assert "- 1 scores are not official: do not store them as grades." in said


def test_a_class_in_which_everything_failed_has_no_score_and_no_share() -> None:
    rows = [a_row(each, None, status="grader_failed", marks=(a_mark(None),)) for each in "ab"]

    said = markdown(counts(rows), UNDER, "en")

    assert "2 where the grader failed." in lines(said)
    assert "No score was decided." in lines(said)
    assert "The values" not in said
    assert "mean" not in said


def test_points_that_are_decided_in_part_are_told_by_criterion() -> None:
    said = lines(markdown(counts([a_row("a", None, status="pending")]), UNDER, "en"))

    assert "1 only in part." in said
    assert "No score was decided." in said
    assert "| The values | 5 | 1 of 1 | 100 % |" in said


def test_an_empty_class_is_no_error() -> None:
    nobody = markdown(counts([]), replace(UNDER, level=None), "en")
    nothing = markdown(counts([], assignments=[]), replace(UNDER, level=None), "en")

    assert "No submissions." in lines(nobody)
    assert "| Students | 0 |" in lines(nothing)
    assert "- Sandbox: level none, as no submission was run (demanded: full)." in lines(nothing)


def test_a_shard_says_that_it_is_one() -> None:
    said = markdown(counts(a_class(1)), replace(UNDER, part=(2, 4)), "en")

    assert "Part 2 of 4" in lines(said)
    assert "Part" not in markdown(counts(a_class(1)), UNDER, "en")


# --- languages and markup --------------------------------------------------------------------


def test_it_speaks_chinese_throughout() -> None:
    said = markdown(counts(a_class(7, 9)), UNDER, "zh")

    assert "### hw1  加上向量" in lines(said)
    assert "| 数值 | 5 | 2 / 2 | 100 % |" in lines(said)
    words = set(re.findall(r"[A-Za-z]+", said))
    assert words <= {"hw", "full", "torchgrade", "Python", "PyTorch"}


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("a | b", r"a \| b"),
        ("`x` *y* __z__", r"\`x\` \*y\* \_\_z\_\_"),
        ("[a](http://b.example)", r"\[a\](http\:\/\/b\.example)"),
        ("<img src=x>", r"\<img src=x\>"),
        ("# title\n\n| a |", r"\# title \| a \|"),
        ("$x$ &amp; @all", r"\$x\$ \&amp; \@all"),
        ("a\\", "a\\\\"),
        ("\x1b[31mred\u202e", r"\[31mred"),
        ("2i+1（第 0 对）", "2i+1（第 0 对）"),
    ],
)
def test_a_title_is_shown_as_it_is(title: str, shown: str) -> None:
    assert escaped(title) == shown


def test_titles_cannot_make_rows_or_columns() -> None:
    evil = "a | b |\n| --- |\n\n## heading"
    row = a_row("x", title=(evil, evil), marks=(a_mark(en=evil, zh=evil),))

    said = lines(markdown(counts([row]), UNDER, "en"))

    tables_ = [each for each in said if each.startswith("|") and "heading" in each]
    assert [len(re.findall(r"(?<!\\)\|", each)) for each in tables_] == [5]
    assert [each for each in said if each.startswith("## ")] == ["## Grading"]


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    blocks = markdown(counts(a_class(1, 2, 3)), UNDER, "en").split("\n\n")

    found = [block.strip().split("\n") for block in blocks if block.strip().startswith("|")]
    assert len(found) == 3
    for table in found:
        assert len({row.count("|") for row in table}) == 1
        assert re.fullmatch(r"\|( :?---:? \|)+", table[1].replace(" :--- ", " --- "))


def test_nobody_can_be_recognised() -> None:
    rows = [a_row("Ada Lovelace"), a_row("王芳")]
    left = [{"file": "Grace Hopper.txt", "reason": "no_source"}]
    run = {"unattributed": left, "seed": 4711}

    for language in ("en", "zh"):
        said = markdown(counts(rows, **run), UNDER, language)  # type: ignore[arg-type]
        assert [word for word in ("Ada", "王芳", "Grace", "x.py", "4711") if word in said] == []


# --- the commands ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of one who handed in an empty file, so that no submission has to be run."""
    root = tmp_path_factory.mktemp("digest")
    (root / "in").mkdir()
    (root / "in" / "lee_hw1.py").write_text("", encoding="utf-8")
    (root / "summary.md").write_text("# Before", encoding="utf-8")
    usual = (
        "--seed",
        "85070591730234615865843651857942052871",
        "--shard",
        "1/1",
        "--assignment",
        "hw1",
    )
    done = grade("batch", "in", "--out", "part", *usual, "--summary", "summary.md", cwd=root)
    assert done.returncode == 0, err(done)
    return root


def test_a_batch_adds_its_digest_below_what_is_there(part: Path) -> None:
    said = (part / "summary.md").read_text("utf-8")

    assert said.startswith("# Before\n")
    assert said.count("## Grading") == 1
    assert "Part 1 of 1" in said
    assert "lee" not in said.lower()


def test_merge_adds_one_in_the_language_that_was_asked_for(part: Path) -> None:
    done = grade("merge", "part", "--out", "all", "--summary", "zh.md", "--lang", "zh", cwd=part)

    assert done.returncode == 0, err(done)
    said = (part / "zh.md").read_text("utf-8")
    assert "1 份无法读取。" in lines(said)
    assert said == digest.of(part / "all", "zh")


@pytest.mark.parametrize("command", ["batch", "merge"])
def test_a_file_that_cannot_be_written_is_named_after_the_results_are_safe(
    command: str, part: Path
) -> None:
    usual = (
        ("in", "--seed", "85070591730234615865843651857942052871", "--shard", "1/1")
        if command == "batch"
        else ("part",)
    )
    out = f"safe-{command}"

    done = grade(command, *usual, "--out", out, "--summary", "no/summary.md", cwd=part)

    assert done.returncode == 2
    named = str(Path("no/summary.md"))
    assert f"The summary cannot be added to {named}: " in err(done)
    assert err(done).rstrip().endswith("The results are complete.")
    assert (part / out / "scores.csv").is_file()


def test_a_folder_is_refused_before_anything_is_graded(part: Path) -> None:
    done = grade("batch", "in", "--out", "none", "--summary", "in", cwd=part)

    assert done.returncode == 2
    assert not (part / "none").exists()
