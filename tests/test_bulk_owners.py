"""An upload speaks only for its owner: whatever Mallory hands in, Alice's row stays the same."""

import io
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.assignment import find_all
from grader.bulk import inbox, planning, roster
from grader.bulk.archives import Shelf
from grader.bulk.layers import Rules
from grader.bulk.plan import Plan, Wanted

KNOWN = find_all(None, {})
IDS = [each.id for each in KNOWN]
HEAD = "def add_position_vectors(token_vectors, position_vectors):\n"
RIGHT = HEAD + "    return token_vectors + position_vectors\n"
WRONG = HEAD + "    return token_vectors\n"
METADATA = """\
{folder}:
  :created_at: {moment}
  :submitters:
  - :sid: {student}
    :name: {student}
"""

# A path stands for a symbolic link to it.
Files = Mapping[str, str | bytes | Path]


def planned(files: Files, *, members: roster.Roster | None = None, **rules: Any) -> Plan:
    """The plan for files that are written out for the purpose."""
    with tempfile.TemporaryDirectory() as made:
        for name, content in files.items():
            path = Path(made) / "in" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Path):
                path.symlink_to(content)
            else:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
        shelf = Shelf()
        found = inbox.look(Path(made) / "in", shelf, Rules(ids=IDS, **rules))
        chosen = tuple(each for each in KNOWN if each.id == "hw1")
        wanted = Wanted(known=KNOWN, chosen=chosen)
        made_plan = planning.make(found, shelf, wanted, members or roster.Roster())
        shelf.close()
        return made_plan


def row(found: Plan, student: str) -> list[tuple[Any, ...]]:
    """Everything that decides a student's grade."""
    mine = [
        (job.attempt, job.counts, job.file, job.sha256, job.submitted_at, job.late)
        for job in found.jobs
        if job.student == student
    ]
    return [
        *mine,
        *((each.status, each.files) for each in found.ungraded if each.student == student),
    ]


def zipped(files: Files) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            if isinstance(content, Path):
                link = zipfile.ZipInfo(name)
                link.external_attr = 0o120777 << 16
                archive.writestr(link, content.as_posix())
            else:
                archive.writestr(name, content)
    return made.getvalue()


