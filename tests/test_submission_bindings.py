"""Functions that are bound in unusual ways, and blanks in unusual places."""

import json
from pathlib import Path

import pytest
from builders import an_opened_file

from grader import ordering
from grader.assignment import load
from grader.model import Reading
from grader.submission import Candidate, filled_variables, not_done, understand

HW4 = Candidate(
    id="hw4",
    entry_points=("apply_rope",),
    variables={"rotated": "apply_rope", "row_0": "apply_rope"},
    parameters={"apply_rope": ("x", "base")},
)
BLANK = "def apply_rope(x, base=10000.0):\n    rotated = '''your code here'''\n    return rotated\n"


def script(text: str) -> Reading:
    content = text.encode("utf-8")
    return understand(an_opened_file(content), names=HW4.entry_points)


def notebook(*cells: str) -> Reading:
    book = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    content = json.dumps(book).encode()
    opened = an_opened_file(content, file="a.ipynb")
    return understand(opened, names=HW4.entry_points)


BOUND = [
    "apply_rope = lambda x: x + 1",
    "apply_rope = functools.partial(turn, base=10)",
    "class apply_rope:\n    def __new__(cls, x): return x + 1",
    "class Rope:\n    def __call__(self, x): return x + 1\napply_rope = Rope()",
    "def rope(x): return x + 1\napply_rope = rope",
    "from solution import apply_rope",
    "from solution import rope as apply_rope",
    "import apply_rope",
    "if True:\n    def apply_rope(x): return x + 1",
    "try:\n    import fast\nexcept ImportError:\n    def apply_rope(x): return x + 1",
    "with torch.no_grad():\n    def apply_rope(x): return x + 1",
    "for kind in [1]:\n    def apply_rope(x): return x + 1",
    "def make():\n    global apply_rope\n    def apply_rope(x): return x + 1\nmake()",
    "globals()['apply_rope'] = lambda x: x + 1",
    "vars()['apply_rope'] = rope",
    "import sys\nsetattr(sys.modules[__name__], 'apply_rope', rope)",
    "import sys\nsys.modules[__name__].apply_rope = rope",
    "sys.modules[__name__].__dict__['apply_rope'] = rope",
    "exec('def apply_rope(x):\\n    return x + 1')",
    "exec('apply_rope = lambda x: x + 1')",
    "print(apply_rope := lambda x: x + 1)",
    "if (apply_rope := lambda x: x + 1):\n    pass",
    "with use(apply_rope := lambda x: x + 1):\n    pass",
    "get_ipython().run_cell_magic('time', '', 'def apply_rope(x):\\n    return x + 1\\n')",
    "get_ipython().run_cell('def apply_rope(x):\\n    return x + 1\\n')",
    "get_ipython().run_cell_magic('capture', 'out', '%%time\\ndef apply_rope(x): return 1\\n')",
]


@pytest.mark.parametrize("text", BOUND)
def test_however_it_is_bound_the_function_is_there_and_done(text: str) -> None:
    for reading in (script(text), notebook(text)):
        assert reading.definitions["apply_rope"].blank is None
        assert [each.kind for each in reading.problems] == []


@pytest.mark.parametrize(
    "text",
    [
        "@singledispatch\ndef apply_rope(x):\n    raise NotImplementedError\n"
        "@apply_rope.register\ndef _(x: Tensor): return x + 1\n",
        "@dispatch(Tensor)\ndef apply_rope(x): ...\n",
        BLANK + "apply_rope = finish(apply_rope)\n",
        BLANK + "from solution import *\n",
        BLANK + "exec(open('solution.py').read())\n",
        BLANK + "globals().update(solution)\n",
        BLANK + "for name, made in found: globals()[name] = made\n",
        BLANK + "exec('def apply_rope(x): return x + 1')\n",
        BLANK + "def redo():\n    global apply_rope\n    apply_rope = rope\nredo()\n",
        "try:\n    from solution import apply_rope\nexcept:\n    def apply_rope(x): pass\n",
        "if fast:\n    def apply_rope(x): return x + 1\nelse:\n    def apply_rope(x): pass\n",
    ],
)
def test_where_only_the_run_shows_it_nothing_is_called_not_done(text: str) -> None:
    assert script(text).definitions["apply_rope"].blank is None


