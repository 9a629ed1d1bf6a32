"""Unfinished functions: what is a placeholder, and what is work however wrong."""

import pytest
from builders import an_opened_file

from grader.model import Definition
from grader.submission import not_done, understand


def function(text: str) -> Definition:
    opened = an_opened_file(text.encode())
    return understand(opened).definitions["f"]


def body(*lines: str) -> Definition:
    return function("def f(x, y=None):\n" + "".join(f"    {line}\n" for line in lines))


@pytest.mark.parametrize(
    ("lines", "at"),
    [
        (('"""your code here"""',), 2),
        (('"""Doc."""', "pass"), 3),
        (("...",), 2),
        (('"""Doc."""', "import torch", "..."), 4),
        (("return",), 2),
        (("return None",), 2),
        (("return ...",), 2),
        (('return "your code here"',), 2),
        (("return NotImplemented",), 2),
        (("return ____",), 2),
        (("raise NotImplementedError",), 2),
        (('raise NotImplementedError("your code here")',), 2),
        (("raise NotImplementedError() from None",), 2),
        (('final = """your code here"""', "return final"), 2),
        (("final = None", "return final"), 2),
        (("final = ...", "return final"), 2),
        (('final: Tensor = "todo"', "return final"), 2),
        (('final = other = "todo"', "return final"), 2),
        (('a, b = "todo", None', "return a, b"), 2),
        (("half = x.shape[-1] // 2", 'final = "todo"', "print(final)", "return final"), 3),
        (("half = x.shape[-1] // 2", 'return "todo"'), 3),
        (("half = x.shape[-1] // 2", "..."), 3),
        (("half = x.shape[-1] // 2", "raise NotImplementedError"), 3),
        (("raise NotImplementedError", "return x"), 2),
        (("final = None", "if y:", "    final = 'todo'", "return final"), 4),
        (("def inner():", "    return 1", "return 'todo'"), 4),
    ],
    ids=range(26),
)
def test_a_body_whose_result_is_a_placeholder_is_blank(lines: tuple[str, ...], at: int) -> None:
    blank = body(*lines).blank

    assert blank is not None
    assert blank.line == at


@pytest.mark.parametrize(
    "lines",
    [
        ("return x + 1",),
        ("x + 1",),
        ("final = x + 1",),
        ("x.add_(1)", "return None"),
        ("x.add_(1)", "return"),
        ("if y is None:", "    return None", "return x"),
        ("final = None", "final = x", "return final"),
        ("final = None", "final += x", "return final"),
        ("final = None", "final[0] = x", "return final"),
        ("final = None", "final.data = x", "return final"),
        ("final = None", "for final in x: pass", "return final"),
        ("final = None", "with x as final: pass", "return final"),
        ("final = None", "print(final := x)", "return final"),
        ("final = None", "import math as final", "return final"),
        ("final = None", "def final(): pass", "return final"),
        (
            "final = None",
            "def g():",
            "    nonlocal final",
            "    final = x",
            "g()",
            "return final",
        ),
        ("return y",),
        ("return 0",),
        ("return ()",),
        ("raise ValueError",),
        ("if y:", "    raise NotImplementedError", "return x"),
        ("yield x",),
        ("return lambda: None",),
        ("print('later')",),
    ],
    ids=range(24),
)
def test_a_body_that_does_something_is_not_blank(lines: tuple[str, ...]) -> None:
    assert body(*lines).blank is None


@pytest.mark.parametrize(
    ("text", "blank"),
    [
        ("async def f(x): ...", True),
        ("@torch.no_grad()\ndef f(x): pass", True),
        ("f = lambda x: None", True),
        ("f = lambda x: x", False),
        ('f = """your code here"""', True),
        ("f = 3", False),
        ("def f(x): return x\ndef f(x): pass", True),
        ("def f(x): pass\ndef f(x): return x", False),
        ("try:\n    import nothing\nexcept ImportError:\n    def f(x): pass", True),
    ],
)
def test_every_kind_of_definition_can_be_blank_and_the_last_decides(text: str, blank: bool) -> None:
    assert (function(text).blank is not None) == blank


def test_the_problem_of_a_blank_stands_at_its_placeholder() -> None:
    problem = not_done(body('"""Doc."""', 'final = """your code here"""', "return final"))

    assert problem.kind == "not_done"
    assert problem.place.line == 3
    assert problem.message.en == (
        'f: the placeholder is still there (final = """your code here"""), so there was '
        "nothing to test. Nothing is wrong with your file."
    )
    assert 'final = """your code here"""' in problem.message.zh