def a_link(target: str) -> bytes:
    """A zip file with nothing but a symbolic link."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        link = zipfile.ZipInfo("hw1.py")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, target)
    return made.getvalue()


# --- the layouts: where a student's upload stands, and what the platform writes beside it --------

Place = Callable[[str], str]
LAYOUTS: dict[str, tuple[dict[str, str], Place, Files]] = {
    "canvas": (
        {"alice": "10101", "mallory": "10666"},
        lambda who: f"{who}_{'10101' if who == 'alice' else '10666'}_88000{len(who)}_up",
        {"bobby_10102_880003_hw1.py": WRONG},
    ),
    "canvas_anonymous": (
        {"alice": "aLiC3", "mallory": "mAl1y"},
        lambda who: f"anon_{'aLiC3' if who == 'alice' else 'mAl1y'}_88000{len(who)}_up",
        {"anon_b0BBy_880003_hw1.py": WRONG},
    ),
    "moodle": (
        {"alice": "4711", "mallory": "6666"},
        lambda who: f"{who.title()}_{'4711' if who == 'alice' else '6666'}_assignsubmission_file_",
        {"Bob_4712_assignsubmission_file_/hw1.py": WRONG},
    ),
    "blackboard": (
        {"alice": "alice", "mallory": "mallory"},
        lambda who: f"Homework 1_{who}_attempt_2026-03-01-20-11-12_up",
        {"Homework 1_bob_attempt_2026-03-01-20-11-13_hw1.py": WRONG},
    ),
    "brightspace": (
        {"alice": "397063", "mallory": "397066"},
        lambda who: (
            f"{'397063' if who == 'alice' else '397066'}-25 - {who.title()} - Mar 1, 2026 926 PM"
        ),
        {"index.html": "", "397064-25 - Bob - Mar 1, 2026 926 PM/hw1.py": WRONG},
    ),
    "gradescope": (
        {"alice": "00123", "mallory": "00666"},
        lambda who: f"submission_{'1' if who == 'alice' else '6'}",
        {
            "submission_metadata.yml": "".join(
                METADATA.format(folder=folder, student=sid, moment="2026-02-27 04:23:25.0 Z")
                for folder, sid in (("submission_1", "00123"), ("submission_6", "00666"))
            )
        },
    ),
    "nbgrader": (
        {"alice": "alice", "mallory": "mallory"},
        lambda who: f"submitted/{who}/hw1",
        {
            "submitted/alice/hw1/timestamp.txt": "2026-02-27 15:58:23.948203 UTC",
            "submitted/bob/hw1/hw1.py": WRONG,
        },
    ),
    "exchange": (
        {"alice": "alice", "mallory": "mallory"},
        lambda who: f"{who}+hw1+2026-02-27 15:58:23.948203 UTC",
        {"bob+hw1+2026-02-27 15:58:24.0 UTC/hw1.py": WRONG},
    ),
    "clones": (
        {"alice": "alice", "mallory": "mallory"},
        lambda who: f"hw1-submissions/hw1-{who}",
        {"hw1-submissions/hw1-bob/hw1.py": WRONG},
    ),
    "folders": (
        {"alice": "alice", "mallory": "mallory"},
        lambda who: who,
        {"bob/hw1.py": WRONG},
    ),
    "teams": (
        {"alice": "alice", "mallory": "mallory"},
        lambda who: f"Submitted files/{who}",
        {"Submitted files/bob/hw1/hw1.py": WRONG, "Working files/alice/hw1/hw1.py": WRONG},
    ),
    "sections": (
        {"alice": "alice", "mallory": "mallory"},
        lambda who: f"Section {'A' if who == 'alice' else 'B'}/{who}",
        {"Section A/bob/hw1.py": WRONG, "Section B/eve/hw1.py": WRONG},
    ),
}
# Of these each file stands at the top, with the platform's part before the student's.
FLAT = {"canvas": "", "canvas_anonymous": "", "moodle": "", "blackboard": ""}


def uploads(alice: str) -> st.SearchStrategy[Files]:
    """Folders and files that say, in every platform's words, that they are Alice's or Bob's."""
    whom = st.sampled_from([alice, alice, "alice", "bob", "10102", *LOOKALIKES])
    names = whom.flatmap(
        lambda who: st.sampled_from(
            [
                "hw1.py",
                "submission_metadata.yml",
                "timestamp.txt",
                "index.html",
                "gradebook.db",
                f"anon_{who}_1_hw1.py",
                f"alice_{who}_999999_hw1-9.py",
                f"{who}_880009_hw1.py",
                f"Alice_{who}_assignsubmission_file_hw1.py",
                f"_{who}_attempt_2030-01-01-00-00-00_hw1.py",
                f"Homework 1_{who}_attempt_2030-01-01-00-00-00_hw1.py",
                f"{who}_hw1.py",
                f"{who}-25 - Alice - Mar 1, 2030 926 PM - hw1.py",
                f"{who}.zip",
                f"{who}+hw1+2030-01-01 00:00:00 UTC.zip",
                f"{who.upper()}_hw1-9.py",
                f"{who}%20_hw1.py",
                f"{who} ._hw1.py",
                f"\uff41{who[1:]}_hw1.py",
                f"\u0430{who[1:]}_hw1.py",
                f"{who}\u0301_hw1.py",
                "gradebook.csv",
                "class.csv",
                ".git",
                "hw1-9.py",
                "hw1 2030-01-01 final v99 (99).py",
                "hw1.zip",
                f"hw1 (99) {who}.py",
                "test_hw1.py",
                "config",
            ]
        )
    )
    folders = whom.flatmap(
        lambda who: st.sampled_from(
            [
                "",
                "",
                "submitted/",
                f"submitted/{who}/hw1/",
                f"{who}/",
                f"hw1-{who}/",
                f"{who}+hw1+2030-01-01 00:00:00 UTC/",
                f"alice_{who}_880009_up/",
                f"Alice_{who}_assignsubmission_file_/",
                f"{who}-25 - Alice - Mar 1, 2030 926 PM/",
                "submission_1/",
                ".git/",
                "hw1/",
                "section A/",
                "hw1-submissions/",
                f"{who.upper()}/",
                f"{who}%20/",
                f"drive-download-20300101T000000Z-001/{who}/",
                f"Version 99/{who}/",
                f"a/b/c/d/submitted/{who}/hw1/",
                f"Submitted files/{who}/hw1/Version 99/",
                "Section A/alice/",
                f"Submitted files/{who}/hw1/Version 99/",
                f"Version 99/{who}/",
                "drive-download-20300101T000000Z-001/",
                f"course/submitted/{who}/hw1/",
                f"hw1-submissions/hw1-{who}/",
                f"hw1-submissions/hw1-{who}/.git/",
                "__MACOSX/",
            ]
        )
    )
    return st.dictionaries(st.tuples(folders, names).map("".join), CONTENTS, min_size=1, max_size=8)


