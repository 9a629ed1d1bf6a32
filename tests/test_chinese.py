"""Chinese screens and texts hold no English sentence and no half-width punctuation."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import nbformat
import pytest

from grader import packages
from grader.cli.root import FIRST, STAFF

ROOT: Final = Path(__file__).resolve().parent.parent
ASSIGNMENTS: Final = ROOT / "assignments"
CHINESE: Final = "[\u4e00-\u9fff]"

# What is called so in Chinese, too: names, and words of Python, of the command line and of JSON.
NAMES: Final = frozenset(
    """
    Blackboard Brightspace CI CPU CSV Canvas Code Colab Dask Docker Git GitHub GPU Gradescope JSON
    Jupyter Kaggle LFS Landlock Linux Markdown MiB Moodle NaN PDF Podman PyTorch Python Raw RoPE
    Schema Teams Transformer VS WSL Windows TLS UTF Unicode gVisor macOS dropout nbgrader seccomp
    softmax torch torchgrade
    """.split()  # noqa: SIM905 - a list of words
)
WORDS_OF_CODE: Final = frozenset(
    """
    Ctrl DataLoader False KeyboardInterrupt None Pool Process ThreadPoolExecutor True async await
    base bool coding complex def dtype embeddings exit exp false float gbk if inf input import int
    key mask null numpy pass pos positions print quit raise reshape result subprocess return
    sigmoid sin tanh tuple true zip list dict argmin expand format item movedim nan outer permute
    repeat squeeze str transpose unsqueeze
    """.split()  # noqa: SIM905
)
TYPED: Final = frozenset(
    """
    ADDRESS COMMAND DIR FILE FILES ID IMAGE NEW OLD OUT PATH PERCENT REGEX TIME auto batch check
    cluster dask dir docker doctor en full git grade hidden install ipynb landlock lfs local ls
    lsm merge none pip portable public pull py reduced report rubric assignment run runc runsc
    schema staff start student tls ubuntu unconfined validate verify diff new worker zh aside
    duplicates files folders sections xlsx
    """.split()  # noqa: SIM905
)
ALLOWED: Final = NAMES | WORDS_OF_CODE | TYPED

# Fields, code between backticks, addresses, options, paths and dotted names, names with digits.
CODE: Final = re.compile(
    r"\{[^{}]*\}|`[^`]*`|\"[^\"\n]*\"|https?://\S+|--?[A-Za-z][\w-]*|\$?[\w-]*[./_\\]+[\w./\\-]*"
    r"|[A-Za-z]+[0-9]\w*"
)
HALF_WIDTH: Final = re.compile(
    rf"[{CHINESE[1:-1]}”）][,;:?!]|[,;:?!][{CHINESE[1:-1]}“（]"
    rf"|{CHINESE}[\"'(]|[\"')]{CHINESE}|\.\.\.{CHINESE}|{CHINESE}\.\.\."
)
# Behind a quotation there may be English, and then a blank.
BLANK: Final = re.compile(r"[，。；：？！、）] (?=\S)(?!\|)")


def english(text: str, allowed: Iterable[str] = ()) -> list[str]:
    """The words of a text that are neither Chinese nor called so in Chinese."""
    known = ALLOWED | set(allowed)
    words = re.findall(r"[A-Za-z]{2,}", CODE.sub(" ", text))
    return [word for word in words if word not in known]


def half_width(text: str) -> list[str]:
    """Places of a text where punctuation between Chinese is not full-width."""
    plain = re.sub(r"\{[^{}]*\}|`[^`\n]*`", "字", text)
    found = [match for rule in (HALF_WIDTH, BLANK) for match in rule.finditer(plain)]
    return [plain[max(0, match.start() - 12) : match.end() + 12] for match in found]


def test_the_rules_find_what_they_are_for() -> None:
    assert english("文件 does not exist。用 --out 写入 run.json，dtype 是 float32") == [
        "does",
        "not",
        "exist",
    ]
    assert half_width("位置: 第 1 行") and half_width("好,再来") and half_width("文件(空)")
    assert half_width("位置： 第 1 行") and half_width("等一下...再来") and half_width('写"好"了')
    assert half_width("形状为 (L, D) 的张量，`a, b`：{x}：见 x[1:2]。") == []


# --- what is written ---------------------------------------------------------------------------


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, str(value)


def chinese_halves(part: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Every `zh = "…"` and everything below `[zh]`, with its place."""
    if isinstance(part, Mapping):
        for key, value in part.items():
            if key == "zh" and isinstance(value, str):
                yield place, value
            elif key == "zh" and isinstance(value, Mapping):
                yield from flat(value, "zh.")
            else:
                yield from chinese_halves(value, f"{place}.{key}")
    elif isinstance(part, list):
        for at, value in enumerate(part):
            yield from chinese_halves(value, f"{place}[{at}]")


