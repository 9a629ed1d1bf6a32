"""How folders are understood, which file of several counts, and what becomes of the rest."""

from pathlib import Path

import pytest
from test_bulk_owners import KNOWN, RIGHT, WRONG, Files, planned, zipped

from grader.bulk import labels, roster
from grader.bulk.labels import base, is_section, number_and_name, part_of, role, version
from grader.bulk.moments import wall_clock
from grader.bulk.plan import Plan
from grader.errors import UsageProblem

BLANK = (KNOWN[0].folder / "template.py").read_text("utf-8")
OTHER = "def mask_padding(embeddings, attention_mask):\n    return embeddings\n"
TEST = "from hw1 import add_position_vectors\n\n\ndef test_it():\n    assert add_position_vectors\n"


def counting(found: Plan) -> dict[str, str]:
    """The file that is each student's grade."""
    return {job.student: job.file for job in found.jobs if job.counts}


def told(found: Plan) -> dict[str, str]:
    """Everything that is listed, with its reason."""
    return {each.file: each.reason for each in (*found.left, *found.aside)}


def a_roster(folder: Path, text: str, encoding: str = "utf-8") -> roster.Roster:
    path = folder / "class.csv"
    path.write_bytes(text.encode(encoding))
    return roster.read(path)


# --- structure -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "files",
    [
        {"spring.zip": zipped({"all/ono_hw1.py": RIGHT, "all/abe_hw1.py": WRONG})},
        {"inbox.zip": zipped({"inbox/inbox/ono_hw1.py": RIGHT, "inbox/inbox/abe_hw1.py": WRONG})},
        {"ono.zip": zipped({"hw1.py": RIGHT}), "abe.zip": zipped({"abe/hw1.py": WRONG})},
        {"x/ono_hw1.zip": zipped({"a.py": RIGHT}), "x/abe_hw1.zip": zipped({"hw1.py": WRONG})},
        {"section 1/ono/hw1.py": RIGHT, "section 2/abe/hw1.py": WRONG},
        {"Group A/ono_hw1.py": RIGHT, "Group B/abe_hw1.py": WRONG},
        {"1班/ono_hw1.py": RIGHT, "2班/abe_hw1.py": WRONG},
        {
            "drive-download-20260301T100000Z-001.zip": zipped({"HW/ono/hw1.py": RIGHT}),
            "drive-download-20260301T100000Z-002.zip": zipped({"HW/abe/hw1.py": WRONG}),
        },
        {"part1/ono_hw1.py": RIGHT, "part2/abe_hw1.py": WRONG},
        {"hw1/ono.py": RIGHT, "hw1/abe.py": WRONG, "hw2/ono.py": OTHER},
        {"ono/hw1.py": RIGHT, "abe_hw1.py": WRONG},
        {"ono/project/src/hw1.py": RIGHT, "abe/hw1/main.py": WRONG},
        {
            "ML Hand-in-20260301T100000Z-1-001.zip": zipped({"ML Hand-in/ono_hw1.py": RIGHT}),
            "ML Hand-in-20260301T100000Z-1-002.zip": zipped({"ML Hand-in/abe_hw1.py": WRONG}),
        },
        {"Lab A-20260301T100000Z-001.zip": zipped({"ono/hw1.py": RIGHT, "abe/hw1.py": WRONG})},
        {"2026 Spring/Lab 1/ono/hw1.py": RIGHT, "2026 Spring/Lab 2/abe/hw1.py": WRONG},
        {"on time/ono_hw1.py": RIGHT, "late/abe_hw1.py": WRONG},
        {"ono/hw1.py": RIGHT, "Late/abe/hw1.py": WRONG},
        {"ono/hw1.py": RIGHT, "补交/abe/hw1.py": WRONG, "Template/hw1.py": BLANK},
        {"ono/report.pdf": "%PDF", "ono.py": RIGHT, "abe/hw1.py": WRONG, "Solution/x.py": RIGHT},
        {"Mon 10am/ono/hw1.py": RIGHT, "Tue 2:30pm/abe/hw1.py": WRONG},
        {"新建文件夹 (2)/ono_hw1.py": RIGHT, "新建文件夹 (2)/abe_hw1 - 副本.py": WRONG},
        {"Homework One - ono.py": RIGHT, "Home Work 1 - abe.py": WRONG},
        {"2026-03-01 hw1/ono.py": RIGHT, "2026-03-01 hw1/abe.py": WRONG},
        {"ono 作业一.py": RIGHT, "第1次作业_abe.py": WRONG},
        {"Übung 1 - ono.py": RIGHT, "Devoir 01 abe.py": WRONG},
    ],
)
def test_folders_around_a_class_are_nobodys(files: Files) -> None:
    assert counting(planned(files)).keys() == {"ono", "abe"}


