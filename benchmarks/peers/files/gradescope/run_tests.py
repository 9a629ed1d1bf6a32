"""What a Gradescope autograder runs for each submission, after gradescope-utils' own example."""

import sys
import unittest
from pathlib import Path

import torch
from gradescope_utils.autograder_utils.decorators import number, weight
from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner
from ten import ATOL, CASES

sys.path.insert(0, str(Path.cwd()))
import rope


class TestRope(unittest.TestCase):
    """A method for each case."""


def _method(case):
    def method(self):
        seen, expected = case(rope.apply_rope)
        close = torch.allclose(seen.double(), expected.double(), rtol=0.0, atol=ATOL)
        self.assertTrue(close, case.__name__)

    return method


for index, each in enumerate(CASES, 1):
    setattr(TestRope, f"test_{each.__name__}", number(str(index))(weight(1)(_method(each))))

if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(TestRope)
    with Path("results.json").open("w", encoding="utf-8") as stream:
        JSONTestRunner(visibility="visible", stream=stream).run(suite)
