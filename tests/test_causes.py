"""What students are told of an exception: its cause and a next step, not only its words."""

from pathlib import Path
from typing import Any

import pytest
from test_cli_check import RIGHT

from grader import grading, submission
from grader.assignment import load
from grader.model import (
    EntryPoint,
    Frame,
    Parameter,
    Piece,
    Place,
    Raised,
    Result,
    Source,
    Text,
    Unit,
)
from grader.sandbox.wire import NO_INPUT
from grader.suite import causes, raising

ROOT = Path(__file__).resolve().parent.parent


# --- causes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type_", "message", "kind"),
    [
        ("AssertionError", "Torch not compiled with CUDA enabled", "cuda"),
        ("AssertionError", "Torch not compiled with XPU enabled", "cuda"),
        ("RuntimeError", "No CUDA GPUs are available", "cuda"),
        ("RuntimeError", "Found no NVIDIA driver on your system. Please check ...", "cuda"),
        ("RuntimeError", "PyTorch is not linked with support for mps devices", "cuda"),
        ("NotImplementedError", "Could not run 'aten::x' ... from the 'MPS' backend.", "cuda"),
        (
            "RuntimeError",
            "Expected one of cpu, cuda, meta device type at start of device string: gpu",
            "cuda",
        ),
        (
            "RuntimeError",
            "Attempting to deserialize object on a CUDA device but"
            " torch.cuda.is_available() is False.",
            "cuda",
        ),
        ("EOFError", NO_INPUT, "input"),
        ("EOFError", "Ran out of input", None),
        ("FileNotFoundError", "[Errno 2] No such file or directory: 'a.npy'", "missing_file"),
        ("RuntimeError", "Cannot open file: No such file or directory", "missing_file"),
        ("URLError", "<urlopen error [Errno -3] Temporary failure in name resolution>", "network"),
        ("URLError", "<urlopen error [Errno 1] Operation not permitted>", "network"),
        ("OSError", "We couldn't connect to 'https://huggingface.co' to load ...", "network"),
        ("ConnectionError", "HTTPSConnectionPool(...): Max retries exceeded with ...", "network"),
        ("PermissionError", "[Errno 1] Operation not permitted", "sandbox"),
        ("PermissionError", "[Errno 13] Permission denied: '/etc/passwd'", "sandbox"),
        ("OSError", "[Errno 30] Read-only file system: 'a'", "sandbox"),
        ("RuntimeError", "can't start new thread", "sandbox"),
        ("RuntimeError", "expected scalar type Float but found Half", "dtypes"),
        (
            "RuntimeError",
            "mat1 and mat2 must have the same dtype, but got Double and Float",
            "dtypes",
        ),
        (
            "RuntimeError",
            "expected m1 and m2 to have the same dtype, but got: float != double",
            "dtypes",
        ),
        (
            "RuntimeError",
            "a view of a leaf Variable that requires grad is being used in an in-place operation.",
            "leaf",
        ),
        ("RuntimeError", "Tensors must have same number of dimensions: got 3 and 2", "shapes"),
        (
            "RuntimeError",
            "The size of tensor a (2) must match the size of tensor b (3) at non-singleton"
            " dimension 1",
            "shapes",
        ),
        ("ValueError", "operands could not be broadcast together with shapes (2,2) (3,)", "shapes"),
        (
            "RuntimeError",
            "Expected all tensors to be on the same device, but found at least two devices",
            "devices",
        ),
        ("RecursionError", "maximum recursion depth exceeded", "recursion"),
        ("SystemExit", "1", "exit"),
        ("KeyboardInterrupt", "", "interrupt"),
        ("ModuleNotFoundError", "No module named 'einops'", "absent_module"),
        ("ImportError", "cannot import name 'x' from 'torch'", "import_error"),
        ("MemoryError", "", "memory"),
        ("RuntimeError", "DefaultCPUAllocator: can't allocate memory: you tried ...", "memory"),
        ("ValueError", "cuda", None),
        ("KeyError", "'input'", None),
        ("AssertionError", "", None),
    ],
)
def test_the_cause_of_an_exception_is_known_by_its_type_and_words(
    type_: str, message: str, kind: str | None
) -> None:
    assert causes.kind_of(type_, message) == kind