def test_parts_of_a_platforms_download_are_read_as_one() -> None:
    files = {
        "submissions (1).zip": zipped({"lovelaceada_10101_880001_hw1.py": RIGHT}),
        "submissions (2).zip": zipped({"hoppergrace_10102_880002_hw1.py": WRONG}),
    }

    assert counting(planned(files)).keys() == {"10101", "10102"}


def test_folders_that_may_be_students_or_sections_are_refused_with_the_option_that_decides() -> (
    None
):
    files = {"dawn/ono_hw1.py": RIGHT, "dawn/abe_hw1.py": WRONG, "dusk/kato_hw1.py": RIGHT}

    with pytest.raises(UsageProblem) as raised:
        planned(files)
    assert (
        raised.value.args[0].en
        == (
            "dawn could be the folder of one student, or a part of the class with the files of "
            "several (ono, abe). Nothing was graded.\nSay which: --layout folders (each folder is "
            "one student's) or --layout sections (each folder holds a part of the class)."
        )
        or "(abe, ono)" in raised.value.args[0].en
    )
    assert counting(planned(files, layout="sections")).keys() == {"ono", "abe", "kato"}
    assert counting(planned(files, layout="files")).keys() == {"ono", "abe", "kato"}
    assert counting(planned(files, layout="folders")).keys() == {"dusk"}


def test_a_folder_with_files_of_several_is_listed_and_never_merged() -> None:
    found = planned({"ono/ann_hw1.py": RIGHT, "ono/ben_hw1.py": WRONG, "abe/hw1.py": RIGHT})

    assert counting(found) == {"abe": "abe/hw1.py"}
    assert told(found) == {"ono/ann_hw1.py": "ambiguous", "ono/ben_hw1.py": "ambiguous"}


def test_a_file_beside_the_students_folders_is_nobodys_work() -> None:
    found = planned({"ono/hw1.py": RIGHT, "abe/hw1.py": WRONG, "hw1_solution.py": RIGHT})

    assert counting(found).keys() == {"ono", "abe"}
    assert told(found) == {"hw1_solution.py": "no_student"}


@pytest.mark.parametrize("beside", ["source/hw1/hw1.py", "nbgrader_config.py", "release/x/y.py"])
def test_in_an_nbgrader_course_only_what_was_submitted_is_read(beside: str) -> None:
    found = planned({"c/submitted/ada/hw1/hw1.py": RIGHT, f"c/{beside}": BLANK})

    assert counting(found) == {"ada": "c/submitted/ada/hw1/hw1.py"}


