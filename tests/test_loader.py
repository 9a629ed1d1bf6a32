"""Loading: every top-level statement runs, and one that raises costs itself only."""

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import OpenSession, a_session, a_source
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grader.errors import AssignmentError, GraderError
from grader.model import Observation, Raised, Returned
from grader.sandbox import session as sessions
from grader.sandbox.forked import ForkedBench
from grader.sandbox.session import Session


def value_of(seen: Observation) -> object:
    assert isinstance(seen, Returned), seen
    return seen.value


def troubles_of(opened: Session) -> list[tuple[int | None, int, str, tuple[str, ...]]]:
    """Cell, line, exception and lost names of each statement that failed."""
    opened.load()
    return [
        (each.piece.cell, each.line, getattr(each.observation, "type", ""), each.lost)
        for each in opened.troubles
    ]


# --- the source arrives whole ---------------------------------------------------------------------

RIGHT = "def right(): return 7\n"


@pytest.mark.long
@given(
    parts=st.lists(
        st.sampled_from(
            [
                "# 评论 ü\n",
                "x = '''" + "long string " * 3000 + "'''\n",
                "def helper(a):\n    return a\n\n",
                "s = '" + "\\u4f60" * 900 + "'\n",
                "\n" * 500,
                "y = [" + "1, " * 4000 + "]\n",
            ]
        ),
        max_size=12,
    ),
    repeat=st.integers(1, 12),
)
@example(parts=["# " + "x" * 100 + "\n"], repeat=90_000)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_padding_of_any_length_changes_nothing(
    bench: ForkedBench, parts: list[str], repeat: int
) -> None:
    padding = "".join(parts) * repeat
    opened = a_session(bench, padding[: 9 << 20].rpartition("\n")[0] + "\n" + RIGHT, load_s=20.0)
    try:
        assert value_of(opened.call("right")) == 7
        assert opened.troubles == []
    finally:
        opened.close()