@pytest.mark.parametrize(
    ("type_", "message", "words"),
    [
        ("AssertionError", "", {"error": "AssertionError"}),
        ("ValueError", "no", {"error": "ValueError: no"}),
        ("ModuleNotFoundError", "No module named 'a.b'", {"module": "a.b"}),
        ("NameError", "name 'np' is not defined. Did you mean: 'n'?", {"name": "np"}),
        ("FileNotFoundError", "[Errno 2] No such file or directory: 'a.npy'", {"file": "a.npy"}),
    ],
)
def test_what_is_missing_is_read_from_the_words(
    type_: str, message: str, words: dict[str, str]
) -> None:
    assert words.items() <= causes.words(type_, message).items()


@pytest.mark.parametrize(
    ("message", "code", "name"),
    [
        ("No module named 'google.colab'", "from google.colab import drive", "Colab"),
        ("No module named 'google'", "import google.colab", "Colab"),
        ("No module named 'google'", "from google.cloud import storage", None),
        ("No module named 'ipywidgets'", "import ipywidgets as widgets", "Jupyter"),
        ("No module named 'IPython'", "from IPython.display import HTML", "Jupyter"),
        ("No module named 'wandb'", "import wandb", "Weights & Biases"),
        ("No module named 'kaggle_secrets'", "import kaggle_secrets", "Kaggle"),
        ("No module named 'einops'", "import wandb, einops", None),
        ("No module named 'einops'", "from einops import rearrange", None),
    ],
)
def test_a_library_of_the_platform_is_told_from_one_of_the_task(
    message: str, code: str, name: str | None
) -> None:
    assert causes.platform("ModuleNotFoundError", message, code) == name


def test_an_account_or_a_folder_of_the_platform_is_not_the_task_s_either() -> None:
    no_file = "[Errno 2] No such file or directory: '/content/drive/MyDrive'"

    chdir = causes.platform("FileNotFoundError", no_file, "os.chdir('/content/drive/MyDrive')")
    data = causes.platform("FileNotFoundError", no_file, "x = np.load('/content/drive/x.npy')")
    login = causes.platform("UsageError", "api_key not configured (no-tty)", "wandb.login()")
    own = causes.platform("TypeError", "unsupported operand", "wandb.log({'loss': 1 + None})")

    assert (chdir, data, login, own) == ("Colab", None, "Weights & Biases", None)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "for x in (1, 2): pass",
        "import numpy as x",
        "import x.y",
        "from m import *",
        "def x(): pass",
        "class x: pass",
        "with open('f') as x: pass",
        "if True:\n    (x := 2)",
        "def f():\n    global x\n    x = 3",
        "try: pass\nexcept Exception as x: pass",
        "a, (b, *x) = 1, (2, 3)",
        "this is ( no Python x",
    ],
)
def test_a_name_is_bound_wherever_the_file_may_give_it_a_meaning(text: str) -> None:
    assert causes.is_bound("x", ["y = 1", text])


@pytest.mark.parametrize("text", ["print(x)", "x.y = 1", "x[0] = 1", "f(x=1)", "xx = 1", "del x"])
def test_using_a_name_gives_it_no_meaning(text: str) -> None:
    assert not causes.is_bound("x", ["y = 2 * 3", text])


# --- sentences about calls -----------------------------------------------------------------------

ENTRY = EntryPoint(
    name="turn",
    parameters=(
        Parameter(name="x", kind="tensor"),
        Parameter(name="base", kind="number", optional=True),
    ),
    result=Result(kind="tensor"),
)