def test_of_teams_only_what_was_turned_in_is_read_and_the_newest_version_counts() -> None:
    files = {
        "Student Work/Submitted files/Ann Lee/hw1/hw1.py": RIGHT,
        "Student Work/Submitted files/Bo Wu/hw1/Version 9/hw1.py": WRONG,
        "Student Work/Submitted files/Bo Wu/hw1/Version 10/my work.py": RIGHT,
        "Student Work/Working files/Cy Ng/hw1/hw1.py": RIGHT,
    }

    found = planned(files)
    assert counting(found) == {
        "Ann Lee": "Student Work/Submitted files/Ann Lee/hw1/hw1.py",
        "Bo Wu": "Student Work/Submitted files/Bo Wu/hw1/Version 10/my work.py",
    }
    assert told(found) == {
        "Student Work/Submitted files/Bo Wu/hw1/Version 9/hw1.py": "older",
        "Student Work/Working files/Cy Ng/hw1/hw1.py": "draft",
    }
    assert [(each.layout, each.students) for each in found.understood] == [("teams", 2)]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Mar 1, 2026 926 PM", "Mar 1, 2026 1158 PM"),
        ("Mar 1, 2026 1230 AM", "Mar 1, 2026 105 AM"),
        ("01 March, 2026 2126", "02 March, 2026 0126"),
        ("9. März 2026 2126", "10. März 2026 0926"),
        ("28 févr. 2026 21 26", "1 mars 2026 09 26"),
        ("9 de agosto de 2026 9_26 p. m.", "1 de septiembre de 2026 9_26 a. m."),
        ("2026年3月9日 2126", "2026年3月10日 0926"),
        ("2026年3月1日 上午1126", "2026年3月1日 下午926"),
        ("2026-03-01 926", "2026-03-01 1026"),
        ("09.03.2026 2126", "01.04.2026 0926"),
    ],
)
def test_brightspaces_dates_are_read_in_many_languages(earlier: str, later: str) -> None:
    ann, bo = "397063-25 - Anne-Marie d'Arc - ", "397064-25 - Bo - X - "
    files = {f"{ann}{later}/hw1.py": RIGHT, f"{ann}{earlier}/hw1.py": WRONG}
    files[f"{bo}{later} - hw1.py"] = WRONG

    assert counting(planned(files)) == {
        "397063": f"{ann}{later}/hw1.py",
        "397064": f"{bo}{later} - hw1.py",
    }


@pytest.mark.parametrize("moment", ["03-04-2026 2126", "le 3 du mois 2126", "32 March, 2026 2126"])
def test_a_date_that_can_be_read_in_two_ways_orders_nothing(moment: str) -> None:
    assert wall_clock(moment) == ""
    assert wall_clock("13-04-2026 2126") == wall_clock("04-13-2026 926 PM") == "2026-04-13T21:26:00"


def test_an_assignments_underscore_is_no_part_of_a_blackboard_name() -> None:
    attempt = "attempt_2026-03-01-20-11-12"
    files = {f"HW_1_j_doe_{attempt}_hw1.py": RIGHT, f"HW_1_jo_{attempt}_hw1.py": WRONG}
    more = {f"gradebook_X1_Homework 201_{who}_{attempt}_hw1.py": RIGHT for who in ("jo", "al_b")}

    assert counting(planned(files)).keys() == {"j_doe", "jo"}
    assert counting(planned(more)).keys() == {"jo", "al_b"}


@pytest.mark.parametrize(
    ("names", "students"),
    [
        # Number 1 and 2 of class 11 of the year 2023, and no dates.
        (["20231101_张三_hw1.py", "20231102_张三_hw1.py"], {"20231101", "20231102"}),
        (["作业1-20231101-张三.py", "20231145李四 hw1.py"], {"20231101", "20231145"}),
        (["20231101_hw1.py", "20231102.py"], {"20231101", "20231102"}),
        (["12/hw1.py", "13/hw1.py", "7/hw1.py"], {"12", "13", "7"}),
        (["20231101/a.py", "20231102/a.py"], {"20231101", "20231102"}),
        (["20231101 张三.zip/a.py", "20231102 张三/a.py"], {"20231101", "20231102"}),
        # Dates.
        (["20260301_ono_hw1.py", "20260301_abe_hw1.py"], {"ono", "abe"}),
        (["ono_hw1_20260228.py", "ono_hw1_20260301.py", "abe_hw1_20260301.py"], {"ono", "abe"}),
        (["ono_20260301.py", "abe_20260302_v2 (1).py"], {"ono", "abe"}),
    ],
)
def test_a_students_number_that_could_be_a_date_is_told_from_one(
    names: list[str], students: set[str]
) -> None:
    files = {name: RIGHT if at else WRONG for at, name in enumerate(names)}

    assert counting(planned(files)).keys() == students


def test_letters_of_a_number_tell_people_apart() -> None:
    found = planned({"u1234567_hw1.py": RIGHT, "s1234567 HW1.py": WRONG, "A1234567X/hw1.py": WRONG})

    assert counting(found).keys() == {"u1234567", "s1234567", "A1234567X"}


