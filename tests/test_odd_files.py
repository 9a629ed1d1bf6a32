"""Files as people really hand them in: a right function earns its points in any of them.

Each case is graded by the real judge. What the reader must find is among the sentences of the
report; what would be false must not be.
"""

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader import grading, submission
from grader.assignment import Assignment, load
from grader.grading import Judge

ROOT = Path(__file__).resolve().parent.parent
ADD = "def add_position_vectors(token_vectors, position_vectors):\n"
RIGHT = f"{ADD}    return token_vectors + position_vectors\n"
MASK = "def mask_padding(embeddings, attention_mask):\n"
RIGHT_MASK = f"{MASK}    return embeddings.masked_fill(attention_mask[..., None] == 0, 0.0)\n"
RESTART = "Restart and run all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is handed in, and what must come.

    Args:
        cells: of a notebook; one text is a script.
        told: parts of sentences that the report holds; `untold` none of it holds.
    """

    cells: tuple[str, ...]
    score: int = 10
    id: str = "hw1"
    told: tuple[str, ...] = ()
    untold: tuple[str, ...] = (RESTART,)


def script(text: str, **expected: Any) -> Case:
    return Case(cells=(text,), **expected)


def notebook(*cells: str, **expected: Any) -> Case:
    return Case(cells=("", *cells), **expected)


CASES = {
    # --- what stands above the function ------------------------------------------------------
    "absent_library_first": script(
        f"import nowhere_plotting as plt\nplt.style.use('dark')\nfig, ax = plt.subplots()\n{RIGHT}",
        told=("nowhere_plotting is not installed where this is graded.", "there is no plt"),
        untold=(RESTART, "NameError"),
    ),
    "account_and_progress": notebook(
        f"import wandb\nwandb.login()\nrun = wandb.init()\n{RIGHT}", "run.finish()"
    ),
    "data_file": script(
        f"import numpy as np\ndata = np.load('data/x.npy')\nmean = data.mean()\n{RIGHT}",
        told=("data/x.npy", '__name__ == "__main__":'),
        untold=(RESTART, "NameError: name 'data'"),
    ),
    "input": script(f"n = int(input('How many? '))\n{RIGHT}", told=("nobody is there to answer",)),
    "exit": notebook("import sys\nsys.exit('no GPU')", RIGHT, told=("This line ends Python",)),
    "os_exit": script(f"import os\nos._exit(0)\n{RIGHT}", told=("ended the whole Python process",)),
    "failing_assert": script(f"assert 1 + 1 == 3, 'sum'\n{RIGHT}", told=("It costs no points",)),
    "interrupt": script(f"raise KeyboardInterrupt\n{RIGHT}"),
    "gpu": script(f"import torch\nw = torch.ones(2).cuda()\n{RIGHT}", told=("no GPU here",)),
    "colab": notebook(
        "!pip install einops\nfrom google.colab import drive\ndrive.mount('/content/drive')",
        "%cd /content/drive/MyDrive\nimport torch",
        RIGHT,
    ),
    "processes": notebook(
        "import multiprocessing\nwith multiprocessing.Pool(2) as pool:\n    pool.map(abs, [1])\n"
        + RIGHT,
        told=("sandbox",),
    ),
    "many_failures": script("\n".join(f"a{n} = b{n}" for n in range(60)) + f"\n{RIGHT}"),
    # --- long files ----------------------------------------------------------------------------
    "long_script": script(
        "\n".join(f"def f{n}(x):\n    return x * {n}\n" for n in range(4000)) + RIGHT
    ),
    "long_string": notebook(f"text = '''{'lorem ipsum ' * 20_000}'''\n{RIGHT}"),
    "crowded_line": script("; ".join(f"v{n} = {n}" for n in range(2000)) + f"\n{RIGHT}"),
    # --- what libraries and tools do -----------------------------------------------------------
    "jaxtyping": script(
        "from nowhere_typing import Float, Tensor\n"
        'def add_position_vectors(token_vectors: Float[Tensor, "l d"], position_vectors: Float):\n'
        "    return token_vectors + position_vectors\n"
    ),
    "compiled": script(
        f"import torch\n@torch.compile(fullgraph=True)\n{RIGHT}",
        told=("torch.compile has no effect",),
    ),
    "dunder_file": script(
        "from pathlib import Path\nimport inspect\nHERE = Path(__file__).resolve().parent\n"
        f"class A:\n    pass\nprint(len(inspect.getsource(A)), HERE.name)\n{RIGHT}"
    ),
    "copied_file": script(
        f"import shutil, zipfile\nopen('a', 'w').close()\nshutil.copy2('a', 'b')\n{RIGHT}"
    ),
    "threads": script(
        "from concurrent.futures import ThreadPoolExecutor\n"
        f"with ThreadPoolExecutor(16) as pool:\n    done = list(pool.map(abs, range(64)))\n{RIGHT}"
    ),
    "dispatch": script(
        "from functools import singledispatch\nimport torch\n@singledispatch\n"
        f"{ADD}    raise NotImplementedError\n"
        "@add_position_vectors.register\ndef _(a: torch.Tensor, b):\n    return a + b\n"
    ),
    "partial": script(
        "import functools, operator\nadd_position_vectors = functools.partial(operator.add)\n"
    ),
    "instance": script(
        "import torch\nclass Adder(torch.nn.Module):\n    def forward(self, a, b):\n"
        "        return a + b\nadd_position_vectors = Adder()\n"
    ),
    "converted": script(
        "# In[1]:\nget_ipython().run_line_magic('matplotlib', 'inline')\n"
        f"# In[2]:\n{RIGHT}display(1)\n"
    ),
    "timed_cell": script(
        "get_ipython().run_cell_magic('time', '',"
        " 'def add_position_vectors(a, b):\\n    return a + b')"
    ),
    # --- notebooks -----------------------------------------------------------------------------
    "await": notebook(f"import asyncio\nawait asyncio.sleep(0)\n{RIGHT}"),
    "underscore": notebook("40 + 2", f"answer = _\n{RIGHT}", "assert answer == 42"),
    "helper_file": notebook(
        "%%writefile tools.py\ndef add(a, b):\n    return a + b",
        f"%run tools.py\n{ADD}    return add(token_vectors, position_vectors)",
    ),
    "shell_word": notebook(f"ls\n{RIGHT}"),
    "kernel_variable": notebook(
        RIGHT, "print(forgotten_variable)", told=(RESTART, "forgotten_variable"), untold=()
    ),
    "displayed": notebook(f"h = display({{'a': 1}}, display_id=True)\nh.update(2)\n{RIGHT}"),
    # --- a right answer that is lost, with its reason -------------------------------------------
    "needs_absent_library": script(
        f"from nowhere_ops import rearrange\n{MASK}"
        "    keep = rearrange(attention_mask, 'b l -> b l 1').bool()\n"
        "    return embeddings.masked_fill(~keep, 0.0)\n",
        id="hw2",
        score=0,
        told=("mask_padding uses rearrange, which does not exist, because line 1 failed",),
    ),
    "replaced_by_its_result": notebook(
        f"import torch\n{RIGHT_MASK}",
        "mask_padding = mask_padding(torch.ones(1, 2, 3), torch.ones(1, 2))",
        id="hw2",
        score=0,
        told=("line 1 of cell 2 replaces your function by its result",),
    ),
    "function_on_the_gpu": script(
        f"{ADD}    return (token_vectors.cuda() + position_vectors.cuda()).cpu()\n",
        score=0,
        told=("there is no GPU here", ".to("),
    ),
    "lost_definition": script(
        f"@nowhere.decorate\n{RIGHT}",
        score=0,
        told=("add_position_vectors does not exist when your file is run, because line 1 failed",),
    ),
    "answer_in_quotes": script(
        f'{ADD}    result = """token_vectors + position_vectors"""\n    return result\n',
        score=0,
        told=("Take the quotes off",),
    ),
    # --- wrong answers in odd files --------------------------------------------------------------
    "wrong_below_a_failure": script(
        f"import nowhere_plotting\n{ADD}    return token_vectors - position_vectors\n", score=0
    ),
    "earlier_definition_stays": script(f"{RIGHT}@nowhere\n{ADD}    return token_vectors\n"),
    "later_definition_wins": script(f"{RIGHT}{ADD}    return token_vectors\n", score=0),
}
if sys.version_info < (3, 12):
    CASES["newer_typing"] = script(
        f"from typing import override\n{RIGHT}",
        told=("new in Python 3.12",),
        untold=("/typing.py",),
    )
    CASES["newer_syntax"] = script(
        f"type Rows = list[int]\n{RIGHT}", score=0, told=("3.12", "3.11")
    )


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge.start(grading.Settings(audience="staff")) as made:
        yield made


@pytest.fixture(scope="module")
def known() -> dict[str, Assignment]:
    folders = (ROOT / "assignments").glob("hw*")
    return {each.id: each for each in map(load, sorted(folders))}


def handed_in(case: Case, folder: Path) -> Path:
    if len(case.cells) == 1:
        path = folder / "work.py"
        path.write_text(case.cells[0], "utf-8")
        return path
    made = nbformat.v4.new_notebook()
    made.cells = [nbformat.v4.new_code_cell(cell) for cell in case.cells[1:]]
    path = folder / "work.ipynb"
    nbformat.write(made, path)
    return path


def sentences(report: dict[str, Any]) -> str:
    texts = [each["message"]["en"] for each in report["problems"]]
    texts += [each["message"]["en"] for each in report["criteria"] if each["message"]]
    return "\n".join(texts)


@pytest.mark.parametrize("name", CASES)
def test_an_odd_file_gets_its_points_and_the_true_reason(
    name: str, judge: Judge, known: dict[str, Assignment], tmp_path: Path
) -> None:
    case = CASES[name]
    names = [entry.name for each in known.values() for entry in each.entry_points]
    reading = submission.understand(submission.read(handed_in(case, tmp_path)), names=names)

    report = judge.grade(reading, known[case.id])

    seen = sentences(report)
    assert (report["status"], report["score"]) == ("graded", case.score), seen
    assert [part for part in case.told if part not in seen] == []
    assert [part for part in case.untold if part in seen] == []


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="no matplotlib here")
@pytest.mark.parametrize(
    "above",
    [
        "import matplotlib.pyplot as plt\nplt.figure()\nplt.plot([1, 2])\nplt.show()\n",
        "import matplotlib as m\nm.use('TkAgg')\nimport matplotlib.pyplot as plt\nplt.plot([1])\n",
    ],
    ids=["plain", "window"],
)
def test_a_plot_above_the_function_is_drawn_to_nowhere(
    above: str, judge: Judge, known: dict[str, Assignment], tmp_path: Path
) -> None:
    path = handed_in(script(above + RIGHT), tmp_path)
    reading = submission.understand(submission.read(path), names=["add_position_vectors"])

    report = judge.grade(reading, known["hw1"])

    assert (report["score"], report["problems"]) == (10, [])