def read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


def prose(markdown: str) -> str:
    """The lines without code blocks, links' addresses and the quoted output of commands."""
    without = re.sub(r"```.*?```|<!--.*?-->", "", markdown, flags=re.DOTALL)
    return re.sub(r"\]\([^)]*\)", "字", without.replace("**", "字").replace("*", ""))


def written() -> Iterator[tuple[str, str]]:
    """Every Chinese sentence of the catalog, of the assignments and of a new one."""
    catalog = ROOT / "grader" / "texts" / "zh.toml"
    yield from ((f"zh.toml: {key}", text) for key, text in flat(read_toml(catalog)))
    for path in sorted(ASSIGNMENTS.glob("*/*.toml")):
        name = f"{path.parent.name}/{path.name}"
        yield from ((f"{name} {key}", text) for key, text in chinese_halves(read_toml(path)))
    smallest = read_toml(ROOT / "grader" / "scaffold" / "smallest.toml")
    for name, text in smallest.items():
        if name.endswith(".toml"):
            halves = chinese_halves(tomllib.loads(text.replace("__ID__", "hw9")))
            yield from ((f"smallest {name} {key}", half) for key, half in halves)


def verbatim(text: str) -> str:
    """Without the lines that repeat Python's own words: `NameError: name 'x' is not defined`."""
    own = re.compile(r"^\{(?:type|error)\}: \{(?:message|reason)\}$|^\{source\}$", re.MULTILINE)
    return own.sub("", text).replace("def {function}(...):", "")


def test_no_sentence_mixes_punctuation() -> None:
    found = {place: half_width(verbatim(text)) for place, text in written()}

    assert {place: marks for place, marks in found.items() if marks} == {}


def test_no_title_holds_quotation_marks_in_which_screens_put_it() -> None:
    titles = {
        f"{path.parent.name}: {each['id']}": each["title"]["zh"]
        for path in ASSIGNMENTS.glob("*/misconceptions.toml")
        for each in read_toml(path)["misconceptions"]
    }

    assert len(titles) > 50
    assert {place: text for place, text in titles.items() if set("“”") & set(text)} == {}


def test_no_sentence_holds_english_words() -> None:
    found = {place: english(text) for place, text in written()}

    assert {place: words for place, words in found.items() if words} == {}