def test_an_early_and_a_late_work_of_one_name_are_two_claims() -> None:
    found = planned({"ono/hw1.py": RIGHT, "abe/hw1.py": RIGHT, "late/ono/hw1.py": WRONG})

    assert counting(found) == {"abe": "abe/hw1.py"}
    assert told(found) == {"ono/hw1.py": "rival", "late/ono/hw1.py": "rival"}


def test_folders_for_sections_and_solutions_inside_a_students_say_nothing_of_others() -> None:
    mine = {"mallory/late/ono/hw1.py": WRONG, "mallory/Section A/abe/hw1.py": WRONG}

    found = planned({"ono/hw1.py": RIGHT, "abe/hw1.py": RIGHT, **mine})
    assert counting(found)["ono"] == "ono/hw1.py"
    assert counting(found)["abe"] == "abe/hw1.py"


@pytest.mark.parametrize("name", ["readme.txt", "Instructions.pdf", "requirements.txt"])
def test_what_lies_in_every_folder_is_nobody(name: str) -> None:
    found = planned({"all/ono_hw1.py": RIGHT, "all/abe_hw1.py": WRONG, f"all/{name}": "x"})

    assert {each.student for each in found.people} == {"ono", "abe"}


def test_how_the_folder_was_understood_is_known_before_grading() -> None:
    files = {"ono/hw1.py": RIGHT, "abe/hw1.py": WRONG, "abe/utils.py": "x = 1\n"}

    (one,) = planned(files).understood
    assert (one.layout, one.students, one.files) == ("folders", 2, 3)


def test_what_a_group_hands_in_is_one_file_of_several_students() -> None:
    export = """
submission_71:
  :submitters:
  - :name: Ada
    :sid: "1"
  - :name: Grace
    :sid: "2"
"""
    found = planned({"e/submission_metadata.yml": export, "e/submission_71/hw1.py": RIGHT})

    (one,) = found.understood
    assert (one.students, one.files, one.groups) == (2, 1, True)


@pytest.mark.parametrize(
    ("names", "students"),
    [
        (["team_3_10101_880001_hw1.py", "team_red_10103_880003_hw1.py"], {"10101", "10103"}),
        (["team_1_10101_880001_hw1.py", "team_2_10103_880003_hw1.py"], {"10101", "10103"}),
        # A person whose file's name begins with numbers is no group.
        (["ada_10101_880001_10103_880003_hw1.py", "bob_10102_880002_hw1.py"], {"10101", "10102"}),
        (["ada_10101_880001_2026_1_hw1.py"], {"10101"}),
    ],
)
def test_canvas_groups_are_told_from_people(names: list[str], students: set[str]) -> None:
    assert counting(planned(dict.fromkeys(names, RIGHT))).keys() == students


# --- which file ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "others"),
    [
        ("hw1.py", {"test_hw1.py": TEST, "conftest.py": "", "setup.py": ""}),
        ("src/model.py", {"tests/test_model.py": TEST, "src/utils.py": "x = 1\n"}),
        ("hw1.py", {"hw1-Copy1.py": WRONG, "hw1 - 副本.py": WRONG, "Copy of hw1.py": WRONG}),
        ("hw1.py", {"backup/hw1.py": WRONG, "old/hw1.py": WRONG}),
        ("solution.py", {"hw1.py": BLANK}),
        ("hw1_v10.py", {"hw1_v9.py": WRONG, "hw1.py": WRONG}),
        ("hw1-20260302.py", {"hw1-20260301.py": WRONG, "hw1.py": WRONG}),
        ("hw1 (2).py", {"hw1 (1).py": WRONG, "hw1.py": WRONG}),
        ("hw1_final.py", {"hw1_draft.py": WRONG, "hw1.py": WRONG}),
        ("hw1.py", {"scratch.py": WRONG}),
        ("Version 10/hw1.py", {"Version 9/hw1.py": WRONG, "Version 2/hw1.py": WRONG}),
        ("attempt 2/solution.py", {"attempt 1/hw1.py": WRONG, "attempt 1/a.py": WRONG}),
        ("2026-03-01/hw1.py", {"2026-02-28/hw1.py": WRONG}),
        ("第2次提交/作业.py", {"第1次提交/作业.py": WRONG}),
        ("hw1/v2/hw1.py", {"hw1/v1/hw1.py": WRONG, "hw1/v3/hw1.py": BLANK}),
    ],
)
def test_what_was_meant_counts(right: str, others: dict[str, str]) -> None:
    mine = {f"ono/{name}": text for name, text in {right: RIGHT, **others}.items()}

    found = planned({**mine, "abe/hw1.py": WRONG})
    assert counting(found)["ono"] == f"ono/{right}"
    assert told(found).keys() == mine.keys() - {f"ono/{right}"}
    assert len(found.jobs) == 2


