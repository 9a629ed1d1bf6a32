"""A test file of otter-grader in its exception-based form; ten.py is a support file."""

import torch
from otter.test_files import test_case
from ten import ATOL, CASES

OK_FORMAT = False
name = "q1"
points = 10


def _agree(env, case):
    seen, expected = case(env["apply_rope"])
    assert torch.allclose(seen.double(), expected.double(), rtol=0.0, atol=ATOL)


def _test(case):
    def test(env):
        _agree(env, case)

    return test_case(name=case.__name__, points=1)(test)


for _case in CASES:
    globals()[f"test_{_case.__name__}"] = _test(_case)
