# What follows ten.py in the suite: a suite is one file.
import pytest

from grader.suite.compare import assert_close


@pytest.mark.criterion("values")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)  # noqa: F821
def test_rope(student, case):
    seen, expected = case(student.apply_rope)
    assert_close(seen, expected.to(seen.dtype), atol=ATOL)  # noqa: F821