def test_two_files_that_could_be_meant_are_both_listed() -> None:
    found = planned({"ono/part/hw1.py": RIGHT, "ono/other/hw1.py": WRONG, "abe/hw1.py": RIGHT})

    assert told(found) == {"ono/part/hw1.py": "ambiguous", "ono/other/hw1.py": "ambiguous"}
    assert [(each.student, each.status) for each in found.ungraded] == [("ono", "ambiguous")]


def test_the_same_code_twice_is_no_riddle() -> None:
    found = planned(
        {"ono/a/hw1.py": RIGHT, "ono/b/hw1.py": f"# mine\n{RIGHT}", "abe/hw1.py": WRONG}
    )

    assert counting(found)["ono"] == "ono/a/hw1.py"
    assert told(found) == {"ono/b/hw1.py": "same"}


@pytest.mark.parametrize(
    ("file", "newer"),
    [("hw1.py", "hw1-2.py"), ("hw1-2.py", "hw1-10.py"), ("hw1_v2.py", "hw1_v11.py"),
     ("hw1_draft.py", "hw1.py"), ("hw1_2026-02-28.py", "hw1_2026-03-01.py")],
)  # fmt: skip
def test_versions_are_ordered_as_people_count(file: str, newer: str) -> None:
    assert version(file) < version(newer)
    assert base(file) == base(newer) == "hw1"


def test_what_names_say() -> None:
    assert role(("old", "hw1.py")) == "old"
    assert role(("tests", "helper.py")) == role(("hw1_test.py",)) == "test"
    assert role(("latest", "hw1.py")) == "work"
    assert is_section("Section B") and is_section("3班") and not is_section("Grouper")
    assert part_of("part 2") == part_of("part 1") and part_of("lee-2") is None
    assert number_and_name("张三（0012301）") == ("0012301", "张三")
    assert number_and_name("lee 20260301") is None
    assert number_and_name("Wu Bo A0123457Y") == ("A0123457Y", "Wu Bo")
    assert number_and_name("2023004赵六") == ("2023004", "赵六")
    assert number_and_name("A0123456X") is number_and_name("lee123456789") is None
    assert is_section("Tuesday 14.30") and not is_section("Sunny 2")


# --- nothing vanishes ------------------------------------------------------------------------


def test_whoever_handed_in_no_source_has_a_status() -> None:
    files = {
        "ono/hw1.py": RIGHT,
        "abe/notes.docx": "PK",
        "kato.zip": b"no zip",
        "mori/hw1.py": OTHER,
        "ito/README.md": "# hw1\n",
        "ueda.zip": zipped({}),
    }

    found = planned(files)
    assert {each.student: each.status for each in found.ungraded} == {
        "abe": "no_source",
        "ito": "no_source",
        "kato": "no_source",
        "mori": "other_assignment",
        "ueda": "no_source",
    }
    assert told(found) == {
        "abe": "no_source",
        "ito": "no_source",
        "kato.zip": "not_a_zip",
        "mori/hw1.py": "other_assignment",
        "ueda.zip": "no_source",
    }


def test_canvas_texts_and_links_are_rows() -> None:
    files = {
        "lovelaceada_10101_880001_hw1.py": RIGHT,
        "hoppergrace_LATE_10102_text.html": "<p>",
        "wangfang_10103_link.html": "<a>",
    }

    found = planned(files)
    assert [(each.student, each.status) for each in found.ungraded] == [
        ("10102", "no_source"),
        ("10103", "no_source"),
    ]


# --- rosters ---------------------------------------------------------------------------------

CANVAS = "Student,ID,SIS User ID,SIS Login ID\n"


