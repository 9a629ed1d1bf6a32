"""The reader: the same facts from a process that is bounded, and what happens when it dies."""

import json
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from builders import an_opened_file
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.bulk import facts as facts_of
from grader.bulk.archive_reader import ArchiveReader
from grader.bulk.archives import Entry, Locator, Refused, Shelf
from grader.bulk.facts import Known
from grader.errors import GraderError
from grader.plain import fields_of, reading_from
from grader.reader.client import Reader, Stopped, unread
from grader.submission import understand

ROPE = "def apply_rope(x):\n    return x\n"
NAMES = ("apply_rope", "mask_padding", "sinusoid_value")
KNOWN = (Known(id="hw4", entry_points=("apply_rope",), variables={"rotated": "apply_rope"}),)


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader() as started:
        yield started


def book(*sources: str) -> bytes:
    cells = [{"cell_type": "code", "id": f"c{n}", "source": s} for n, s in enumerate(sources)]
    return json.dumps({"cells": cells}).encode()


SCRIPTS = {
    "right": ROPE,
    "blank, twice and rebound": f"{ROPE}def apply_rope(x):\n    ...\napply_rope = f(apply_rope)\n",
    "an answer in quotes": "def apply_rope(x):\n    return 'x * 2'\n",
    "inside another block": "if y:\n    def apply_rope(x):\n        return x\n",
    "no Python": "def apply_rope(x:\n",
    "a lone surrogate": "x = '\\ud800'  # é 中文\n" + ROPE,
    "nothing": "",
    "a marker, a star and imports": "# torchgrade: hw4\nfrom numpy import *\nimport pandas\n",
    "bytes": "\x00\x01",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_read_as_it_would_be_here(reader: Reader, name: str) -> None:
    opened = an_opened_file(SCRIPTS[name].encode("utf-8", "surrogatepass"))

    assert reader.understand(opened, NAMES) == understand(opened, names=NAMES)


def test_a_notebook_is_read_as_it_would_be_here(reader: Reader) -> None:
    opened = an_opened_file(
        book("%time\nx = 1", ROPE, "def f(:", "1 / 0", "\ud800"), file="a.ipynb"
    )

    assert reader.understand(opened, NAMES) == understand(opened, names=NAMES)


@given(text=st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_reading_survives_the_way_through_json(text: str) -> None:
    reading = understand(an_opened_file(text.encode("utf-8", "surrogatepass")), names=NAMES)

    assert reading_from(json.loads(json.dumps(reading, default=fields_of))) == reading


# --- what it dies of ---------------------------------------------------------------------------


def answering(*lines: str) -> Reader:
    """A reader whose only answer is `attack`, which does this."""
    body = "\n".join(f"    {line}" for line in lines)
    return Reader(
        "from grader.reader.serve import main\n"
        f"def attack(question):\n    question.say('part', 1)\n{body}\n"
        "def right(question): return 7\n"
        "main({'attack': attack, 'right': right})"
    )


linux = pytest.mark.skipif(sys.platform != "linux", reason="needs the kernel's limits")
ATTACKS = {
    "time": ("while True: pass",),
    "memory": ("return len([bytes(1 << 24) for _ in range(1 << 12)])",),
    "died": ("import os; os.kill(os.getpid(), 11)",),
}


@linux
@pytest.mark.parametrize("reason", ATTACKS)
def test_what_ends_it_is_told_and_the_next_question_is_answered(reason: str) -> None:
    with answering(*ATTACKS[reason]) as reader:
        with pytest.raises(Stopped) as stopped:
            reader.ask("attack", {}, cpu_s=1)

        assert (stopped.value.reason, stopped.value.parts) == (reason, (1,))
        assert reader.ask("right", {}) == 7


@linux
def test_a_reader_that_somebody_ended_is_no_word_about_the_file(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    attack = (
        "import os, pathlib",
        f"seen = pathlib.Path({str(seen)!r})",
        "if seen.exists(): return 3",
        "seen.touch(); os.kill(os.getpid(), 9)",
    )
    with answering(*attack) as reader:
        assert reader.ask("attack", {}) == 3


def test_one_that_only_waits_is_ended_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.reader.client.LEAST_WALL_S", 0.5)
    with answering("import time; time.sleep(600)") as reader, pytest.raises(Stopped) as stopped:
        reader.ask("attack", {}, cpu_s=0.01)

    assert stopped.value.reason == "time"


def test_a_fault_of_ours_is_no_words_about_the_file() -> None:
    with answering("raise KeyError('ours')") as reader:
        with pytest.raises(GraderError, match="KeyError: 'ours'"):
            reader.ask("attack", {})

        assert reader.ask("right", {}) == 7


def test_whatever_prints_does_not_print_among_the_answers() -> None:
    with answering("print('{}'); import os; os.system('echo 1'); return 2") as reader:
        assert reader.ask("attack", {}) == 2


def test_it_ends_with_whoever_asks() -> None:
    with Reader() as reader:
        reader.understand(an_opened_file(b"x = 1"), ())
        process = reader._process
    assert process is not None
    assert process.poll() is not None


def test_it_neither_loads_torch_nor_knows_what_the_asker_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    with answering("import os, sys; return ['torch' in sys.modules, [*os.environ.values()]]") as it:
        torch, environment = it.ask("attack", {})

    assert (torch, "hunter2" in environment) == (False, False)


def test_a_file_that_nobody_could_read_is_unreadable_and_says_why() -> None:
    reading = unread(an_opened_file(b"").submission, "time")

    assert (reading.unreadable, reading.source) == (True, None)
    assert "takes far longer than any exercise" in reading.problems[0].message.en


# --- files and zip files ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def inbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("inbox")
    (root / "lee").mkdir()
    (root / "lee" / "hw4.py").write_text(ROPE, encoding="utf-8")
    for name in ("ann", "bob", "kim"):
        with zipfile.ZipFile(root / f"{name}.zip", "w") as packed:
            packed.writestr("hw4.py", f"# {name}\n{ROPE}")
            packed.writestr("../x.py", "")
    return root


def listed(files: ArchiveReader | Shelf, root: Path) -> list[Entry | Refused]:
    return list(files.walk(root))


def test_a_walk_lists_what_it_would_list_here(inbox: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(inbox.parent)
    with closing(ArchiveReader()) as files:
        assert listed(files, inbox) == listed(Shelf(), inbox)  # type: ignore[arg-type]
        assert len(listed(files, Path(inbox.name))) == 7


def test_a_file_gives_the_facts_that_it_would_give_here(inbox: Path) -> None:
    with closing(ArchiveReader()) as files, closing(Shelf()) as here:
        for entry in listed(files, inbox):
            if isinstance(entry, Entry):
                asked = (entry.locator, entry.name, "hw4", KNOWN)
                assert files.facts(*asked) == here.facts(*asked)


def test_a_file_that_has_changed_since_is_not_graded(inbox: Path) -> None:
    handed_in = replace(an_opened_file(ROPE.encode()).submission, sha256="0" * 64)
    with closing(ArchiveReader()) as files:
        for ask in (files.without_outputs, lambda *two: files.understand(*two, NAMES)):
            with pytest.raises(OSError, match="has changed"):
                ask(Locator(path=str(inbox / "lee" / "hw4.py")), handed_in)


@linux
def test_the_zip_file_of_which_it_dies_is_left_out_and_the_others_are_listed(
    inbox: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fault = tmp_path / "fault.py"
    fault.write_text(
        "import os, zipfile\n"
        "listed = zipfile.ZipFile.infolist\n"
        "def infolist(self):\n"
        "    if 'bob' in os.readlink(f'/proc/self/fd/{self.fp.fileno()}'):\n"
        "        os.kill(os.getpid(), 11)\n"
        "    return listed(self)\n"
        "zipfile.ZipFile.infolist = infolist\n",
        encoding="utf-8",
    )
    program = (
        f"import runpy; runpy.run_path({str(fault)!r}); "
        "from grader.bulk.archive_reader import main; main()"
    )
    monkeypatch.setattr("grader.bulk.archive_reader._PROGRAM", program)
    with closing(ArchiveReader()) as files:
        found = listed(files, inbox)

    refused = [each for each in found if isinstance(each, Refused)]
    assert Refused(shown="bob.zip", reason="reading_died") in refused
    names = {each.parts[0] for each in found if isinstance(each, Entry)}
    assert names == {"ann.zip", "kim.zip", "lee"}


def test_of_a_file_that_ended_it_the_name_tells_the_assignment() -> None:
    known = facts_of.of_unread("hw4.py", None, KNOWN, "7", "memory")

    assert (known.ids, known.unread, known.code) == (("hw4",), "memory", "7")
    assert facts_of.of_unread("x.py", "hw4", KNOWN, "7", "time").ids == ("hw4",)
    assert facts_of.of_unread("x.py", None, KNOWN, "7", "time").ids is None
