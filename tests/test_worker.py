"""What a submission finds around it: an ordinary Python with torch, and nothing of the grader."""

import importlib.util
import random

import numpy
import pytest
import torch
from conftest import OpenSession

from grader.model import Observation, Raised, Returned
from grader.sandbox.worker import SEED


def value_of(seen: Observation) -> object:
    assert isinstance(seen, Returned), seen
    return seen.value


# --- constants -------------------------------------------------------------------------------

RANDOM = """
import random, numpy, torch
drawn = [random.random(), float(numpy.random.rand()), float(torch.rand(()))]
def at_load(): return drawn
def hashed(): return hash("torchgrade")
def later(): return [random.random(), float(numpy.random.rand()), float(torch.rand(()))]
"""


def test_every_worker_draws_the_same_random_numbers_and_hashes(open_session: OpenSession) -> None:
    names = ("at_load", "hashed", "later")
    first, second = open_session(RANDOM), open_session(RANDOM)
    seen = [value_of(first.call(name)) for name in names]
    first.close()

    assert [value_of(second.call(name)) for name in names] == seen


def test_what_a_worker_draws_depends_on_no_machine_and_no_zygote(
    open_session: OpenSession,
) -> None:
    generator = torch.Generator().manual_seed(SEED)
    drawn = [
        random.Random(SEED).random(),
        float(numpy.random.RandomState(SEED).rand()),
        float(torch.rand((), generator=generator)),
    ]

    assert value_of(open_session(RANDOM).call("at_load")) == drawn


def test_the_environment_holds_nothing_of_the_one_who_grades(
    open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_session(
        """
        import os, sys
        def names(): return sorted(os.environ)
        def threads():
            import torch
            return torch.get_num_threads()
        def homes(): return len({os.environ[k] for k in ("HOME", "TMPDIR", "TEMP")})
        def at_home(): return os.getcwd() == os.path.realpath(os.environ["HOME"])
        def main_is(): return sorted(vars(sys.modules["__main__"]))
        """
    )

    names = value_of(opened.call("names"))
    assert isinstance(names, list)
    assert not {"USER", "LOGNAME", "PWD", "PYTHONPATH", "GRADE_ASSIGNMENTS"} & set(names)
    assert not [each for each in names if each.startswith(("PYTEST_CURRENT", "GRADE"))]
    assert value_of(opened.call("threads")) == 1
    assert value_of(opened.call("homes")) == 1
    assert value_of(opened.call("at_home")) is True
    assert "main" not in value_of(opened.call("main_is"))  # type: ignore[operator]


def test_of_the_package_only_the_workers_own_modules_are_loaded(open_session: OpenSession) -> None:
    opened = open_session(
        "import sys\n"
        "def loaded():\n"
        "    return sorted(k for k in sys.modules if k.split('.')[0] in ('grader', 'pytest'))"
    )

    assert value_of(opened.call("loaded")) == [
        "grader",
        "grader.sandbox",
        "grader.sandbox.loader",
        "grader.sandbox.surroundings",
        "grader.sandbox.wire",
        "grader.sandbox.worker",
    ]


def test_no_descriptor_is_open_but_stdio_and_the_channel(open_session: OpenSession) -> None:
    opened = open_session(
        "import os\n"
        "def descriptors():\n"
        "    found = sorted(int(each) for each in os.listdir('/proc/self/fd'))\n"
        "    return found[:-1]  # the last one is of the listing itself"
    )

    assert value_of(opened.call("descriptors")) == [0, 1, 2, 3]


def test_stdin_is_closed_and_input_says_so(open_session: OpenSession) -> None:
    opened = open_session(
        "import sys\ndef ask(): return input('Name? ')\ndef read(): return sys.stdin.read()"
    )

    seen = opened.call("ask")

    assert isinstance(seen, Raised)
    assert (seen.type, seen.message) == (
        "EOFError",
        "input() has nobody to ask while a submission is graded",
    )
    assert value_of(opened.call("read")) == ""


def test_the_module_is_not_main(open_session: OpenSession) -> None:
    opened = open_session(
        "ran = []\nif __name__ == '__main__':\n    ran.append(1)\ndef count(): return len(ran)"
    )

    assert value_of(opened.call("count")) == 0


# --- what ordinary course code uses --------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (
            "getsource",
            """
            import inspect
            def f():
                return 1
            def work(): return inspect.getsource(f).splitlines()[1].strip() == "return 1"
            """,
        ),
        (
            "dataclass",
            """
            from __future__ import annotations
            from dataclasses import dataclass
            @dataclass
            class Shape:
                rows: int = 2
            def work(): return Shape().rows == 2 and Shape.__annotations__ == {"rows": "int"}
            """,
        ),
        (
            "future_import_after_other_code",
            """
            '''A docstring.'''
            from __future__ import annotations
            def f(x: Unknown): return x
            def work(): return f.__annotations__["x"] == "Unknown"
            """,
        ),
        (
            "module",
            """
            import torch
            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = torch.nn.Linear(2, 1)
                def forward(self, x): return self.layer(x)
            def work():
                net = Net()
                loss = net(torch.ones(3, 2)).pow(2).mean()
                loss.backward()
                return bool(net.layer.weight.grad.abs().sum() > 0)
            """,
        ),
        (
            "data_loader",
            """
            import torch
            from torch.utils.data import DataLoader, TensorDataset
            def work():
                data = TensorDataset(torch.arange(10.0))
                return sum(len(batch[0]) for batch in DataLoader(data, 4, shuffle=True)) == 10
            """,
        ),
        (
            "higher_order_gradients",
            """
            import torch
            def work():
                x = torch.tensor(3.0, requires_grad=True)
                first, = torch.autograd.grad(x ** 3, x, create_graph=True)
                second, = torch.autograd.grad(first, x)
                return second.item() == 18.0
            """,
        ),
        (
            "vmap_and_einsum",
            """
            import torch
            def work():
                x = torch.arange(6.0).reshape(2, 3)
                dots = torch.func.vmap(torch.dot)(x, x)
                return torch.equal(dots, torch.einsum("ij,ij->i", x, x))
            """,
        ),
        (
            "linear_algebra_and_fft",
            """
            import torch
            def work():
                u, s, v = torch.linalg.svd(torch.eye(4))
                return s.sum().item() == 4.0 and torch.fft.fft(torch.ones(4))[0].item() == 4
            """,
        ),
        (
            "numpy",
            """
            import numpy as np
            def work():
                rng = np.random.default_rng(0)
                return np.linalg.solve(np.eye(3), rng.random(3)).shape == (3,)
            """,
        ),
        (
            "pickle_and_deepcopy",
            """
            import copy, pickle
            class Box:
                def __init__(self, n): self.n = n
            def work(): return pickle.loads(pickle.dumps(Box(3))).n == copy.deepcopy(Box(3)).n
            """,
        ),
        (
            "files_in_the_scratch_folder",
            """
            import tempfile, torch
            from pathlib import Path
            def work():
                torch.save(torch.ones(2), "weights.pt")
                with tempfile.TemporaryFile() as file: file.write(b"x")
                return torch.load("weights.pt").sum().item() == 2 and Path.home() == Path.cwd()
            """,
        ),
        (
            "threads",
            """
            import threading
            def work():
                done = []
                thread = threading.Thread(target=done.append, args=(1,))
                thread.start()
                thread.join()
                return done == [1]
            """,
        ),
        (
            "logging_and_warnings",
            """
            import logging, warnings
            def work():
                logging.warning("careful")
                warnings.warn("careful")
                return True
            """,
        ),
    ],
)
def test_ordinary_code_works(open_session: OpenSession, name: str, code: str) -> None:
    opened = open_session(code)

    assert value_of(opened.call("work")) is True
    assert opened.troubles == []


