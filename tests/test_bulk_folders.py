"""Folders as course sites and people make them: every student once, and no two as one."""

import json
from pathlib import Path

import pytest
from test_bulk_owners import RIGHT, WRONG, Files, planned, zipped

from grader.bulk import roster
from grader.bulk.plan import Plan
from grader.bulk.platforms import Named

BLANK = "# torchgrade: hw1\ndef add_position_vectors(token_vectors, position_vectors):\n    pass\n"
HW2 = "def mask_padding(embeddings, attention_mask):\n    return embeddings\n"
NOTEBOOK = (
    '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", '
    '"id": "a", "metadata": {}, "execution_count": 1, "outputs": [], "source": %s}]}'
)


def a_notebook(code: str) -> str:
    return NOTEBOOK % json.dumps(code)


def rows(found: Plan) -> dict[str, str]:
    """Each student's file, or why there is none."""
    return {
        **{each.student: each.status for each in found.ungraded},
        **{job.student: job.file for job in found.jobs if job.counts},
    }


def _submission(number: str, *people: tuple[str, str, str]) -> str:
    """One submission as Gradescope notes it."""
    who = "".join(f"  - :name: {n}\n    :sid: '{s}'\n    :email: {m}\n" for n, s, m in people)
    return f"submission_{number}:\n  :submitters:\n{who}  :created_at: 2026-03-01 10:00:00.0 Z\n"


R, W = RIGHT, WRONG