# What reads as `alice`, in the eyes of a person, of a file system or of a spreadsheet.
LOOKALIKES = [
    "ALICE",
    "alice.",
    "alice ",
    "alice%20",
    "%61lice",
    "ａｌｉｃｅ",
    "\u0430lice",
    "ali\u0441e",
    "alice\u0301",
    "alicé",
    "alice\u200b",
    "\u202eecila",
    "alice (2)",
    "alice-2",
    "alice_LATE",
    "alice hw1",
    "hw1-alice",
]
NESTED = zipped(
    {
        "submission_metadata.yml": METADATA.format(folder="a", student="00123", moment="2030 Z"),
        "a/hw1.py": WRONG,
        "submitted/alice/hw1/hw1.py": WRONG,
        "submitted/alice/hw1/timestamp.txt": "2030-01-01 00:00:00 UTC",
        "alice_10101_999999_hw1-9.py": WRONG,
        "Submitted files/alice/hw1/Version 99/hw1.py": WRONG,
        "../alice/hw1.py": WRONG,
        "link.py": Path("../../alice/hw1.py"),
    }
)
CONTENTS: st.SearchStrategy[str | bytes | Path] = st.sampled_from(
    [
        NESTED,
        zipped({"alice.zip": NESTED, "hw1.py": WRONG}),
        *([] if sys.platform == "win32" else [Path("../alice/hw1.py"), Path("../alice")]),
        WRONG,
        WRONG,
        "# torchgrade: hw1\n",
        "2030-01-01 00:00:00 UTC",
        METADATA.format(folder="submission_1", student="00123", moment="2030-01-01 00:00:00 Z"),
        "",
        b"PK\x03\x04 no zip",
        # Whole exports of other platforms, in which Alice is somebody.
        zipped({"submitted/alice/hw1/hw1.py": WRONG, "submitted/alice/hw1/timestamp.txt": "2030"}),
        zipped({"alice_10101_999999_hw1-9.py": WRONG, "anon_aLiC3_999999_hw1.py": WRONG}),
        zipped({"../alice/hw1.py": WRONG, "/alice/hw1.py": WRONG, "hw1.py": WRONG}),
        zipped(
            {
                "submission_metadata.yml": METADATA.format(
                    folder="submission_1", student="00123", moment="2030-01-01 00:00:00 Z"
                ),
                "submission_1/hw1.py": WRONG,
            }
        ),
        zipped({"in.zip": zipped({"alice.zip": zipped({"alice/hw1.py": WRONG})})}),
        a_link("../alice/hw1.py"),
    ]
)


def placed(layout: str, who: str, files: Files, form: str) -> Files:
    """A student's upload as the platform stores it: a folder, a zip file, or files side by side."""
    place = LAYOUTS[layout][1](who)
    if form == "broken":
        return {f"{place}.zip" if "/" not in place else f"{place}/x.zip": b"PK\x03\x04 no zip"}
    if form == "zip":
        inside = (
            "/hw1.zip" if layout in ("nbgrader", "moodle", "brightspace", "exchange") else ".zip"
        )
        return {f"{place}{inside}": zipped(files)}
    if form == "flat" and layout in FLAT:
        start = place.removesuffix("_up").removesuffix("_")
        return {f"{start}_{name.replace('/', '-')}": content for name, content in files.items()}
    clashes = {name.partition("/")[0] for name in files if "/" in name} & set(files)
    return {f"{place}/{name}": each for name, each in files.items() if name not in clashes}


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
@given(
    data=st.data(),
    form=st.sampled_from(["folder", "zip", "flat", "flat", "broken"]),
    mine=st.sampled_from(["folder", "zip", "flat"]),
    name=st.sampled_from(["hw1.py", "alice_hw1.py", "my work.py", "bob_hw1.py"]),
)
@settings(max_examples=80, deadline=None)
def test_whatever_mallory_hands_in_alices_row_is_the_same(
    layout: str, data: st.DataObject, form: str, mine: str, name: str
) -> None:
    ids, _, beside = LAYOUTS[layout]
    upload = data.draw(uploads(ids["alice"]))
    alone = {**beside, **placed(layout, "alice", {name: RIGHT}, mine)}
    attack = placed(layout, "mallory", upload, form)

    honest = row(planned(alone), ids["alice"])
    attacked = row(planned({**attack, **alone}), ids["alice"])

    assert [each[1] for each in honest] == [True]
    assert attacked == honest