@pytest.mark.parametrize(
    ("text", "open_ended"),
    [
        ("from solution import *\n", True),
        ("from . import *\n", True),
        ("exec(code)\n", True),
        ("eval(compile(code, 'a', 'exec'))\n", True),
        ("for each in exec(code):\n    pass\n", True),
        ("x = eval('1')\nmodel.compile()\n", False),
        ("globals().update(made)\n", True),
        ("get_ipython().run_line_magic('run', 'a.py')\n", True),
        ("from torch import *\nfrom torch.nn.functional import *\nfrom math import *\n", False),
        ("# exec(code) would do\nexec('x = 1')\n", False),
        ("get_ipython().run_line_magic('matplotlib', 'inline')\n", False),
        ("def f():\n    global count\n    count = 1\n", False),
        ("class A:\n    def f(self): setattr(self, name, 1)\n", False),
    ],
)
def test_a_file_that_may_bind_any_name_is_open_ended(text: str, open_ended: bool) -> None:
    assert script(text).open_ended is open_ended


def test_a_file_that_the_notebook_wrote_and_runs_leaves_it_to_the_run() -> None:
    reading = notebook("%%writefile h.py\ndef apply_rope(x): return x + 1", "%run h.py", "x = 1")

    assert reading.open_ended
    assert reading.source is not None
    assert [piece.cell for piece in reading.source.pieces] == [1, 2, 3]
    assert "h.py" in reading.source.pieces[0].text


def test_top_level_await_binds_in_a_cell_and_is_refused_in_a_script() -> None:
    cell = "await sleep(0)\nasync with a as b:\n    pass\nasync for c in d:\n    e = c\n"
    cell += "def apply_rope(x): return x + 1"

    assert {"apply_rope", "b", "c", "e"} == set(notebook(cell).definitions)
    assert script(cell).problems[0].message.code == "reading.await_script"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (BLANK, 2),
        ("async " + BLANK, 2),
        ("@torch.no_grad()\n" + BLANK, 3),
        ("@functools.lru_cache(maxsize=None)\n" + BLANK, 3),
        (BLANK + "apply_rope = torch.compile(apply_rope)\n", 2),
        ("def apply_rope(x: Tensor) -> Tensor:\n    '''Turn x.'''\n    # here\n    pass\n", 4),
        ("def apply_rope(x):\n    raise NotImplementedError('later')\n", 2),
        ("def apply_rope(x):\n    return NotImplementedError\n", 2),
        ("def apply_rope(x):\n    import torch\n    ...\n", 3),
        ("apply_rope = lambda x: None\n", 1),
        ("def apply_rope(x):\n    def turn(y):\n        pass\n    return turn(x)\n", 3),
        ("def turn(x):\n    return '''code'''\ndef apply_rope(x):\n    return turn(x)\n", 2),
        ("def turn(x):\n    pass\napply_rope = turn\n", 2),
        ("class R:\n    def forward(self, x):\n        pass\napply_rope = R()\n", 3),
        ("class R:\n    def __call__(self, x): ...\ndef apply_rope(x):\n    return R()(x)\n", 2),
        ("def apply_rope(x):\n    y = None\n    return y.to(x.dtype)\n", 2),
        ("if True:\n    def apply_rope(x):\n        pass\n", 3),
    ],
)
def test_a_blank_is_a_blank_wherever_it_stands(text: str, line: int) -> None:
    blank = script(text).definitions["apply_rope"].blank

    assert blank is not None
    assert line == blank.line