def test_an_id_is_looked_up_in_its_own_system_only(tmp_path: Path) -> None:
    members = a_roster(tmp_path, CANVAS + '"Abe, A",111,222,aa\n"Ono, O",333,111,oo\n')
    files = {"abea_111_9001_hw1.py": RIGHT, "x_222_9002_hw1.py": WRONG}

    found = planned(files, members=members)
    assert counting(found) == {
        "222": "abea_111_9001_hw1.py",
        "canvas-222": "x_222_9002_hw1.py",
    }
    assert [each.student for each in found.strangers] == ["canvas-222"]


def test_who_has_no_id_of_the_usual_column_is_known_by_the_platforms(tmp_path: Path) -> None:
    members = a_roster(tmp_path, CANVAS + '"Abe, A",111,,aa\n"Ono, O",333,S3,oo\n')

    found = planned({"abea_111_9001_hw1.py": RIGHT}, members=members)
    assert counting(found).keys() == {"111"}
    assert (found.substituted, found.absent) == (("111",), (("S3", "hw1"),))


@pytest.mark.parametrize(
    "rows",
    ['"A",111,S1,a\n"B",111,S2,b\n', '"A",S2,,a\n"B",9,S2,b\n', '"A",1,S1,a\n"B",2,S1,b\n'],
)
def test_a_roster_that_contradicts_itself_is_refused(tmp_path: Path, rows: str) -> None:
    with pytest.raises(UsageProblem):
        a_roster(tmp_path, CANVAS + rows)


def test_a_stranger_with_the_name_of_somebody_missing_is_told(tmp_path: Path) -> None:
    members = a_roster(tmp_path, CANVAS + '"Turing, Alan",111,S1,at\n"Ono, O",333,S3,oo\n')

    found = planned({"turingalan_999_9001_hw1.py": RIGHT}, members=members)
    assert [(each.student, each.alike) for each in found.strangers] == [("999", "S1")]


def test_numbers_and_names_are_found_in_any_order_and_width(tmp_path: Path) -> None:
    people = "1,0070001,周一\n2,0070002,吴二\n3,0070003,郑三\n4,0070004,郑三\n"
    text = f"2026年春季,,\n序号,学生学号,姓名\n{people}"
    files = {
        "周一_0070001_hw1.py": RIGHT,
        "hw1（００７０００２）.py": RIGHT,
        "作业1 0070003-郑三.zip": zipped({"hw1.py": RIGHT}),
        "郑三 hw1.py": RIGHT,
    }

    found = planned(files, members=a_roster(tmp_path, text, "gb18030"))
    assert counting(found).keys() == {"0070001", "0070002", "0070003"}
    assert told(found) == {"郑三 hw1.py": "two_of_one_name"}


@pytest.mark.parametrize(
    ("text", "files", "students"),
    [
        # A spreadsheet took the zeros, there or here; not where that leaves two.
        ("学号,姓名\n12301,张三\n", ["0012301_张三_hw1.py"], {"12301"}),
        ("学号,姓名\n0012301,张三\n", ["hw1 12301.py"], {"0012301"}),
        ("学号,姓名\n012301,张三\n12301,李四\n", ["0012301_hw1.py"], {"0012301"}),
        # Whoever has a number of their own is nobody of the class, for all their name.
        ("学号,姓名\n2023101,张三\n", ["2023101_张三_hw1.py", "2023199_张三_hw1.py"],
            {"2023101", "2023199"}),
        ('SID,Name\nS1,"van der Berg, Jan"\n', ["Jan van der Berg hw1.py"], {"S1"}),
        ("SID,Name\nS2,Ana María García López\n", ["García López, Ana María_hw1.py"], {"S2"}),
        ("SID,Name\nS1,Ann Lee\n", ["Mary Ann Lee hw1.py", "Ann Lee.py"], {"Mary Ann Lee", "S1"}),
        ("Email,Name\na@x,Ann Lee\nb@x,Bo Wu\n",
            ["hw1 - Ann Lee.py", "my work final (1) - Bo Wu.py"], {"a@x", "b@x"}),
        ("id,name\n1,Ann Lee\n2,Bo Wu\n", ["2_Bo Wu_hw1.py", "week 2 - Ann Lee.py"], {"1", "2"}),
        ("id,name\n1,משה לוי\n2,محمد علي\n",
            ["\u200fמשה לוי_hw1.py", "محمد علي\u200f hw1.py"], {"1", "2"}),
        ("学号,姓名\n2023001,张三\n2023002,李四\n",
            ["1_张三_2023001.py", "计科1班_2023002_李四_第一次作业.py"], {"2023001", "2023002"}),
        ("login,name\nann,Ann\n", ["ANN_HW1.py"], {"ann"}),
        ("Email,Name\na@x.edu,Ann Lee\nb@x.edu,Bo Wu\n",
            ["A. Lee <a@X.edu>/hw1.py", "Wu, Bo (Student)/hw1.py"], {"a@x.edu", "b@x.edu"}),
        ("Student Number;Name\nU7654321;Ann\n", ["HW1_u7654321.py"], {"U7654321"}),
    ],
)  # fmt: skip
def test_whose_a_file_is_stands_in_the_roster(
    tmp_path: Path, text: str, files: list[str], students: set[str]
) -> None:
    found = planned(dict.fromkeys(files, RIGHT), members=a_roster(tmp_path, text))

    assert counting(found).keys() == students