@pytest.mark.parametrize(
    "path",
    [*sorted(ASSIGNMENTS.glob("*/handout.zh.md")), ROOT / "README.zh.md"],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_no_page_mixes_punctuation(path: Path) -> None:
    assert half_width(prose(path.read_text("utf-8"))) == []


@pytest.mark.parametrize("path", sorted(ASSIGNMENTS.glob("*/template.py")), ids=str)
def test_each_template_has_a_chinese_twin_without_english(path: Path) -> None:
    twin = path.with_name("template.zh.py")

    told = re.findall(r'"""[^"]*"""|#(?! %%| torchgrade).*', twin.read_text("utf-8"))
    assert len(told) >= 4
    sentences = [each.strip('"# ') for each in told if "your code here" not in each]
    code = re.findall(r"[A-Za-z]{2,}", re.sub(r'(?s)""".*?"""|#.*', "", twin.read_text("utf-8")))
    assert [word for each in sentences for word in english(each, code)] == []
    assert [mark for each in sentences for mark in half_width(each)] == []


# --- what is shown -----------------------------------------------------------------------------

# Each command in one process: what it writes to both streams, in Chinese.
_RUNNER: Final = """
import contextlib, io, json, sys
from grader.cli.entry import run
for arguments in json.load(sys.stdin):
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        run(arguments)
    print(json.dumps(shown.getvalue()))
"""
_MISTYPED: Final = (
    (),
    ("--debug",),
    ("chekc",),
    ("hw1.py",),
    ("--fast",),
    ("--lang", "fr", "list"),
    ("--assignments", "nowhere", "list"),
    ("--assignments", "empty", "list"),
    ("--assignments", "broken.json", "list"),
    ("check",),
    ("check", "nowhere.py"),
    ("check", "empty"),
    ("check", "broken.json"),
    ("check", "hw9.py"),
    ("check", "empty.py"),
    ("check", "--jsn", "x"),
    ("check", "--json"),
    ("check", "hw9.py", "hw9.py"),
    ("check", "hw9.py", "--seed", "-1"),
    ("check", "hw9.py", "--seed", "x", "--fail-under", "200"),
    ("check", "hw9.py", "--sandbox", "none"),
    ("check", "hw9.py", "--json", "hw9.py"),
    ("check", "hw9.py", "--assignment", "hw99"),
    ("list", "a", "b"),
    ("list", "--debug=1"),
    ("start",),
    ("start", "hw99"),
    ("start", "hw1", "--format", "docx"),
    ("start", "hw1", "-o", "a.txt"),
    ("start", "hw1", "-o", "nowhere/a.py"),
    ("start", "hw1", "-o", "hw9.py"),
    ("start", "hw1", "hw2"),
    ("batch",),
    ("batch", "empty"),
    ("batch", "nowhere", "--out", "o"),
    ("batch", "empty", "--out", "broken.json"),
    ("batch", "empty", "--out", "o", "--jobs", "0"),
    ("batch", "empty", "--out", "o", "--jobs", "two"),
    ("batch", "empty", "--out", "o", "--shard", "3/2"),
    ("batch", "empty", "--out", "o", "--shard", "1/2"),
    ("batch", "empty", "--out", "o", "--until", "noon"),
    ("batch", "empty", "--out", "o", "--roster", "nowhere.csv"),
    ("batch", "empty", "--out", "o", "--scheduler", "x"),
    ("batch", "empty", "--out", "o"),
    ("merge",),
    ("merge", "empty", "--out", "o"),
    ("merge", "run", "--out", "o"),
    ("diff", "empty"),
    ("diff", "empty", "empty"),
    ("diff", "run", "run"),
    ("verify", "hw99"),
    ("verify", "--seeds", "none", "hw1"),
    ("new",),
    ("new", "Hw 9"),
    ("new", "hw1"),
    ("new", "hw9", "--from", "hw99"),
    ("validate",),
    ("validate", "nowhere.json"),
    ("validate", "broken.json"),
    ("validate", "report.json"),
    ("validate", "twice.json"),
    ("schema",),
    ("schema", "scores"),
    ("doctor", "--require", "most"),
)
# Typed in these commands, and repeated on the screens.
_REPEATED: Final = frozenset(
    "chekc fast fr nowhere empty broken scores noon most two Hw docx jsn".split()  # noqa: SIM905
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("desk")
    for name in ("empty", "run"):
        (folder / name).mkdir()
    (folder / "hw9.py").write_text("x = 1\n", "utf-8")
    (folder / "empty.py").write_text("", "utf-8")
    (folder / "broken.json").write_text("{,", "utf-8")
    (folder / "twice.json").write_text('{"a": 1, "a": 2}', "utf-8")
    (folder / "run" / "run.json").write_text('{"seed": "x", "sed": 1}', "utf-8")
    report = {"schema_version": "1.0", "score": -1, "status": "fine", "critera": []}
    (folder / "report.json").write_text(json.dumps(report), "utf-8")
    return folder


def screens(commands: Sequence[Sequence[str]], cwd: Path) -> Iterator[tuple[str, str]]:
    """Each command with what it shows."""
    result = subprocess.run(
        [sys.executable, "-P", "-c", _RUNNER],
        input=json.dumps([[*each] for each in commands]).encode(),
        capture_output=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "GRADE_LANG": "zh", "PYTHONIOENCODING": "utf-8"},
    )
    assert result.returncode == 0, result.stderr.decode()
    shown = [json.loads(line) for line in result.stdout.decode().splitlines()]
    assert len(shown) == len(commands)
    for command, text in zip(commands, shown, strict=True):
        yield f"grade {' '.join(command)}", text


def wrong(shown: Iterable[tuple[str, str]], allowed: Iterable[str] = ()) -> dict[str, list[str]]:
    """What is English or half-width on the screens, by command; a silent one is wrong, too."""
    known = set(allowed)
    found = {}
    for command, text in shown:
        marks = [mark for line in text.splitlines() for mark in half_width(line)]
        found[command] = [*english(text, known), *marks] if text.strip() else ["(nothing)"]
    return {command: words for command, words in found.items() if words}


def test_the_help_of_every_command_is_chinese(tmp_path: Path) -> None:
    commands = [["--help"], *([name, "--help"] for name in (*FIRST, *STAFF))]

    assert wrong(screens(commands, tmp_path)) == {}


def test_whatever_is_mistyped_is_answered_in_chinese(desk: Path) -> None:
    assert wrong(screens(_MISTYPED, desk), [*_REPEATED, "critera", "sed"]) == {}


# --- what is graded ----------------------------------------------------------------------------

_RIGHT: Final = "def add_position_vectors(token_vectors, position_vectors):\n    return {}\n"
_SCRIPTS: Final[Mapping[str, str]] = {
    "right": "token_vectors + position_vectors",
    "doubled": "token_vectors + 2 * position_vectors",
    "nothing": "None",
    "pair": "token_vectors, position_vectors",
    "numbers": "[1.0, 2.0]",
    "shape": "(token_vectors + position_vectors)[0]",
    "whole": "(token_vectors + position_vectors).long()",
    "raises": "token_vectors @ position_vectors[5, 5, 5]",
    "asks": "float(input())",
    "unbound": "token_vectors + positionn_vectors",
}
_OTHERS: Final[Mapping[str, str]] = {
    "broken": _RIGHT.format("(token_vectors"),
    "renamed": "def add_positions_vectors(token_vectors, position_vectors):\n    return 1\n",
    "nested": (
        "class Adder:\n    def add_position_vectors(token_vectors, position_vectors):\n"
        "        return 1\n"
    ),
    "twice": (_RIGHT + "\n\n" + _RIGHT).format("token_vectors", "token_vectors + 0"),
    "conflict": "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n",
    "loads": "import nosuchmodule\n" + _RIGHT.format("token_vectors"),
    "stops": "assert 1 == 2, 'no'\nraise ValueError('no')\n" + _RIGHT.format("token_vectors"),
}
# Words of Python's own messages, which are shown as they are.
_PYTHONS: Final = frozenset(
    """
    SyntaxError was never closed invalid syntax NameError name is not defined IndexError too many
    indices for tensor of dimension ModuleNotFoundError No module named AssertionError ValueError
    """.split()  # noqa: SIM905
)


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("handed_in")
    for name, expression in _SCRIPTS.items():
        (folder / f"{name}.py").write_text("# torchgrade: hw1\n" + _RIGHT.format(expression))
    for name, text in _OTHERS.items():
        (folder / f"{name}.py").write_text("# torchgrade: hw1\n" + text)
    for path in ASSIGNMENTS.glob("*/template.zh.py"):
        shutil.copy(path, folder / f"{path.parent.name}.py")
    for path in [
        ASSIGNMENTS / "hw2_mask_padding" / "gallery" / "misconceptions" / "multiplied_by_mask.py",
        ASSIGNMENTS / "hw3_sinusoid" / "gallery" / "misconceptions" / "degrees.py",
        ASSIGNMENTS / "hw4_rope" / "gallery" / "misconceptions" / "half_pairing.py",
    ]:
        shutil.copy(path, folder / f"wrong_{path.name}")
    book = nbformat.v4.new_notebook()
    book.cells = [
        nbformat.v4.new_code_cell("print(number)"),
        nbformat.v4.new_code_cell(_RIGHT.format("token_vectors + position_vectors")),
        nbformat.v4.new_code_cell("def mask_padding(embeddings, attention_mask:\n    return 1"),
        nbformat.v4.new_markdown_cell("def apply_rope(x):\n    return x"),
        nbformat.v4.new_code_cell("answer = input()"),
    ]
    nbformat.write(book, folder / "week.ipynb")
    return folder


def test_whatever_is_graded_is_told_in_chinese(handed_in: Path) -> None:
    files = sorted(path.name for path in handed_in.iterdir())
    sources = [*handed_in.iterdir(), *ASSIGNMENTS.glob("*/suite/test_public.py")]
    code = {word for path in sources for word in re.findall(r"[A-Za-z]+", path.read_text("utf-8"))}
    # Of the shown tests only what is code: not the names of tests and not their comments.
    (shown,) = screens([["check", *files, "--time-factor", "5"]], handed_in)

    assert shown[1].count("下一步：") == len(files)
    without_code = re.sub(r"(?m)^.*(?:^|\s)(?:def|return|print)\b.*$", "", shown[1])
    allowed = [*_PYTHONS, *code, *(path.stem for path in handed_in.iterdir())]
    assert wrong([(shown[0], without_code)], allowed) == {}


# --- what staff see ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classes of which one student changed the answer, a roster, and what nobody can grade."""
    folder = tmp_path_factory.mktemp("term")
    for name, last in (("spring", "token_vectors - position_vectors"), ("autumn", "None")):
        (folder / name).mkdir()
        for student in ("lee", "chen"):
            text = _RIGHT.format("token_vectors + position_vectors")
            (folder / name / f"{student}_hw1.py").write_text(text, "utf-8")
        (folder / name / "kim_hw1.py").write_text(_RIGHT.format(last), "utf-8")
        (folder / name / "notes.docx").write_text("hello", "utf-8")
        (folder / name / "wu_hw1.py").write_text("<html></html>", "utf-8")
    (folder / "autumn" / "kim_hw1.py").write_text(
        _RIGHT.format("position_vectors + token_vectors"), "utf-8"
    )
    (folder / "roster.csv").write_text("id,name\nlee,Lee\nzoe,Zoe\n", "utf-8")
    return folder


@pytest.mark.long
def test_what_staff_see_of_a_class_is_chinese(term: Path) -> None:
    usual = ("--assignment", "hw1", "--allow-reduced")
    commands = [
        ("batch", "spring", "--out", "s", "--seed", "4", "--roster", "roster.csv", *usual),
        ("batch", "autumn", "--out", "a", "--seed", "5", "--summary", "counts.md", *usual),
        ("batch", "spring", "--out", "s", "--seed", "7"),
        ("batch", "spring", "--out", "p1", "--seed", str(2**64), "--shard", "1/2", *usual),
        ("batch", "autumn", "--out", "p2", "--seed", str(2**65), "--shard", "2/2", *usual),
        ("diff", "s", "a"),
        ("diff", "s", "s"),
        ("merge", "s", "a", "--out", "m"),
        ("merge", "p1", "--out", "m"),
        ("merge", "p1", "p1", "--out", "m"),
        ("merge", "p1", "p2", "--out", "m"),
        ("list", "--assignments", str(ASSIGNMENTS)),
        ("start", "hw1"),
        ("new", "hw7", "--assignments", "course"),
        ("doctor",),
    ]
    of_the_class = "lee chen kim wu zoe spring autumn notes roster counts course".split()  # noqa: SIM905
    # Names of layers and levels, and of the files that are made.
    layers = """
        process rlimits watcher capabilities undumpable cpu any uid read only tmpfs scores
        accepted gallery misconceptions handout template weight tokens suite cap
    """.split()  # noqa: SIM905

    shown = dict(screens(commands, term))
    shown["counts.md"] = (term / "counts.md").read_text("utf-8").replace("\\", "")

    libraries = re.findall("[A-Za-z]+", " ".join(packages.USUAL))
    assert wrong(shown.items(), [*of_the_class, *layers, *libraries]) == {}
