"""The pages about grading a class: their folders are made, their commands run, their screens kept.

A block below a comment `<!-- files NAME -->` lists what lies in the folder NAME, a line for each
file; where a name on the way ends in `.zip`, there is a zip file. `<!-- exports NAME -->` lists
several folders; the indented lines below each say how it is understood before it is graded.
`<!-- roster FILE -->` writes the block into FILE, `<!-- table FILE -->` shows what FILE holds by
then. Commands are `console` blocks, as in the README; all blocks share a folder. To rewrite:

    REWRITE_SCREENS=1 python -m pytest -m "" tests/test_teaching.py

which fails on purpose, so that it is never left switched on.
"""

import json
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from test_bulk_owners import KNOWN
from test_readme import REWRITING, ROOT, reader, replayed

from grader.bulk import inbox, planning, roster
from grader.bulk.archives import Shelf
from grader.bulk.layers import Rules
from grader.bulk.plan import Wanted
from grader.cli import batch_screen
from grader.cli.root import Desk
from grader.model import Language

PAGES = ("docs/grading-a-class.md", "docs/grading-a-class.zh.md")
BLOCK = re.compile(
    r"<!-- (files|exports|roster|table) (\S+) -->\n```(?:text|csv)\n(.*?)```", re.DOTALL
)
SCREEN = re.compile(r"(?:<!-- fill in (\S+) -->\n)?```(console)\n(.*?)```", re.DOTALL)
# How far a batch had come after ten seconds of a slow machine is not on the pages.
STILL = re.compile(r"^(?:\d+ of \d+ graded|已评 \d+ / \d+).*\n", re.MULTILINE)
GALLERY = ROOT / "assignments" / "hw1_add_positions" / "gallery"
ANSWERS = (
    "accepted/plus.py",
    "misconceptions/multiplied.py",
    "accepted/einsum_of_pairs.py",
    "misconceptions/positions_reversed.py",
    "accepted/nested_loops.py",
    "accepted/vmap_over_the_batch.py",
    "accepted/swapped_operands.py",
    "accepted/explicit_expand.py",
    "accepted/embedding_lookup.py",
)
NOTES = {
    "submission_metadata.yml": """\
submission_71000001:
  :submitters:
  - :name: Ada Lovelace
    :sid: '20202'
  :created_at: 2026-03-01 21:05:13.000000000 +01:00
submission_71000002:
  :submitters:
  - :name: Grace Hopper
    :sid: '20203'
  - :name: Wei Chen
    :sid: '20204'
  :created_at: 2026-03-01 22:15:13.000000000 +01:00
""",
    "ada/hw1/timestamp.txt": "2026-03-01 20:11:12.000000 UTC\n",
    "grace/hw1/timestamp.txt": "2026-03-02 09:00:00.000000 UTC\n",
}


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_what_the_page_shows_is_what_the_grader_says(page: str, tmp_path: Path) -> None:
    text = (ROOT / page).read_text("utf-8")
    language: Language = "zh" if ".zh." in page else "en"
    environment = reader(tmp_path) | {"GRADE_LANG": language}
    blocks = re.compile(f"{BLOCK.pattern}|{SCREEN.pattern}", re.DOTALL)

    def really(found: re.Match[str]) -> str:
        if block := SCREEN.fullmatch(found.group()):
            return STILL.sub("", replayed(block, tmp_path, environment))
        kind, name, body = found.groups()[:3]
        head = found.group().removesuffix(f"{body}```")
        return f"{head}{shown(kind, name, body, tmp_path, language)}```"

    now = blocks.sub(really, text)

    if REWRITING:
        (ROOT / page).write_text(now, "utf-8", newline="\n")
        pytest.fail(f"{page} has been rewritten; run the tests again without REWRITE_SCREENS")
    assert text.split("\n") == now.split("\n")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_about_grading_a_class_stays_short(page: str) -> None:
    lines = (ROOT / page).read_text("utf-8").split("\n")

    assert len(lines) <= 400
    assert max(len(line) for line in lines) <= 200


def shown(kind: str, name: str, body: str, folder: Path, language: Language) -> str:
    """The block as it must be, once what it describes lies in the folder."""
    if kind == "roster":
        (folder / name).write_text(body, "utf-8")
        return body
    if kind == "table":
        return (folder / name).read_text("utf-8-sig").replace("\r\n", "\n")
    if kind == "files":
        fill(folder / name, body.strip("\n").split("\n"))
        return body
    exports = []
    for number, export in enumerate(body.strip("\n").split("\n\n")):
        files = [line for line in export.split("\n") if not line.startswith("  ")]
        fill(folder / name / str(number), files)
        exports.append("\n".join([*files, *told(folder / name / str(number), language)]))
    return "\n\n".join(exports) + "\n"


def fill(folder: Path, files: Sequence[str]) -> None:
    for number, path in enumerate(files):
        make(folder, path, number)


def make(folder: Path, path: str, number: int) -> None:
    """A file of a download, in a zip file where its path leads into one."""
    archive, leads_in, inner = path.partition(".zip/")
    if leads_in:
        target = folder / f"{archive}.zip"
        target.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(target, "a") as opened:
            opened.writestr(inner, content(inner, number))
        return
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(content(path, number))


def content(path: str, number: int) -> bytes:
    for ending, note in NOTES.items():
        if path.endswith(ending):
            return note.encode()
    if "hw2" in path:
        return (ROOT / "assignments/hw2_mask_padding/reference.py").read_bytes()
    if "template" in path:
        return (KNOWN[0].folder / "template.py").read_bytes()
    if "test_" in path:
        return b"from hw1 import add_position_vectors\n\n\ndef test_it():\n    pass\n"
    if path.endswith(".ipynb"):
        # Nobody's notebook is a copy of another's.
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        cell["source"] = f"mine = {number}\n" + (GALLERY / ANSWERS[0]).read_text("utf-8")
        return json.dumps(
            {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]}
        ).encode()
    if path.endswith(".py"):
        return (GALLERY / ANSWERS[number % len(ANSWERS)]).read_bytes()
    return b"no code\n"


def told(folder: Path, language: Language) -> list[str]:
    """What is said of a folder before anything is graded."""
    shelf = Shelf()
    found = inbox.look(folder, shelf, Rules(ids=[each.id for each in KNOWN]))
    wanted = Wanted(known=KNOWN, chosen=KNOWN[:1])
    plan = planning.make(found, shelf, wanted, roster.Roster())
    shelf.close()
    desk = Desk(language=language, debug=False, assignments=None)
    return [f"  {line}" for line in batch_screen.understood(plan, desk, hidden=True)]
