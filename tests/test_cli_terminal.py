"""Wrapping, escaping, colour: what every line that is printed goes through."""

import os
import subprocess
import sys
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_cli import ROOT

from grader.cli import layout

TEXTS = st.text(alphabet=st.characters(codec="utf-8"), max_size=200)
# What students read most: words, Chinese, punctuation of both.
PROSE = st.text(alphabet="ab (),.\n 中文，。（）“”", max_size=200)


@given(text=TEXTS | PROSE, width=st.integers(min_value=12, max_value=80))
def test_no_wrapped_line_is_wider_than_asked(text: str, width: int) -> None:
    lines = layout.wrap(text, first="1. ", width=width)

    assert max(layout.columns(line) for line in lines) <= width


@given(text=PROSE, width=st.integers(min_value=12, max_value=80))
def test_wrapping_loses_and_adds_nothing_but_blanks(text: str, width: int) -> None:
    lines = layout.wrap(text, width=width)

    assert "".join(lines).replace(" ", "") == text.replace("\n", "").replace(" ", "")


@given(text=TEXTS)
def test_cleaned_text_steers_no_terminal_and_cleaning_twice_changes_nothing(text: str) -> None:
    cleaned = layout.clean(text)

    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in cleaned)
    assert layout.clean(cleaned) == cleaned


def test_chinese_is_broken_anywhere_but_never_before_closing_punctuation() -> None:
    lines = layout.wrap("要求相同，输入不同（正式成绩）。", width=10)

    assert lines == ["要求相同，", "输入不同", "（正式成", "绩）。"]


def test_code_is_broken_after_commas_so_that_it_can_still_be_pasted() -> None:
    lines = layout.code("call(first_argument, second_argument, third_argument)", width=40)

    assert lines == ["call(first_argument, second_argument,", "    third_argument)"]
    assert layout.code("for x in y:\n    call(x)", first="  tried  ") == [
        "  tried  for x in y:",
        "             call(x)",
    ]


@pytest.mark.parametrize(
    ("encoding", "seen"),
    [
        ("utf-8", "“x” … π 中"),
        ("cp936", "“x” … π 中"),
        ("cp1252", "“x” … pi ?"),
        ("cp437", '"x" ... π ?'),
        ("ascii", '"x" ... pi ?'),
    ],
)
def test_what_a_console_cannot_encode_is_replaced(encoding: str, seen: str) -> None:
    printed = _shown("“x” … π 中", env={"PYTHONIOENCODING": encoding})

    assert printed.decode(encoding).strip() == seen


def test_output_that_is_no_terminal_is_plain() -> None:
    assert _shown("  FAILED", env={}).strip() == b"FAILED"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("env", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_only_the_status_word_is_coloured_and_only_on_a_terminal(
    env: dict[str, str], coloured: bool
) -> None:
    import pty

    ours, theirs = pty.openpty()
    subprocess.run(_command("  FAILED   FAILED"), env=_env(env), stdout=theirs, check=True)
    os.close(theirs)
    printed = os.read(ours, 1000).strip()
    os.close(ours)

    painted = b"\x1b[31m\x1b[1mFAILED\x1b[0m   FAILED"
    assert printed == (painted if coloured else b"FAILED   FAILED")


def _command(text: str) -> list[str]:
    script = (
        "import sys; from grader.cli import terminal; from grader.cli.layout import Line;"
        "terminal.prepare();"
        "terminal.show([Line(text=sys.argv[1], word='FAILED', colour='red')])"
    )
    return [sys.executable, "-X", "utf8", "-c", script, text]


def _env(env: Mapping[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    return {**kept, "TERM": "xterm", "PYTHONPATH": str(ROOT), **env}


def _shown(text: str, *, env: Mapping[str, str]) -> bytes:
    return subprocess.run(_command(text), env=_env(env), capture_output=True, check=True).stdout