@pytest.mark.parametrize(
    "text",
    [
        "def turn(x): pass\ndef apply_rope(turn): return turn(1)\n",
        "def turn(x): pass\ndef apply_rope(x):\n    y = turn(x)\n    return y + 1\n",
        "turn = None\ndef apply_rope(x): return turn(x)\n",
        "def apply_rope(x):\n    def turn(y): pass\n    return turn\n",
        "class R:\n    def forward(self, x): pass\ndef apply_rope(x): return x + 1\n",
    ],
)
def test_a_blank_elsewhere_does_not_make_the_function_one(text: str) -> None:
    assert script(text).definitions["apply_rope"].blank is None


# --- where the answer went instead ---------------------------------------------------------


def told(reading: Reading) -> str:
    return not_done(reading.definitions["apply_rope"], reading, HW4).message.code


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (BLANK.replace("your code here", "x * base"), "x * base"),
        ("def apply_rope(x):\n    return 'torch.flip(x, [0])'\n", "torch.flip(x, [0])"),
        ('def apply_rope(x):\n    y = """\n    x[0]\n    """\n    return y\n', "x[0]"),
        ("def apply_rope(x):\n    'x.T'\n", "x.T"),
    ],
)
def test_an_answer_in_quotes_is_told_to_take_them_off(text: str, answer: str) -> None:
    reading = script(text)
    message = not_done(reading.definitions["apply_rope"], reading, HW4).message

    assert message.code == "reading.not_done_quoted"
    assert message.en.endswith(f"Take the quotes off: {answer}")
    assert message.zh.endswith(f"请去掉引号：{answer}")


@pytest.mark.parametrize(
    "held", ["your code here", "TODO", "x", "write_your_code()", "return the answer", "y + z", ""]
)
def test_other_text_is_a_plain_placeholder(held: str) -> None:
    assert told(script(BLANK.replace("your code here", held))) == "reading.not_done"


def test_an_answer_in_a_variable_outside_is_told_where_it_belongs() -> None:
    reading = notebook("import torch", BLANK, "x = torch.ones(2)\nrotated = x + 1\nprint(rotated)")
    problem = not_done(reading.definitions["apply_rope"], reading, HW4)

    assert problem.message.code == "reading.not_done_variable"
    assert (problem.place.cell, problem.place.line) == (2, 2)
    assert problem.message.en.endswith(
        "Put its expression into the function, in place of the placeholder: rotated = x + 1"
    )


def test_constants_outside_become_the_parameters() -> None:
    inside = script(BLANK + "row_0 = sin(3 / 10000 ** 0.5)\n")
    alone = script("row_0 = sin(3 / 10000 ** 0.5)\n")
    other = script("row_12 = sin(3)\n")

    assert told(inside) == "reading.not_done_constants"
    for reading in (alone, other):
        problem = filled_variables(reading, HW4)
        assert problem is not None
        assert problem.message.code == "reading.fill_in_constants"
        assert "with the parameters x, base instead of the numbers" in problem.message.en
        assert "换成参数 x、base" in problem.message.zh


@pytest.mark.parametrize("line", ["rotated = apply_rope(x)", "rotated = None", "turned = x + 1"])
def test_a_variable_that_only_tries_the_function_out_is_no_answer(line: str) -> None:
    assert told(script(BLANK + line)) == "reading.not_done"


def test_a_function_that_only_the_run_shows_is_run_and_not_called_missing() -> None:
    folder = Path(__file__).parents[1] / "assignments" / "hw4_rope"
    assignment = load(folder)
    open_ended = script("from solution import *\n")
    closed = script("from math import *\n")

    order = ordering.order(open_ended, assignment, seed=0, time_factor=1)

    assert (order.skipped, order.places, ordering.missing(open_ended, assignment)) == ((), {}, ())
    assert ordering.undefined(closed, assignment) == ("apply_rope",)
    assert [each.kind for each in ordering.missing(closed, assignment)] == ["missing_function"]