def test_a_source_that_did_not_arrive_whole_is_the_graders_failure(
    open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_session(RIGHT)
    described = sessions._described
    monkeypatch.setattr(sessions, "_described", lambda each: {**described(each), "sha256": "00"})

    with pytest.raises(GraderError, match="did not arrive whole"):
        opened.call("right")


@pytest.mark.parametrize(
    "value",
    [print, 1 << 70, {(1, 2): 3}, "x" * 5_000_000, {"deep": [[[object()]]]}],
    ids=["function", "large_integer", "key", "long_text", "object"],
)
def test_what_cannot_be_asked_as_it_stands_is_never_the_students_loss(
    open_session: OpenSession, value: object
) -> None:
    opened = open_session("def same(x): return x")

    with pytest.raises(AssignmentError, match="what the suite sends has no frame"):
        opened.call("same", [value])


def test_a_long_argument_arrives_whole_and_a_long_answer_is_visibly_cut(
    open_session: OpenSession,
) -> None:
    opened = open_session("def length(x): return len(x)\ndef same(x): return x")

    assert value_of(opened.call("length", ["x" * 500_000])) == 500_000
    assert "characters left out ...]" in str(value_of(opened.call("same", ["x" * 50_000])))


# --- statements -----------------------------------------------------------------------------------


def test_a_statement_that_raises_costs_itself_only(open_session: OpenSession) -> None:
    opened = open_session(
        "a = 1\nb = 1 / 0\nc = b\ndef right(): return a\nraise SystemExit(3)\nd = 4"
    )

    assert value_of(opened.call("right")) == 1
    assert troubles_of(opened) == [
        (None, 2, "ZeroDivisionError", ("b",)),
        (None, 3, "NameError", ("c",)),
        (None, 5, "SystemExit", ()),
    ]


def test_the_unit_is_the_whole_statement(open_session: OpenSession) -> None:
    opened = open_session("if True:\n    a = 1\n    b = 1 / 0\n    c = 3\ndef right(): return a")

    assert value_of(opened.call("right")) == 1
    assert troubles_of(opened) == [(None, 3, "ZeroDivisionError", ("b", "c"))]


def test_an_earlier_binding_stays_when_its_replacement_fails(open_session: OpenSession) -> None:
    opened = open_session("def right(): return 7\n@undefined\ndef right(): return 8\nx = right()")

    assert value_of(opened.call("right")) == 7
    assert [(each.lost, each.kept) for each in opened.troubles] == [((), ("right",))]


@pytest.mark.parametrize(
    ("statement", "bound", "lost"),
    [
        ("import math, nowhere_a, json, nowhere_b", "math, json", [("nowhere_a",), ("nowhere_b",)]),
        ("import nowhere.part as part, math", "math", [("part",)]),
        ("from math import pi, nothing, tau", "pi, tau", [("nothing",)]),
        ("from nowhere import (\n    one,\n    two as zwei,\n)", "1", [("one", "zwei")]),
        ("import os.nowhere, math", "math", [("os",)]),
    ],
)
def test_of_an_import_what_can_be_bound_is_bound(
    open_session: OpenSession, statement: str, bound: str, lost: list[tuple[str, ...]]
) -> None:
    opened = open_session(f"{statement}\ndef right(): return len(str(({bound}))) > 0")

    assert value_of(opened.call("right")) is True
    assert [each.lost for each in opened.troubles] == lost


@pytest.mark.parametrize(
    "definition",
    [
        "def right(x: Float[Tensor, 'b l']) -> Missing: return x",
        "async def other(x: Missing): ...\ndef right(x): return x",
        "class Right:\n    def __call__(self, x: Missing) -> Missing: return x\nright = Right()",
        "def right(x, y: Missing = 1, *rest: Missing, z: Missing = 2, **more: Missing): return x",
    ],
)
def test_a_function_whose_annotations_use_a_missing_name_is_defined(
    open_session: OpenSession, definition: str
) -> None:
    opened = open_session("from nowhere import Float, Tensor, Missing\n" + definition)

    assert value_of(opened.call("right", [7])) == 7
    assert opened.troubles[0].lost == ("Float", "Tensor", "Missing")
    assert all(each.annotation and not each.lost for each in opened.troubles[1:])


def test_a_decorator_or_a_default_with_a_missing_name_loses_its_function(
    open_session: OpenSession,
) -> None:
    opened = open_session("@missing\ndef f(x: int): ...\ndef g(x: int = missing): ...")

    assert [each[3] for each in troubles_of(opened)] == [("f",), ("g",)]


@pytest.mark.parametrize(
    ("cells", "docstring"),
    [
        (['"""First."""\nx = 1\n"""Second."""\ndef doc(): return __doc__'], "First."),
        (['x = 1\n"First."\ndef doc(): return __doc__'], None),
        (['"""First."""', "def doc(): return __doc__"], None),
    ],
    ids=["script", "late", "notebook"],
)
def test_only_a_docstring_becomes_the_docstring(
    open_session: OpenSession, cells: list[str], docstring: str | None
) -> None:
    assert value_of(open_session(*cells).call("doc")) == docstring


def test_a_statement_that_ends_the_process_is_skipped_alone(open_session: OpenSession) -> None:
    opened = open_session(
        "x = 1",
        "import os\ndef before(): return 1\nkept = os._exit(3)\ndef right(): return x + before()",
    )

    assert value_of(opened.call("right")) == 2
    assert [(each.piece.cell, each.line, each.lost) for each in opened.troubles] == [
        (2, 3, ("kept",))
    ]


def test_many_failures_are_capped_and_counted(open_session: OpenSession) -> None:
    opened = open_session("\n".join(f"import nowhere_{n}" for n in range(300)) + "\n" + RIGHT)

    assert value_of(opened.call("right")) == 7
    assert len(opened.troubles) == sessions.MOST_TROUBLES
    assert opened.untold == 200


def test_a_reload_tells_nothing_twice(open_session: OpenSession) -> None:
    opened = open_session("import nowhere\nimport os\ndef leave(): os._exit(1)\n" + RIGHT)

    opened.call("leave")
    assert value_of(opened.call("right")) == 7
    assert len(opened.troubles) == 1


# --- the module is a module -----------------------------------------------------------------------

CLASS = """
import inspect, pickle, dataclasses
@dataclasses.dataclass
class Box:
    '''Holds.'''
    n: int = 3
def source(): return inspect.getsource(Box).splitlines()[0], inspect.getsource(source)[:10]
def again(): return pickle.loads(pickle.dumps(Box(4))).n
def copy(): return open(__file__, encoding="utf-8").read().count("@dataclasses" + ".dataclass")
def names(): return __name__, __file__.endswith("submission.py")
"""


@pytest.mark.parametrize("cells", [(CLASS,), ("x = 1\ny = 2", CLASS)], ids=["script", "notebook"])
def test_source_pickle_and_copy_work(open_session: OpenSession, cells: tuple[str, ...]) -> None:
    opened = open_session(*cells)

    assert value_of(opened.call("source")) == ("@dataclasses.dataclass", "def source")
    assert value_of(opened.call("again")) == 4
    assert value_of(opened.call("copy")) == 1
    assert value_of(opened.call("names")) == ("submission", True)


def test_a_traceback_names_lines_of_the_cell(open_session: OpenSession) -> None:
    opened = open_session("a = 1\nb = 2\n\n", "\ndef f():\n    return g()", "def g(): return 1 / 0")

    seen = opened.call("f")

    assert isinstance(seen, Raised)
    assert [(each.line, each.cell, each.function) for each in seen.trace] == [
        (2, 2, "f"),
        (1, 3, "g"),
    ]


def test_a_cookie_of_another_encoding_does_not_garble_the_copy(open_session: OpenSession) -> None:
    opened = open_session(
        "# -*- coding: gbk -*-\nimport inspect\n"
        "class A:\n    '''中文'''\ndef right(): return inspect.getsource(A).splitlines()[1]"
    )

    assert value_of(opened.call("right")) == "    '''中文'''"


def test_torch_compile_gives_back_what_it_was_given(open_session: OpenSession) -> None:
    opened = open_session(
        """
        import torch
        @torch.compile
        def first(): return 1
        @torch.compile(mode="max-autotune", dynamic=True)
        def second(): return 2
        third = torch.compile(lambda: 3, backend="inductor")
        model = torch.nn.Linear(2, 2)
        model.compile()
        def right(): return first() + second() + third()
        """
    )

    assert value_of(opened.call("right")) == 6
    assert opened.notes == {"compile"}
    assert opened.troubles == []


@pytest.mark.long
def test_a_class_can_be_scripted(open_session: OpenSession) -> None:
    opened = open_session(
        """
        import torch
        class Twice(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return x * 2
        scripted = torch.jit.script(Twice())
        def right(): return scripted(torch.ones(2)).sum().item()
        """,
        load_s=20.0,
    )

    assert value_of(opened.call("right")) == 4.0


# --- notebooks ------------------------------------------------------------------------------------


def test_the_last_value_of_a_cell_is_kept(open_session: OpenSession) -> None:
    opened = open_session("1 + 1", "x = _\n3", "y = (_, __, _1, Out[2])\ndef f(): return x, y")

    assert value_of(opened.call("f")) == (2, (3, 2, 2, 3))


def test_an_underscore_of_ones_own_is_left_alone(open_session: OpenSession) -> None:
    opened = open_session("_ = 5\n1", "2", "def f(): return _, Out[2]")

    assert value_of(opened.call("f")) == (5, 2)


def test_a_value_with_an_odd_equality_is_no_trouble(open_session: OpenSession) -> None:
    opened = open_session("import torch\ntorch.ones(3)", "torch.zeros(2)", "def f(): return len(_)")

    assert value_of(opened.call("f")) == 2
    assert opened.troubles == []


def test_cells_share_one_event_loop(open_session: OpenSession) -> None:
    opened = open_session(
        "import asyncio\nseen = []\n"
        "async def later(n):\n    await asyncio.sleep(0)\n    seen.append(n)",
        "task = asyncio.create_task(later(1))",
        "await task\nawait later(2)\nasync with asyncio.Lock(): seen.append(3)",
        "asyncio.run(later(4))\ndef f(): return seen",
    )

    assert value_of(opened.call("f")) == [1, 2, 3, 4]
    assert opened.troubles == []


def test_magics_as_calls_run_their_code(open_session: OpenSession) -> None:
    opened = open_session(
        "get_ipython().run_cell_magic('time', '', 'def f():\\n    return helper()\\n')",
        "get_ipython().run_cell_magic('writefile', 'extra.py', 'def helper(): return 7\\n')",
        "get_ipython().run_line_magic('run', 'extra.py')\nget_ipython().system('pip install x')\n"
        "get_ipython().run_line_magic('matplotlib', 'inline')\nls = get_ipython().getoutput('ls')\n"
        "get_ipython().events.register('post_execute', print)\n"
        "'IPKernelApp' in get_ipython().config",
    )

    assert value_of(opened.call("f")) == 7
    assert opened.troubles == []


def test_display_takes_keywords(open_session: OpenSession) -> None:
    opened = open_session("handle = display(1, 'two', display_id=True)\nhandle.update(3)", RIGHT)

    assert value_of(opened.call("right")) == 7
    assert opened.troubles == []
    assert opened.output.printed().head == "1\ntwo\n"


def test_a_script_has_no_notebook_around_it(open_session: OpenSession) -> None:
    opened = open_session(
        "try:\n    get_ipython\n    where = 'notebook'\nexcept NameError:\n    where = 'script'\n"
        "def f(): return where, 'In' in globals()"
    )

    assert value_of(opened.call("f")) == ("script", False)


@pytest.fixture
def converted(bench: ForkedBench) -> Iterator[Session]:
    text = "get_ipython().run_cell_magic('time', '', 'def f(): return 7')\ndisplay(1)"
    opened = a_session(bench, text)
    opened.source = replace(a_source(text), converted=True)
    yield opened
    opened.close()


def test_a_script_that_was_a_notebook_has_its_shell(converted: Session) -> None:
    assert value_of(converted.call("f")) == 7
    assert converted.troubles == []


def test_absent_libraries_are_absent(open_session: OpenSession) -> None:
    opened = open_session(
        "from importlib.util import find_spec\n"
        "def found(): return [find_spec(n) is not None for n in ('google', 'IPython')]",
        "x = 1",
    )

    assert value_of(opened.call("found")) == [
        importlib.util.find_spec(name) is not None for name in ("google", "IPython")
    ]


def test_the_scratch_folder_holds_the_copy_alone(open_session: OpenSession) -> None:
    opened = open_session("import os\ndef files(): return sorted(os.listdir())")

    assert value_of(opened.call("files")) == [Path("submission.py").name]