def test_a_name_that_two_can_have_or_two_names_are_nobodys(tmp_path: Path) -> None:
    members = a_roster(tmp_path, "SID,Name\nS1,Ann Lee\nS2,Lee Ann\nS3,Bo Wu\nS4,Cy Ng\n")
    files = {"Ann Lee_hw1.py": RIGHT, "Bo Wu - hw1 - Cy Ng.py": WRONG}

    found = planned(files, members=members)
    assert found.jobs == ()
    assert told(found) == {
        "Ann Lee_hw1.py": "two_of_one_name",
        "Bo Wu - hw1 - Cy Ng.py": "two_names",
    }


def test_two_names_with_one_number_are_two_claims() -> None:
    files = {
        "1001234_Ann Lee_hw1.py": RIGHT,
        "1001234_Ben Wu_hw1 (1).py": WRONG,
        "1001235_Cy Ng_hw1.py": WRONG,
        "1001235_hw1 (1).py": RIGHT,
        "1001236_Di Wu.py": WRONG,
        "Wu, Di 1001236 hw1 (2).py": RIGHT,
    }

    found = planned(files)
    assert counting(found) == {
        "1001235": "1001235_hw1 (1).py",
        "1001236": "Wu, Di 1001236 hw1 (2).py",
    }
    assert [(each.student, each.status) for each in found.ungraded] == [("1001234", "rival")]


def test_two_numbers_with_one_name_are_two_claims(tmp_path: Path) -> None:
    members = a_roster(tmp_path, "Email,Name\na@x,Ann Lee\nb@x,Bo Wu\n")
    files = {"1001234_Ann Lee_hw1.py": RIGHT, "1009999_Ann Lee_hw1 (2).py": WRONG}

    found = planned(files, members=members)
    assert (found.jobs, set(told(found).values())) == ((), {"rival"})


def test_id_and_name_of_two_students_are_nobodys(tmp_path: Path) -> None:
    members = a_roster(tmp_path, "学号,姓名\n0070001,周一\n0070002,吴二\n")

    found = planned({"0070001_吴二_hw1.py": RIGHT}, members=members)
    assert (found.jobs, told(found)) == ((), {"0070001_吴二_hw1.py": "contradiction"})


def test_every_member_of_a_group_has_a_row(tmp_path: Path) -> None:
    text = "student_id,github_username,team\nS1,ann,red-pandas\nS2,ben,red-pandas\nS3,cy,blue\n"
    files = {"hw1-submissions/hw1-red-pandas/hw1.py": RIGHT, "hw1-submissions/hw1-cy/hw1.py": WRONG}

    found = planned(files, members=a_roster(tmp_path, text))
    assert counting(found).keys() == {"S1", "S2", "S3"}
    assert found.duplicates == ()