def told(
    type_: str, message: str, *, kind: Any = "module", line: int | None = None, **known: Any
) -> Text:
    cell = 3 if kind == "notebook" else None
    source = Source(
        kind=kind,
        pieces=(Piece(text="import torch\ny = turn(np)", cell=cell),),
        units=(Unit(piece=0),),
    )
    trace = (Frame(line=line, cell=cell),) if line else ()
    seen = Raised(type=type_, message=message, trace=trace)
    place = {"function": "turn", "line": 1, "cell": cell, "quote": "def turn(x):"}
    return raising.text(
        seen, place, raising.Known(source=source, entry_points={"turn": ENTRY}, **known)
    )


@pytest.mark.parametrize(
    ("message", "code", "start"),
    [
        (
            "turn() takes 1 positional argument but 2 were given",
            "raised.parameters_many",
            "The task calls turn with 2 arguments, and yours takes 1. Its first line has to be as"
            " in the handout: def turn(x, base=...):",
        ),
        (
            "turn() takes from 1 to 2 positional arguments but 3 were given",
            "raised.parameters_many",
            "The task calls turn with 3 arguments, and yours takes 1-2.",
        ),
        (
            "turn() got an unexpected keyword argument 'base'",
            "raised.parameters_unknown",
            "The task calls turn with an argument named base, and yours has no such parameter.",
        ),
        (
            "turn() missing 2 required positional arguments: 'sin' and 'cos'",
            "raised.parameters_lacking",
            "turn asks for sin, cos, which the task does not give it.",
        ),
        (
            "turn() got multiple values for argument 'x'",
            "raised.parameters_other",
            "turn cannot be called as the task calls it: turn() got multiple values",
        ),
    ],
)
def test_a_call_that_the_parameters_refuse_says_how_they_differ(
    message: str, code: str, start: str
) -> None:
    text = told("TypeError", message)

    assert text.code == code
    assert text.en.startswith(start)


def test_what_a_line_of_the_function_raises_is_not_about_its_parameters() -> None:
    own = told("TypeError", "turn() takes 1 positional argument but 2 were given", line=2)
    other = told("TypeError", "helper() takes 1 positional argument but 2 were given")

    assert (own.code, other.code) == ("raised.call", "raised.call")
    assert (own.args["line"], own.args["quote"]) == (2, "y = turn(np)")


def test_a_function_that_was_replaced_by_its_result_is_told_with_the_line_that_did_it() -> None:
    rebound = {"turn": Place(line=7, quote="turn = turn(x)")}

    text = told("TypeError", "'Tensor' object is not callable", rebound=rebound)

    assert text.code == "raised.overwritten_line"
    assert "line 7 replaces your function by its result" in text.en
    assert "第 7 行用它的结果替换了你的函数" in text.zh
    assert (text.args["line"], text.args["quote"]) == (7, "turn = turn(x)")


def test_another_use_of_the_name_is_not_called_the_function_s_result() -> None:
    rebound = {"turn": Place(line=7, cell=3, quote="for turn in range(3):")}

    text = told("TypeError", "'int' object is not callable", kind="notebook", rebound=rebound)

    assert text.code == "raised.replaced_cell"
    assert "line 7 of cell 3 gives its name to something else" in text.en
    assert "result" not in text.en


def test_a_name_that_never_was_a_function_is_not_said_to_be_replaced() -> None:
    text = told("TypeError", "'NoneType' object is not callable")

    assert text.code == "raised.no_function"
    assert "turn is no function when your file has been run" in text.en


def test_calling_a_tensor_inside_the_function_is_another_mistake() -> None:
    rebound = {"turn": Place(line=7)}

    text = told("TypeError", "'Tensor' object is not callable", line=2, rebound=rebound)

    assert text.code == "raised.call"


def test_a_notebook_is_restarted_only_for_a_name_that_no_cell_defines() -> None:
    unknown = told("NameError", "name 'np' is not defined", kind="notebook", line=2)
    known = told("NameError", "name 'y' is not defined", kind="notebook", line=2)
    script = told("NameError", "name 'np' is not defined", line=2)

    assert "Restart and run all" in unknown.en and "重启并全部运行" in unknown.zh
    assert (known.code, script.code) == ("raised.call", "raised.unknown_file")
    assert "Restart" not in known.en + script.en


