"""The plan: which files are graded for what, attempts, roster, duplicates, shards, pseudonyms."""

import csv
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from grader.assignment import find_all
from grader.bulk import facts as facts_of
from grader.bulk import inbox, planning, pseudonyms, roster
from grader.bulk.archives import Locator, Shelf
from grader.bulk.facts import Facts, Known
from grader.bulk.layers import Rules
from grader.bulk.plan import Plan, Wanted
from grader.errors import GraderError, UsageProblem
from grader.reader.client import Stopped

EXPORTS = Path(__file__).parent / "data" / "exports"
HW1 = "def add_position_vectors(token_vectors, position_vectors):\n    return {}\n"
HW2 = "def mask_padding(embeddings, attention_mask):\n    return {}\n"
KNOWN = find_all(None, {})
IDS = [each.id for each in KNOWN]


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    opened = Shelf()
    yield opened
    opened.close()


def planned(
    root: Path,
    shelf: Shelf,
    *,
    chosen: tuple[str, ...] = (),
    until: str | None = None,
    members: roster.Roster | None = None,
) -> Plan:
    found = inbox.look(root, shelf, Rules(ids=IDS))
    wanted = Wanted(
        known=KNOWN,
        chosen=tuple(each for each in KNOWN if each.id in (chosen or IDS)),
        until=until,
    )
    return planning.make(found, shelf, wanted, members or roster.Roster())


def wrote(root: Path, **contents: str) -> Path:
    for name, content in contents.items():
        path = root / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return root


def jobs(found: Plan) -> list[tuple[str, str, int, bool]]:
    return [(each.assignment, each.student, each.attempt, each.counts) for each in found.jobs]


# --- assignments -----------------------------------------------------------------------------


def test_a_file_is_planned_for_every_assignment_whose_functions_it_defines(
    tmp_path: Path, shelf: Shelf
) -> None:
    wrote(tmp_path, lee__week_py=HW1 + HW2, chen__week_py=HW2)

    assert jobs(planned(tmp_path, shelf)) == [
        ("hw1", "lee", 1, True),
        ("hw2", "chen", 1, True),
        ("hw2", "lee", 1, True),
    ]
    assert jobs(planned(tmp_path, shelf, chosen=("hw1",))) == [("hw1", "lee", 1, True)]


def test_the_one_file_of_a_student_is_graded_for_the_one_assignment_that_was_chosen(
    tmp_path: Path, shelf: Shelf
) -> None:
    wrote(tmp_path, lee__final_py="x = 1\n", chen__a_py="x = 1\n", chen__b_py="x = 2\n")

    found = planned(tmp_path, shelf, chosen=("hw1",))
    assert jobs(found) == [("hw1", "lee", 1, True)]
    assert [(each.file, each.reason) for each in found.left] == [
        ("chen/a.py", "no_assignment"),
        ("chen/b.py", "no_assignment"),
    ]


def test_what_lies_beside_a_submission_in_a_repository_is_put_aside(
    tmp_path: Path, shelf: Shelf
) -> None:
    wrote(tmp_path, hw1_lee__hw1_py=HW1, hw1_lee__setup_py="x = 1\n")
    (tmp_path / "hw1_lee" / ".git").mkdir()

    found = planned(tmp_path, shelf)
    assert [each.student for each in found.jobs] == ["hw1_lee"]
    assert [(each.file, each.reason) for each in found.aside] == [("hw1_lee/setup.py", "beside")]
    assert found.left == ()


def test_what_an_export_calls_hw1_is_graded_as_hw1_only(tmp_path: Path, shelf: Shelf) -> None:
    wrote(tmp_path, submitted__lee__hw1__week_py=HW1 + HW2)

    assert jobs(planned(tmp_path, shelf)) == [("hw1", "lee", 1, True)]


# --- attempts --------------------------------------------------------------------------------


