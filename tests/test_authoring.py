"""`docs/writing-an-assignment.md` is carried out, file by file and command by command."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_cli import LOCALE, ROOT

PAGE = ROOT / "docs" / "writing-an-assignment.md"
# A named file, perhaps to be added to; or a block of commands, or of what they print.
STEP = re.compile(
    r"^\*\*`(?P<file>[^`]+)`\*\*(?P<added> \(added at the end\))?\n\n"
    r"(?P<fence>`{3,})\w*\n(?P<text>.*?)^(?P=fence)$"
    r"|^```(?P<kind>sh|text)\n(?P<lines>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
FOLDER = "course/hw5_smooth"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A file to write, commands to run, or lines that the last commands must have printed."""

    kind: str
    text: str
    file: str = ""


def steps(page: str) -> list[Step]:
    found = []
    for match in STEP.finditer(page):
        if match["file"] is None:
            found.append(Step(kind=match["kind"], text=match["lines"]))
        else:
            kind = "append" if match["added"] else "write"
            found.append(Step(kind=kind, text=match["text"], file=match["file"]))
    return found


def carried_out(commands: str, cwd: Path) -> str:
    """What the commands print; each must end with exit code 0, but where pytest finds a loss."""
    clean = {key: value for key, value in os.environ.items() if key not in LOCALE}
    scratch = cwd / "scratch"
    scratch.mkdir(exist_ok=True)
    settings = {
        "PYTHONPATH": str(ROOT),
        "PYTHONIOENCODING": "utf-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(scratch),
        "OMP_NUM_THREADS": "1",
    }
    printed = ""
    for line in commands.splitlines():
        name, _, rest = line.partition(" ")
        module = {"grade": "grader", "pytest": "pytest -p no:cacheprovider"}.get(name)
        python = f'"{sys.executable}" -m {module} {rest}' if module else line
        ran = subprocess.run(
            ["bash", "-c", python],
            cwd=cwd,
            env={**clean, **settings},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert (1 if name == "pytest" else 0) == ran.returncode, f"{line}\n{ran.stdout}{ran.stderr}"
        printed += ran.stdout
    assert list(scratch.iterdir()) == []
    return printed


def missing(wanted: str, printed: str) -> list[str]:
    """The lines of `wanted` that do not come, in this order, in what was printed."""
    rest = iter(printed.splitlines())
    return [line for line in wanted.splitlines() if not any(line in each for each in rest)]


@pytest.mark.long
@pytest.mark.skipif(shutil.which("bash") is None, reason="the page speaks to a POSIX shell")
def test_whoever_follows_the_page_gets_a_proven_assignment(tmp_path: Path) -> None:
    printed = ""
    done = []

    for step in steps(PAGE.read_text("utf-8")):
        path = Path(os.path.normpath(tmp_path / FOLDER / step.file))
        done.append(step.kind)
        if step.kind in ("write", "append"):
            path.parent.mkdir(parents=True, exist_ok=True)
            before = path.read_text("utf-8") if step.kind == "append" else ""
            path.write_text(before + step.text, "utf-8")
        elif step.kind == "sh":
            printed = carried_out(step.text, tmp_path)
        else:
            assert missing(step.text, printed) == [], printed

    assert sorted(set(done), key=_order) == ["write", "append", "sh", "text"]
    assert {"hw5_smooth", "hw6_smooth"} == {each.name for each in (tmp_path / "course").iterdir()}


def test_the_page_names_every_file_that_an_assignment_can_have() -> None:
    page = PAGE.read_text("utf-8")
    files = {
        path.relative_to(folder).parts
        for folder in (ROOT / "assignments").iterdir()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix in (".toml", ".json", ".md", ".py")
    }

    names = {"/".join(parts) for parts in files if "gallery" not in parts}
    assert sorted(name for name in names if f"`{name}`" not in page) == []


def _order(kind: str) -> int:
    return ("write", "append", "sh", "text").index(kind)
