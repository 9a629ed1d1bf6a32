"""A class with hostile submissions in it: everybody gets the right report all the same."""

import json
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("the level full is Linux's", allow_module_level=True)

from test_cli import ROOT, err, grade

from grader.sandbox.linux import landlock, seccomp

# The checkout's own, however this is run.
sys.path.insert(0, str(ROOT))
from benchmarks import batches, hostile_class

pytestmark = pytest.mark.skipif(
    not (landlock.version() and seccomp.available()), reason="the kernel lacks Landlock or seccomp"
)


@pytest.mark.long
def test_in_a_class_with_every_tenth_hostile_each_gets_the_right_report(tmp_path: Path) -> None:
    handed_in = hostile_class.made(tmp_path / "in", 100)

    options = ("--jobs", "2", "--assignment", hostile_class.ID, "--seed", "7", "--allow-reduced")
    result = grade("batch", "in", "--out", "out", *options, cwd=tmp_path)

    found = [json.loads(each.read_bytes()) for each in batches.reports(tmp_path / "out")]
    assert result.returncode == 0, err(result)
    assert len(handed_in.kinds) == 10
    assert len(found) == 100
    assert hostile_class.wrong(found, handed_in) == []