def test_the_latest_attempt_counts_and_all_are_listed(tmp_path: Path, shelf: Shelf) -> None:
    for number, name in enumerate(["hw1.py", "hw1-1.py", "hw1-2.py", "hw1-10.py"]):
        (tmp_path / f"lee_1_2{number}_{name}").write_text(HW1.format(number), encoding="utf-8")

    found = planned(tmp_path, shelf)

    counted = [(each.file.rpartition("_")[2], each.attempt, each.counts) for each in found.jobs]
    assert counted == [
        ("hw1-10.py", 4, True),
        ("hw1.py", 1, False),
        ("hw1-1.py", 2, False),
        ("hw1-2.py", 3, False),
    ]
    assert [each.report_name for each in found.jobs][:2] == ["hw1.json", "hw1.attempt-1.json"]


def test_an_attempt_after_the_deadline_does_not_count(tmp_path: Path, shelf: Shelf) -> None:
    for number, day in enumerate(["01", "05", "09"]):
        folder = tmp_path / f"lee+hw1+2026-03-{day} 10:00:00 UTC"
        folder.mkdir()
        (folder / "hw1.py").write_text(HW1.format(number), encoding="utf-8")

    in_time = planned(tmp_path, shelf, until="2026-03-05T10:00:00Z")
    too_late = planned(tmp_path, shelf, until="2026-02-01T00:00:00Z")
    assert [each.attempt for each in in_time.jobs if each.counts] == [2]
    assert [each.attempt for each in in_time.jobs] == [2, 1, 3]
    assert not any(each.counts for each in too_late.jobs)
    assert [(each.student, each.status) for each in too_late.ungraded] == [("lee", "late")]


def test_a_time_without_a_zone_is_told_when_there_is_a_deadline(
    tmp_path: Path, shelf: Shelf
) -> None:
    name = "Homework 1_ada_attempt_2026-03-01-20-11-12_hw1.py"
    (tmp_path / name).write_text(HW1.format(1), encoding="utf-8")

    assert planned(tmp_path, shelf).undated == 0
    found = planned(tmp_path, shelf, until="2026-02-01T00:00:00Z")
    assert (found.undated, [each.counts for each in found.jobs]) == (1, [True])


# --- roster and duplicates -------------------------------------------------------------------