def test_an_assert_without_words_is_told_without_a_colon_behind_it() -> None:
    text = told("AssertionError", "", line=2)

    assert (text.en, text.zh) == ("turn raised AssertionError", "turn 抛出了 AssertionError")


# --- real files ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judge() -> Any:
    with grading.Judge.start(grading.Settings()) as started:
        yield started


def graded(judge: grading.Judge, tmp_path: Path, code: str) -> dict[str, Any]:
    path = tmp_path / "hw1.py"
    path.write_text(code, encoding="utf-8")
    assignment = load(ROOT / "assignments" / "hw1_add_positions")
    reading = submission.understand(submission.read(path), names=["add_position_vectors"])
    return judge.grade(reading, assignment)


HEAD = "import torch\n\ndef add_position_vectors(token_vectors, position_vectors):\n"
REAL = {
    "cuda": HEAD + "    return token_vectors.cuda() + position_vectors\n",
    "cuda by name": HEAD + "    return token_vectors + position_vectors.to('cuda')\n",
    "overwritten": RIGHT + "add_position_vectors = add_position_vectors(*[torch.ones(2, 2)] * 2)\n",
    "a loop's": RIGHT + "for add_position_vectors in [1, 2]:\n    pass\n",
    "one": "def add_position_vectors(token_vectors):\n    return token_vectors\n",
    "names": HEAD + "    import no_such_library as n\n    return n.add(token_vectors)\n",
    "file": HEAD + "    return torch.load('table.pt')\n",
    "exit": HEAD + "    exit()\n",
    "input": HEAD + "    return float(input())\n",
    "shapes": HEAD + "    return torch.cat([token_vectors, position_vectors[0]])\n",
    "plain assert": HEAD + "    assert token_vectors is None\n",
}
CODES = {
    "cuda": "raised.cuda",
    "cuda by name": "raised.cuda",
    "overwritten": "raised.overwritten_line",
    "a loop's": "raised.replaced_line",
    "one": "raised.parameters_many",
    "names": "raised.absent_module",
    "file": "raised.missing_file",
    "exit": "raised.exit",
    "input": "raised.input",
    "shapes": "raised.shapes",
    "plain assert": "raised.call",
}


@pytest.mark.parametrize("name", REAL)
def test_a_real_file_is_told_its_real_reason(
    name: str, judge: grading.Judge, tmp_path: Path
) -> None:
    report = graded(judge, tmp_path, REAL[name])

    assert report["score"] == 0
    assert report["criteria"][0]["message"]["code"] == CODES[name]


def test_a_decorated_function_is_not_taken_for_an_overwritten_one(
    judge: grading.Judge, tmp_path: Path
) -> None:
    code = RIGHT + "add_position_vectors = torch.no_grad()(add_position_vectors)\n"

    assert graded(judge, tmp_path, code)["score"] == 10


STATEMENTS = {
    "x = torch.ones(2).cuda()": ("raised", "problem.file.cuda"),
    "data = open('data/train.txt').read()": ("raised", "problem.file.missing_file"),
    "n = int(input('n: '))": ("raised", "problem.file.input"),
    "raise SystemExit(1)": ("exit", "problem.file.ends"),
    "print(never_defined)": ("raised", "problem.file.unknown"),
    "import no_such_library": ("import_error", "problem.file.absent_module"),
    "from torch import no_such_name": ("import_error", "problem.file.import_error"),
    "assert 1 == 2": ("assertion", "problem.file.assertion"),
    "1 / 0": ("raised", "problem.file.raised"),
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_failing_statement_below_the_function_costs_nothing_and_says_why(
    statement: str, judge: grading.Judge, tmp_path: Path
) -> None:
    report = graded(judge, tmp_path, f"{RIGHT}{statement}\n")

    assert report["score"] == 10
    [problem] = report["problems"]
    assert (problem["kind"], problem["message"]["code"]) == STATEMENTS[statement]
    assert (problem["line"], problem["quote"]) == (5, statement)
    assert "Restart" not in problem["message"]["en"]
