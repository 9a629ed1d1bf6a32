"""What the probes say of the two kinds of bench, on this machine."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grader.sandbox import forked

# What no kernel is needed for.
PORTABLE = {
    "work_runs",
    "output_limited",
    "memory_limited",
    "time_limited",
    "death_told",
    "nothing_left",
}


def probed(kind: str, home: Path) -> dict[str, object]:
    program = f"from grader.sandbox.probes import main; main({kind!r}, {str(home)!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert "problem" not in told, told
    return told


def failing(told: dict[str, object]) -> set[str]:
    probes = told["probes"]
    assert isinstance(probes, list)
    return {each["guarantee"] for each in probes if not each["held"]}


@pytest.mark.skipif(not forked.available(), reason="this platform cannot fork workers")
def test_at_the_full_level_every_guarantee_holds(tmp_path: Path) -> None:
    told = probed("forked", tmp_path)

    if told["level"] != "full":
        pytest.skip("the kernel lacks Landlock or seccomp")
    assert failing(told) == set()


@pytest.mark.long
def test_without_the_kernels_help_limits_hold_and_the_rest_is_told(tmp_path: Path) -> None:
    told = probed("portable", tmp_path)

    assert told["level"] == "reduced"
    assert failing(told).isdisjoint(PORTABLE)
    assert {"suite_unread", "suite_unchanged", "home_unread"} <= failing(told)