def test_a_roster_gives_ids_and_lists_who_handed_in_nothing(tmp_path: Path, shelf: Shelf) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes(
        "\ufeffStudent,ID,SIS User ID,Section\r\n"
        "    Points Possible,,,\r\n"
        '"Lovelace, Ada",10101,00123,A\r\n'
        '"Hopper, Grace",10102,00124,A\r\n'
        '"王芳",10103,00125,"B, 2"\r\n'.encode()
    )

    found = planned(EXPORTS / "canvas", shelf, chosen=("hw1",), members=roster.read(path))

    assert {each.student for each in found.jobs} == {"00123", "00124"}
    assert found.absent == ()
    assert [(each.student, each.status) for each in found.ungraded] == [("00125", "no_source")]
    people = {each.student: each for each in found.people}
    assert people["00125"].name == "王芳"
    assert people["00123"].ids["ID"] == "10101"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("colour,size\nred,1\n", "no column with the students' ids"),
        ("student_id\nlee\nlee\n", "holds lee twice"),
        ("", "no column with the students' ids"),
    ],
)
def test_a_roster_that_says_nothing_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(UsageProblem) as raised:
        roster.read(path)
    assert message in raised.value.args[0].en


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_a_roster_is_read_as_spreadsheets_write_it(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes("学号;姓名\n001;李雷\n".encode(encoding))

    (member,) = roster.read(path).members
    assert (member.student, member.name) == ("001", "李雷")


def test_equal_files_of_several_students_are_reported_but_not_those_of_a_group(
    tmp_path: Path, shelf: Shelf
) -> None:
    wrote(tmp_path, lee__hw1_py=HW1, chen__hw1_py=HW1, wu__hw1_py=HW1 + "pass\n")

    alike = planned(tmp_path, shelf).duplicates
    assert [each.students for each in alike] == [("chen", "lee")]
    assert planned(EXPORTS / "gradescope", shelf).duplicates == ()


@pytest.mark.parametrize("name", ["template.py", "template.zh.py"])
def test_the_untouched_template_is_no_duplicate(name: str, tmp_path: Path, shelf: Shelf) -> None:
    template = (KNOWN[0].folder / name).read_bytes()
    for name in ("lee_hw1.py", "chen_hw1.py"):
        (tmp_path / name).write_bytes(template)

    assert len(planned(tmp_path, shelf).jobs) == 2
    assert planned(tmp_path, shelf).duplicates == ()


# --- shards and pseudonyms -------------------------------------------------------------------


def a_class(root: Path, number: int = 7) -> Path:
    return wrote(root, **{f"s{index}__week_py": HW1.format(index) + HW2 for index in range(number)})


def test_shards_hold_every_job_once_and_all_of_one_student(tmp_path: Path, shelf: Shelf) -> None:
    whole = planned(a_class(tmp_path), shelf)

    parts = [whole.shard(index, 3) for index in (1, 2, 3)]
    together = [job for part in parts for job in part.jobs]
    assert sorted(together, key=whole.jobs.index) == list(whole.jobs)
    students = [{job.student for job in part.jobs} for part in parts]
    assert sum(map(len, students)) == 7


def test_pseudonyms_leave_no_name_and_one_file_leads_back(tmp_path: Path, shelf: Shelf) -> None:
    found = planned(EXPORTS / "moodle", shelf)
    key, made = pseudonyms.key(tmp_path / "key")
    table = tmp_path / "table.csv"
    pseudonyms.write_table(found, key, table)

    hidden = pseudonyms.hide(found, key)

    for name in ("Ada", "4711", "王芳", "Grace", "moodle"):
        assert name not in repr([replace(job, locator=found.jobs[0].locator) for job in hidden.jobs]
            ).replace(repr(found.jobs[0].locator), "")  # fmt: skip
        assert name not in repr((hidden.people, hidden.left, hidden.absent))
    rows = list(csv.DictReader(table.read_text("utf-8-sig").splitlines()))
    back = {row["pseudonym"]: row["student"] for row in rows}
    assert {back[job.student] for job in hidden.jobs} == {"4711", "4712", "4713"}
    assert made
    assert pseudonyms.key(tmp_path / "key") == (key, False)
    if sys.platform != "win32":
        assert stat.S_IMODE(table.stat().st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_a_key_that_can_be_guessed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret\n", encoding="utf-8")

    with pytest.raises(UsageProblem):
        pseudonyms.key(tmp_path / "key")


# --- what could not be read ------------------------------------------------------------------


class Bounded(Shelf):
    """Gives what it is told to for the files of one student, and takes its time for each."""

    def __init__(self, gives: Exception | Facts, seconds: float = 0.0) -> None:
        super().__init__()
        self.gives = gives
        self.seconds = seconds
        self.asked = 0

    def facts(self, locator: Locator, file: str, hint: str | None, known: Sequence[Known]) -> Facts:
        if "mallory" not in locator.path:
            self.used_s = 0.0
            return super().facts(locator, file, hint, known)
        self.asked += 1
        self.used_s = self.seconds
        if isinstance(self.gives, Exception):
            raise self.gives
        return self.gives


def class_with_mallory(root: Path, number: int = 1) -> Path:
    files = {f"mallory__{at}_py": HW1 for at in range(number)}
    return wrote(root, ann__hw1_py=HW1, **files)


@pytest.mark.parametrize(
    ("gives", "reason"),
    [
        (Stopped("memory"), "reading_memory"),
        (Stopped("time"), "reading_time"),
        (GraderError("ours"), "reading_died"),
    ],
)
def test_who_ends_the_reader_has_a_row_and_everybody_else_is_graded(
    tmp_path: Path, gives: Exception, reason: str
) -> None:
    found = planned(class_with_mallory(tmp_path), Bounded(gives), chosen=("hw1",))

    assert jobs(found) == [("hw1", "ann", 1, True)]
    assert [(each.student, each.status) for each in found.ungraded] == [("mallory", "unreadable")]
    assert [(each.file, each.reason) for each in found.left] == [("mallory/0.py", reason)]
    assert [each.student for each in found.people] == ["ann", "mallory"]


def test_a_file_of_which_only_the_hash_is_known_gets_a_report_and_is_not_read_again(
    tmp_path: Path,
) -> None:
    unread = facts_of.of_unread("hw1.py", "hw1", [Known.of(each) for each in KNOWN], "7", "time")
    found = planned(class_with_mallory(tmp_path), Bounded(unread), chosen=("hw1",))

    assert [(each.student, each.unread) for each in found.jobs] == [
        ("ann", None),
        ("mallory", "time"),
    ]


def test_one_upload_does_not_use_up_the_time_of_the_class(tmp_path: Path) -> None:
    shelf = Bounded(Stopped("time"), seconds=10.0)
    found = planned(class_with_mallory(tmp_path, 50), shelf, chosen=("hw1",))

    assert shelf.asked == 1 + int(planning.UPLOAD_CPU_S / 10)
    assert [each.student for each in found.jobs] == ["ann"]
    assert {each.reason for each in found.left} == {"reading_time"}
    assert len(found.left) == 50


def test_of_a_copied_library_the_work_above_it_is_found_and_few_rows_are_told(
    tmp_path: Path, shelf: Shelf
) -> None:
    library = {f"lee__lib__{at}_py": "x = 1\n" for at in range(planning.MOST_SOURCES + 200)}
    wrote(tmp_path, lee__zz_py=HW1, ann__hw1_py=HW1, **library)

    found = planned(tmp_path, shelf, chosen=("hw1",))
    told = [each for each in (*found.left, *found.aside) if each.file.startswith("lee")]

    assert [(each.student, each.file) for each in found.jobs] == [
        ("ann", "ann/hw1.py"),
        ("lee", "lee/zz.py"),
    ]
    assert {each.reason for each in told} == {"beside", "too_many_sources"}
    assert len(told) <= 2 * (planning.MOST_TOLD + 1)
    assert any(each.file == f"lee/... (+{201 - planning.MOST_TOLD})" for each in told)


def test_only_the_newest_attempts_are_graded_and_the_one_that_counts_is_among_them(
    tmp_path: Path, shelf: Shelf
) -> None:
    for at in range(1, 41):
        (tmp_path / f"lee_1_{100 + at}_hw1-{at}.py").write_text(HW1.format(at), encoding="utf-8")

    found = planned(tmp_path, shelf)

    assert len(found.jobs) == planning.MOST_ATTEMPTS
    assert [each.attempt for each in found.jobs if each.counts] == [40]
    assert {each.reason for each in found.aside} == {"too_many_attempts"}


# --- many of everything ----------------------------------------------------------------------


def test_only_the_newest_of_many_attempts_are_graded(tmp_path: Path, shelf: Shelf) -> None:
    for at in range(planning.MOST_ATTEMPTS + 5):
        name = f"leejo_10101_{880_000 + at}_hw1.py"
        (tmp_path / name).write_text(HW1.format(at), encoding="utf-8")
    for at in range(3):
        name = f"chen_{10_200 + at}_{890_000 + at}_hw1.py"
        (tmp_path / name).write_text(HW1.format(at), encoding="utf-8")

    found = planned(tmp_path, shelf)

    lees = [each for each in found.jobs if each.student == "10101"]
    assert [each.attempt for each in lees] == [25, *range(6, 25)]
    assert [each.counts for each in lees] == [True] + [False] * 19
    assert [each.reason for each in found.aside] == ["too_many_attempts"] * 5


def test_of_very_many_files_in_an_upload_those_on_top_are_read(
    tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "MOST_SOURCES", 3)
    wrote(tmp_path / "lee", hw1_py=HW1.format(1), **{f"deep__{at}_py": HW2 for at in range(9)})
    wrote(tmp_path / "chen", hw1_py=HW1.format(2))

    found = planned(tmp_path, shelf, chosen=("hw1",))

    assert jobs(found) == [("hw1", "chen", 1, True), ("hw1", "lee", 1, True)]
    assert [each.reason for each in found.aside].count("too_many_sources") == 7


def test_what_the_platform_keeps_for_another_assignment_is_put_aside(
    tmp_path: Path, shelf: Shelf
) -> None:
    for student in ("ann", "bob"):
        wrote(tmp_path, **{f"submitted__{student}__hw1__hw1_py": HW1})
    wrote(tmp_path, submitted__ann__hw2__hw2_py=HW2)

    found = planned(tmp_path, shelf, chosen=("hw2",))

    assert jobs(found) == [("hw2", "ann", 1, True)]
    assert found.left == ()
    assert [(each.student, each.status) for each in found.ungraded] == [("bob", "other_assignment")]
    assert {each.reason for each in found.aside} == {"other_assignment"}