ROSTER = """\
Student,ID,anonymous_id,SID,Identifier,Username,brightspace_id,student_id,github_username
alice,10101,aLiC3,00123,4711,alice,397063,alice,alice
bob,10102,b0BBy,00124,4712,bob,397064,bob,bob
"""


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("layout", sorted(LAYOUTS.keys() - {"folders", "sections", "teams"}))
def test_whoever_is_called_nearly_as_alice_takes_nothing_of_hers(
    layout: str, listed: bool, tmp_path: Path
) -> None:
    class_list = tmp_path / "class.csv"
    class_list.write_text(ROSTER, "utf-8")
    members = roster.read(class_list) if listed else None
    ids, _, beside = LAYOUTS[layout]
    alice = "alice" if listed else ids["alice"]
    alone = {**beside, **placed(layout, "alice", {"hw1.py": RIGHT}, "folder")}
    honest = row(planned(alone, members=members), alice)
    assert [each[1] for each in honest] == [True]

    for called in LOOKALIKES:
        attack = placed(layout, called, {"hw1.py": WRONG, "hw1 (9).py": f"{WRONG}#\n"}, "folder")
        if layout == "gradescope":
            text = str(beside["submission_metadata.yml"]).replace("me: 00666", f'me: "{called}"')
            attack = {**attack, "submission_metadata.yml": text}
        assert row(planned({**alone, **attack}, members=members), alice) == honest, called


@given(upload=uploads("alice"))
@settings(max_examples=60, deadline=None)
def test_a_pattern_that_names_folders_names_nobody_inside_of_one(upload: Files) -> None:
    import re

    alone = {"u1 alice/hw1.py": RIGHT, "u2 bob/hw1.py": WRONG}
    attack = {f"mallory/u1 {name.replace('/', '-')}": each for name, each in upload.items()}
    pattern = re.compile(r"u\d")

    found = planned({**alone, **attack}, pattern=pattern)
    assert row(found, "u1") == row(planned(alone, pattern=pattern), "u1")


@pytest.mark.parametrize(
    "name", ["submitted/alice/hw1", "anon_alice_1_up", "alice+hw1+2030-01-01 00:00:00 UTC"]
)
def test_what_lies_in_a_students_folder_is_that_students(name: str) -> None:
    found = planned({"alice/hw1.py": RIGHT, "bob/hw1.py": RIGHT, f"mallory/{name}/hw1.py": WRONG})

    assert {(each.student, each.file) for each in found.jobs} == {
        ("alice", "alice/hw1.py"),
        ("bob", "bob/hw1.py"),
        ("mallory", f"mallory/{name}/hw1.py"),
    }


def test_a_date_in_an_archive_does_not_replace_the_platforms() -> None:
    files = {
        "submitted/alice/hw1/hw1.py": RIGHT,
        "submitted/alice/hw1/timestamp.txt": "2026-02-27 15:58:23.948203 UTC",
        "submitted/alice/hw1/more/timestamp.txt": "2030-01-01 00:00:00 UTC",
    }

    (job,) = planned(files).jobs
    assert job.submitted_at == "2026-02-27T15:58:23Z"


def test_two_claims_on_one_student_are_listed_and_neither_is_taken(tmp_path: Path) -> None:
    class_list = tmp_path / "class.csv"
    class_list.write_text("student_id,name\nS1,Ada Lovelace\nS2,Bob Builder\n", "utf-8")
    files = {
        "lovelaceada_10101_880001_hw1.py": RIGHT,
        "lovelaceada_10666_880002_hw1.py": WRONG,
        "builderbob_10102_880003_hw1.py": RIGHT,
    }

    found = planned(files, members=roster.read(class_list))

    assert [each.student for each in found.jobs] == ["S2"]
    assert [(each.file, each.reason) for each in found.left] == [
        ("lovelaceada_10101_880001_hw1.py", "rival"),
        ("lovelaceada_10666_880002_hw1.py", "rival"),
    ]
    assert [(each.student, each.status) for each in found.ungraded] == [("S1", "rival")]


def test_a_resubmission_is_no_rival_claim() -> None:
    files = {
        "lovelaceada_10101_880001_hw1.py": WRONG,
        "lovelaceada_10101_880009_hw1-1.py": RIGHT,
        "builderbob_10102_880003_hw1.py": RIGHT,
    }

    found = planned(files)
    assert [(each.student, each.attempt, each.counts) for each in found.jobs] == [
        ("10101", 2, True),
        ("10102", 1, True),
        ("10101", 1, False),
    ]


def test_one_name_in_two_sections_is_two_claims() -> None:
    found = planned({"section A/lee/hw1.py": RIGHT, "section B/lee/hw1.py": WRONG})

    assert found.jobs == ()
    assert {each.reason for each in found.left} == {"rival"}