@pytest.mark.long
@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        def work():
            weight = torch.nn.Parameter(torch.tensor(2.0))
            optimizer = torch.optim.AdamW([weight], lr=0.1)
            (weight ** 2).backward()
            optimizer.step()
            return weight.item() < 2.0
        """,
        """
        import torch
        @torch.jit.script
        def double(x): return x * 2
        def work(): return double(torch.ones(2)).sum().item() == 4.0
        """,
    ],
    ids=["optimizer", "jit"],
)
@pytest.mark.parametrize("limit_s", [20.0])
def test_slow_first_uses_work(open_session: OpenSession, code: str, limit_s: float) -> None:
    opened = open_session(code, load_s=limit_s, call_s=limit_s, memory_mib=1024)

    assert value_of(opened.call("work")) is True


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="no matplotlib here")
def test_matplotlib_draws_to_nowhere(open_session: OpenSession) -> None:
    opened = open_session(
        """
        import matplotlib.pyplot as plt
        def work():
            plt.plot([1, 2])
            plt.show()
            plt.savefig("figure.png")
            return True
        """,
        load_s=30.0,
        call_s=30.0,
        memory_mib=1024,
    )

    assert value_of(opened.call("work")) is True


def test_a_name_defined_in_one_cell_is_known_in_the_next(open_session: OpenSession) -> None:
    opened = open_session("from __future__ import annotations\nx = 1", "def f(y: Z = x): return y")

    assert value_of(opened.call("f")) == 1


def test_a_raised_exception_whose_text_raises_is_still_told(open_session: OpenSession) -> None:
    opened = open_session(
        """
        class Odd(Exception):
            def __str__(self): raise ValueError("no text")
        def work(): raise Odd
        """
    )

    seen = opened.call("work")

    assert isinstance(seen, Raised)
    assert (seen.type, seen.message) == ("submission.Odd", "(no message: ValueError)")


def test_recursion_without_end_is_an_exception(open_session: OpenSession) -> None:
    opened = open_session("def deeper(n): return deeper(n + 1)")

    seen = opened.call("deeper", [0])

    assert isinstance(seen, Raised)
    assert seen.type == "RecursionError"


def test_inputs_are_copies_of_what_the_judge_holds(open_session: OpenSession) -> None:
    opened = open_session("def spoil(x):\n    x.zero_()\n    return x")
    mine = torch.ones(3)

    opened.call("spoil", [mine])

    assert mine.tolist() == [1.0, 1.0, 1.0]