def test_nobody_hands_in_for_a_group_by_calling_themselves_so(tmp_path: Path) -> None:
    text = "student_id,canvas_id,group\nS1,101,red\nS2,102,red\nS3,103,blue\n"

    found = planned({"red_103_9001_hw1.py": WRONG}, members=a_roster(tmp_path, text))
    assert counting(found).keys() == {"S3"}


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("Student Number;NAME\nU12;Müller, Jörg\n", [("U12", "Müller, Jörg")]),
        ("Name;Vorname;Matrikelnummer\nMüller;Jörg;0012\n", [("0012", "Jörg Müller")]),
        ("Prénom\tNom\tAdresse de courriel\nZoë\td'Arc\tz@x.fr\n", [("z@x.fr", "Zoë d'Arc")]),
        ("Nombre,Apellido(s),Número de ID\nAna,Núñez Gil,7\n", [("7", "Ana Núñez Gil")]),
        ("Kennung;Vollständiger Name\nTeilnehmer/in12;Bo Wu\n", [("12", "Bo Wu")]),
        ("邮箱,学号,姓名,备注\nz@x.cn,001,张三,\n\n合计,1,,\n", [("001", "张三")]),
        ('學號,全名\n="0012301",李四\n', [("0012301", "李四")]),
        ("OrgDefinedId,Username,Last Name,First Name\n#007,#ann,Lee,Ann\n", [("007", "Ann Lee")]),
        ("sep=;\nsid;name;points\n007;Bond, James;1,5\n;;\nTotal;;1,5\n", [("007", "Bond, James")]),
        ("SIS User ID,Student\n,Points Possible\nS9,\"Student, Test\"\nS1,\"O'Neil, Al\"\n",
            [("S1", "O'Neil, Al")]),
        ("id|Student Name\nsummer01|\n", [("summer01", None)]),
        ("STUDENT-ID,E-Mail\nS1,-\nS2,-\nS3,n/a\n", [("S1", None), ("S2", None), ("S3", None)]),
    ],
)  # fmt: skip
def test_rosters_of_many_systems_are_read(
    tmp_path: Path, text: str, members: list[tuple[str, str | None]]
) -> None:
    found = a_roster(tmp_path, text, "utf-8-sig").members

    assert [(each.student, each.name) for each in found] == members


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("Matrikelnummer;Name\n1;Jörg Müßig\n", "cp1252"), ("学号,姓名\n1,张三\n", "gb18030"),
     ("学号,姓名\n1,张三\n", "utf-16"), ("Matricule;Nom\n1;Zoë créée\n", "cp1252")],
)  # fmt: skip
def test_a_roster_is_read_in_the_encoding_of_its_country(
    tmp_path: Path, text: str, encoding: str
) -> None:
    (member,) = a_roster(tmp_path, text, encoding).members

    assert member.name and member.name in text


def test_a_workbook_is_read_or_its_reader_told_to_save_it_as_csv(tmp_path: Path) -> None:
    path = tmp_path / "class.xlsx"
    try:
        import openpyxl
    except ModuleNotFoundError:
        path.write_bytes(b"PK")
        with pytest.raises(UsageProblem) as raised:
            roster.read(path)
        assert "Save it as CSV" in raised.value.args[0].en
        return
    book = openpyxl.Workbook()
    for row in (["Spring"], ["学号", "姓名"], [10254700432, "张三"], [12301, "李四"]):
        book.active.append(row)
    book.active["A4"].number_format = "0000000"
    book.save(path)
    assert [each.student for each in roster.read(path).members] == ["10254700432", "0012301"]


# --- duplicates ------------------------------------------------------------------------------


def test_copies_that_differ_in_comments_only_are_duplicates_and_templates_are_not() -> None:
    files = {
        "ono_hw1.py": RIGHT,
        "abe_hw1.py": f"# my own\n\n{RIGHT}\n\n",
        "kato_hw1.py": BLANK,
        "mori_hw1.py": BLANK + "\n# later\n",
    }

    assert [each.students for each in planned(files).duplicates] == [("abe", "ono")]


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("student000000", "student000000"),
        ("hw1_student_3", "student_3"),
        ("User12 hw1 (2)", "User12"),
        ("学生07_hw1", "学生07"),
        ("student", None),
        ("students 2026", None),
    ],
)
def test_a_number_that_stands_for_a_name_is_a_name(name: str, student: str | None) -> None:
    assert labels.student_in(name, ["hw1"]) == student
    assert student is None or labels.part_of(student) is None