# name: (files, what must come: for each student the file or the status)
FOLDERS: dict[str, tuple[Files, dict[str, str]]] = {
    "canvas, one by one": (
        {
            "obrienmary_10111_880011_hw1.py": R,
            "garcialopezjuan_LATE_10112_880012_hw1-1.py": R,
            "lee_10113_880013_My Homework 1 (final).ipynb": a_notebook(W),
            "studenttest_10999_880099_hw1.py": W,
        },
        {
            "10111": "obrienmary_10111_880011_hw1.py",
            "10112": "garcialopezjuan_LATE_10112_880012_hw1-1.py",
            "10113": "lee_10113_880013_My Homework 1 (final).ipynb",
            "10999": "studenttest_10999_880099_hw1.py",
        },
    ),
    "canvas, both kinds of one work": (
        {
            "lee_10113_880013_hw1.py": R,
            "lee_10113_880014_hw1.ipynb": a_notebook(R),
            "kim_10114_880015_hw1.py": W,
        },
        {"10113": "lee_10113_880014_hw1.ipynb", "10114": "kim_10114_880015_hw1.py"},
    ),
    "canvas, in a zip within a zip": (
        {
            "submissions.zip": zipped(
                {
                    "lee_10113_880013_hw1.zip": zipped({"hw1/hw1/work.zip": zipped({"hw1.py": R})}),
                    "kim_10114_880015_hw1.py": W,
                }
            )
        },
        {
            "10113": "submissions.zip/lee_10113_880013_hw1.zip/hw1/hw1/work.zip/hw1.py",
            "10114": "submissions.zip/kim_10114_880015_hw1.py",
        },
    ),
    "canvas, anonymous and late": (
        {
            "anon_aB3xZ_880013_hw1.py": R,
            "anon_LATE_q9Lm2_880015_hw1-2.py": W,
            "anon_ab3xz_880019_hw1.py": W,
        },
        {
            "aB3xZ": "anon_aB3xZ_880013_hw1.py",
            "q9Lm2": "anon_LATE_q9Lm2_880015_hw1-2.py",
            "ab3xz": "anon_ab3xz_880019_hw1.py",
        },
    ),
    "moodle, folders": (
        {
            "Mary O'Brien_4711_assignsubmission_file_/hw1.py": R,
            "Jean-Luc Picard_4712_assignsubmission_file_/work/hw1.ipynb": a_notebook(R),
            "Jean-Luc Picard_4712_assignsubmission_onlinetext_/onlinetext.html": "<p>see file",
            "李 雷_4713_assignsubmission_onlinetext_/onlinetext.html": "<p>here",
            "Mary O'Brien_4714_assignsubmission_file_/hw1.py": W,
        },
        {
            "4711": "Mary O'Brien_4711_assignsubmission_file_/hw1.py",
            "4712": "Jean-Luc Picard_4712_assignsubmission_file_/work/hw1.ipynb",
            "4713": "no_source",
            "4714": "Mary O'Brien_4714_assignsubmission_file_/hw1.py",
        },
    ),
    "moodle, flat": (
        {
            "Mary OBrien_4711_assignsubmission_file_hw1.py": R,
            "Ng_4712_assignsubmission_file_hw1 (1).py": W,
            "Wu Li_4713_assignsubmission_onlinetext_onlinetext.html": "<p>",
        },
        {
            "4711": "Mary OBrien_4711_assignsubmission_file_hw1.py",
            "4712": "Ng_4712_assignsubmission_file_hw1 (1).py",
            "4713": "no_source",
        },
    ),
    "moodle, folders with the id but without the kind": (
        {
            "Mary OBrien_4711_assignsubmission_file/hw1.py": R,
            "Ng_4712_assignsubmission_file/hw1.py": W,
        },
        {
            "4711": "Mary OBrien_4711_assignsubmission_file/hw1.py",
            "4712": "Ng_4712_assignsubmission_file/hw1.py",
        },
    ),
    "moodle, groups": (
        {
            "Group A-Mary OBrien_4711_assignsubmission_file_/hw1.py": R,
            "Group B-Ng_4712_assignsubmission_file_/hw1.py": W,
        },
        {
            "4711": "Group A-Mary OBrien_4711_assignsubmission_file_/hw1.py",
            "4712": "Group B-Ng_4712_assignsubmission_file_/hw1.py",
        },
    ),
    "blackboard, a note alone": (
        {
            "Homework 1_s1234567_attempt_2026-03-01-20-11-12.txt": "Name: A\n",
            "Homework 1_s1234567_attempt_2026-03-01-20-11-12_hw1.py": R,
            "Homework 1_s7654321_attempt_2026-03-01-20-11-12.txt": "Name: B\nThere are no files.\n",
            "Homework 1_ann_b_attempt_2026-03-01-20-11-12_hw1_v2.py": W,
        },
        {
            "s1234567": "Homework 1_s1234567_attempt_2026-03-01-20-11-12_hw1.py",
            "s7654321": "no_source",
            "ann_b": "Homework 1_ann_b_attempt_2026-03-01-20-11-12_hw1_v2.py",
        },
    ),
    "brightspace, flat files": (
        {
            "397063-2557369 - Ann Lee - Mar 1, 2026 926 PM - hw1.py": R,
            "397064-2557369 - Bo Kim - Mar 1, 2026 926 AM - hw1 - final.py": W,
        },
        {
            "397063": "397063-2557369 - Ann Lee - Mar 1, 2026 926 PM - hw1.py",
            "397064": "397064-2557369 - Bo Kim - Mar 1, 2026 926 AM - hw1 - final.py",
        },
    ),
    "gradescope": (
        {
            "assignment_5_export/submission_metadata.yml": (
                _submission("71", ("Ann Lee", "0071", "ann@u.edu"), ("Bo Kim", "0072", "bo@u.edu"))
                + _submission("73", ("Cy", "", "cy@u.edu"))
                + _submission("74", ("Di", "0074", "di@u.edu"))
            ),
            "assignment_5_export/submission_71/hw1.py": R,
            "assignment_5_export/submission_73/hw1.py": W,
            "assignment_5_export/submission_74/essay.pdf": "%PDF",
        },
        {
            "0071": "assignment_5_export/submission_71/hw1.py",
            "0072": "assignment_5_export/submission_71/hw1.py",
            "cy@u.edu": "assignment_5_export/submission_73/hw1.py",
            "0074": "no_source",
        },
    ),
    "nbgrader, a course": (
        {
            "nlp/nbgrader_config.py": "c = get_config()",
            "nlp/source/hw1/hw1.ipynb": a_notebook(BLANK),
            "nlp/autograded/ann/hw1/hw1.ipynb": a_notebook(W),
            "nlp/submitted/ann/hw1/hw1.ipynb": a_notebook(R),
            "nlp/submitted/ann/hw1/timestamp.txt": "2026-03-01 20:00:00 America/New_York",
            "nlp/submitted/ann/hw2/hw2.ipynb": a_notebook(HW2),
            "nlp/submitted/bo/hw1/hw1.ipynb": a_notebook(W),
            "nlp/submitted/bo/hw1/timestamp.txt": "2026-03-01 20:00:00.123 CEST",
            "nlp/submitted/cy/hw1/notes.md": "# later",
        },
        {
            "ann": "nlp/submitted/ann/hw1/hw1.ipynb",
            "bo": "nlp/submitted/bo/hw1/hw1.ipynb",
            "cy": "no_source",
        },
    ),
    "github classroom": (
        {
            "hw1-submissions/hw1-octo-cat/hw1.py": R,
            "hw1-submissions/hw1-octo-cat/.git/config": "[core]",
            "hw1-submissions/hw1-octo-cat/.github/classroom/autograding.json": "{}",
            "hw1-submissions/hw1-octo-cat/tests/test_hw1.py": "import hw1\n",
            "hw1-submissions/hw1-cat/hw1.py": W,
            "hw1-submissions/hw1-cat/.git/config": "[core]",
            "hw1-submissions/hw1-none/.git/config": "[core]",
        },
        {
            "octo-cat": "hw1-submissions/hw1-octo-cat/hw1.py",
            "cat": "hw1-submissions/hw1-cat/hw1.py",
            "none": "no_source",
        },
    ),
    "clones without the classroom's folder": (
        {
            "nlp-2026-hw1-ann/hw1.py": R,
            "nlp-2026-hw1-ann/.git/config": "",
            "nlp-2026-hw1-bo/src/hw1.py": W,
            "nlp-2026-hw1-bo/.git/config": "",
        },
        {"ann": "nlp-2026-hw1-ann/hw1.py", "bo": "nlp-2026-hw1-bo/src/hw1.py"},
    ),
    "chaoxing": (
        {
            "10254700432-张三.zip": zipped({"作业1/hw1.py": R}),
            "10254700433-李四.zip": zipped({"hw1.ipynb": a_notebook(W)}),
            "10254700434-欧阳娜娜.zip": zipped({"说明.docx": "PK"}),
        },
        {
            "10254700432": "10254700432-张三.zip/作业1/hw1.py",
            "10254700433": "10254700433-李四.zip/hw1.ipynb",
            "10254700434": "no_source",
        },
    ),
    "number, name and work in files": (
        {
            "2023001-张三-作业.zip": zipped({"hw1.py": R}),
            "李四_2023002_hw1.py": W,
            "2023003王五 第一次作业.py": R,
            "hw1_2023004_赵六(1).py": W,
        },
        {
            "2023001": "2023001-张三-作业.zip/hw1.py",
            "2023002": "李四_2023002_hw1.py",
            "2023003": "2023003王五 第一次作业.py",
            "2023004": "hw1_2023004_赵六(1).py",
        },
    ),
    "what a chat and a disk in China make": (
        {
            "新建文件夹 (2)/张三 hw1(1).py": R,
            "新建文件夹 (2)/李四 hw1 - 副本.py": W,
            "新建文件夹 (2)/王五-hw1(2)(1).py": R,
        },
        {
            "张三": "新建文件夹 (2)/张三 hw1(1).py",
            "李四": "新建文件夹 (2)/李四 hw1 - 副本.py",
            "王五": "新建文件夹 (2)/王五-hw1(2)(1).py",
        },
    ),
    "mails by sender": (
        {
            "ann.lee@uni.edu/hw1.py": R,
            "ann.lee@uni.edu/message.txt": "see attachment",
            "bo@uni.edu/Re: hw1/hw1 (1).py": W,
            "cy@uni.edu/body.html": "<p>forgot",
        },
        {
            "ann.lee@uni.edu": "ann.lee@uni.edu/hw1.py",
            "bo@uni.edu": "bo@uni.edu/Re: hw1/hw1 (1).py",
            "cy@uni.edu": "no_source",
        },
    ),
    "addresses in files": (
        {"ann.lee@uni.edu_hw1.py": R, "bo+nlp@uni.edu-hw1.py": W, "hw1_cy@uni.edu.py": R},
        {
            "ann.lee@uni.edu": "ann.lee@uni.edu_hw1.py",
            "bo+nlp@uni.edu": "bo+nlp@uni.edu-hw1.py",
            "cy@uni.edu": "hw1_cy@uni.edu.py",
        },
    ),
    "sections with one name in each": (
        {
            "Section 001/ann/hw1.py": R,
            "Section 001/bo/hw1.py": W,
            "Section 002/cy/hw1.py": R,
            "Section 002/di_hw1.py": W,
        },
        {
            "ann": "Section 001/ann/hw1.py",
            "bo": "Section 001/bo/hw1.py",
            "cy": "Section 002/cy/hw1.py",
            "di": "Section 002/di_hw1.py",
        },
    ),
    "zips, files and folders mixed": (
        {
            "ann.zip": zipped(
                {
                    "ann/ann/hw1.zip": zipped({"hw1.py": R}),
                    "__MACOSX/ann/._hw1.py": "x",
                    "ann/.DS_Store": "x",
                }
            ),
            "bo/hw1.py": W,
            "bo/Thumbs.db": "x",
            "bo/desktop.ini": "x",
            "cy_hw1.ipynb": a_notebook(R),
            "di.zip": zipped(
                {
                    "hw1/.ipynb_checkpoints/hw1-checkpoint.ipynb": a_notebook(W),
                    "hw1/hw1.ipynb": a_notebook(R),
                }
            ),
        },
        {
            "ann": "ann.zip/ann/ann/hw1.zip/hw1.py",
            "bo": "bo/hw1.py",
            "cy": "cy_hw1.ipynb",
            "di": "di.zip/hw1/hw1.ipynb",
        },
    ),
    "names of every kind": (
        {
            "O'Neill_hw1.py": R,
            "Smith-Jones, Ann-Marie hw1.py": W,
            "de la Cruz_hw1.py": R,
            "Madonna hw1.py": W,
            "Ó Súilleabháin_hw1.py": R,
            "محمد علي hw1.py": W,
            "נועה hw1.py": R,
            "山田太郎_hw1.py": W,
            "김민준-hw1.py": R,
            "X Æ A-12 hw1.py": W,
            "van 't Hoff_hw1.py": R,
        },
        {
            "O'Neill": "O'Neill_hw1.py",
            "Smith-Jones, Ann-Marie": "Smith-Jones, Ann-Marie hw1.py",
            "de la Cruz": "de la Cruz_hw1.py",
            "Madonna": "Madonna hw1.py",
            "Ó Súilleabháin": "Ó Súilleabháin_hw1.py",
            "محمد علي": "محمد علي hw1.py",
            "נועה": "נועה hw1.py",
            "山田太郎": "山田太郎_hw1.py",
            "김민준": "김민준-hw1.py",
            "X Æ A-12": "X Æ A-12 hw1.py",
            "van 't Hoff": "van 't Hoff_hw1.py",
        },
    ),
    "names that are words": (
        {"Max Test_hw1.py": R, "Note Wood_hw1.py": W, "work_hw1.py": W},
        {"Max Test": "Max Test_hw1.py", "Note Wood": "Note Wood_hw1.py"},
    ),
    "numbers that end alike": (
        {"2023001-1_hw1.py": R, "2023001-2_hw1.py": W},
        {"2023001-1": "2023001-1_hw1.py", "2023001-2": "2023001-2_hw1.py"},
    ),
    "the wrong homework and an empty file": (
        {"ann/hw2.py": HW2, "bo/hw1.py": "", "cy/hw1.py": R, "di/hw1.py": BLANK},
        {"ann": "other_assignment", "bo": "bo/hw1.py", "cy": "cy/hw1.py", "di": "di/hw1.py"},
    ),
    "everybody's folder has the same inside": (
        {f"{who}/NLP/homework/hw1/src/main.py": R for who in ("ann", "bo", "cy")},
        {who: f"{who}/NLP/homework/hw1/src/main.py" for who in ("ann", "bo", "cy")},
    ),
    "one student's folder with work of both kinds": (
        {
            "ann/hw1.py": R,
            "ann/hw1.ipynb": a_notebook(R),
            "bo/hw1.py": W,
            "bo/hw1.ipynb": a_notebook(R),
        },
        {"ann": "ann/hw1.ipynb", "bo": "ambiguous"},
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_every_student_of_a_folder_has_their_own_row(name: str) -> None:
    files, expected = FOLDERS[name]

    assert rows(planned(files)) == expected


# name: (the roster's text, its encoding, files, what must come, by the files of those without rows)
ROSTERS: dict[str, tuple[str, str, Files, dict[str, str]]] = {
    "a canvas gradebook": (
        "Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77)\n"
        ",,,,,Manual Posting\n"
        "    Points Possible,,,,,10.00\n"
        '"O\'Brien, Mary",10111,S1,mob,A,\n'
        '"García López, Juan",10112,S2,jgl,A,\n'
        '"Student, Test",10999,,testid,A,\n',
        "utf-8-sig",
        {"obrienmary_10111_880011_hw1.py": R, "studenttest_10999_880099_hw1.py": W},
        {
            "S1": "obrienmary_10111_880011_hw1.py",
            "10999": "studenttest_10999_880099_hw1.py",
            "S2": "missing",
        },
    ),
    "gbk with a class and a remark": (
        "人工智能2班成绩表,,,\n序号,学号,姓名,班级\n1,2023001,张三,2班\n2,2023002,李四,2班\n",
        "gb18030",
        {"张三_hw1.py": R, "hw1-李四-2023002.py": W},
        {"2023001": "张三_hw1.py", "2023002": "hw1-李四-2023002.py"},
    ),
    "moodle's worksheet": (
        "Identifier,Full name,Email address,Status,Grade\n"
        "Participant 4711,Mary O'Brien,m@u.edu,Submitted,-\n"
        "Participant 4712,Mary O'Brien,m2@u.edu,Submitted,-\n",
        "utf-8-sig",
        {
            "Mary OBrien_4711_assignsubmission_file_/hw1.py": R,
            "Mary OBrien_4712_assignsubmission_file_/hw1.py": W,
        },
        {
            "4711": "Mary OBrien_4711_assignsubmission_file_/hw1.py",
            "4712": "Mary OBrien_4712_assignsubmission_file_/hw1.py",
        },
    ),
    "letters before the number": (
        "student_id,name\n1234567,Ann Lee\n7654321,Bo Kim\n",
        "utf-8",
        {"s1234567_hw1.py": R, "Ann Lee 7654321 hw1.py": W},
        {"1234567": "s1234567_hw1.py", "7654321": "missing"},
    ),
    "two of one name": (
        "student_id,name\n1,Wei Li\n2,Wei Li\n3,Li Wei\n",
        "utf-8",
        {"Wei Li_hw1.py": R},
        {"1": "missing", "2": "missing", "3": "missing"},
    ),
    "names with marks and accents": (
        "student_id,last name,first name\n1,O’Neill-Smith,Seán\n2,de la Cruz,José\n3,Madonna,\n",
        "utf-8",
        {"Sean O'Neill Smith hw1.py": R, "jose de la cruz_hw1.py": W, "Madonna_hw1.py": R},
        {"1": "Sean O'Neill Smith hw1.py", "2": "jose de la cruz_hw1.py", "3": "Madonna_hw1.py"},
    ),
    "addresses": (
        "Name,Email Address\nAnn Lee,Ann.Lee@Uni.edu\nBo Kim,bo@uni.edu\n",
        "utf-16",
        {"ann.lee@uni.edu/hw1.py": R, "bo@uni.edu/hw1.py": W},
        {"Ann.Lee@Uni.edu": "ann.lee@uni.edu/hw1.py", "bo@uni.edu": "bo@uni.edu/hw1.py"},
    ),
}


@pytest.mark.parametrize("name", ROSTERS)
def test_a_roster_as_it_is_gives_everybody_a_row(name: str, tmp_path: Path) -> None:
    text, encoding, files, expected = ROSTERS[name]
    (tmp_path / "class.csv").write_bytes(text.encode(encoding))

    found = planned(files, members=roster.read(tmp_path / "class.csv"))

    assert {**dict.fromkeys((who for who, _ in found.absent), "missing"), **rows(found)} == expected


def test_one_number_beside_two_names_is_nobodys() -> None:
    files = {"0012301_张三_hw1.py": R, "李四-0012301-hw1.py": W, "0012302_王五_hw1.py": R}

    found = planned(files)

    assert rows(found) == {"0012301": "rival", "0012302": "0012302_王五_hw1.py"}
    assert {each.file for each in found.left} == {"0012301_张三_hw1.py", "李四-0012301-hw1.py"}


def test_a_resubmission_under_ones_number_alone_is_no_rival() -> None:
    found = planned({"0012301_张三_hw1.py": W, "0012301_hw1 (2).py": R, "0012302_王五_hw1.py": R})

    assert rows(found)["0012301"] == "0012301_hw1 (2).py"


@pytest.mark.parametrize(
    ("ids", "student", "found"),
    [
        (("1234567", "7654321"), "s1234567", ["1234567"]),
        # Where ids have letters, another letter is another person.
        (("1234567", "z1234567"), "s1234567", []),
        (("1234567", "z1234567"), "Z1234567", ["z1234567"]),
    ],
)
def test_a_letter_before_a_number_is_left_out_where_nobody_has_one(
    ids: tuple[str, ...], student: str, found: list[str], tmp_path: Path
) -> None:
    (tmp_path / "class.csv").write_text("student_id\n" + "\n".join(ids) + "\n", "utf-8")

    members = roster.read(tmp_path / "class.csv").find(Named(student=student, file="hw1.py"))

    assert [each.student for each in members.members] == found


def test_number_and_name_of_two_students_are_nobodys_in_any_script(tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("id,name\n1234567,Ann Lee\n7654321,Bo Kim\n", "utf-8")

    found = planned({"Ann Lee_7654321_hw1.py": R}, members=roster.read(tmp_path / "class.csv"))

    assert rows(found) == {}
    assert [each.reason for each in found.left] == ["contradiction"]
