"""`grade doctor`: what it says of this machine, and of machines that offer less."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_cli import err, grade, out

from grader.cli import doctor
from grader.cli.layout import Line, columns
from grader.cli.root import Desk
from grader.model import Language
from grader.sandbox import forked
from grader.texts import catalog

FULL = (
    *("process", "rlimits", "watcher", "no_new_privs", "capabilities", "undumpable"),
    *("landlock", "seccomp"),
)
PORTABLE = ("process", "watcher")


def probed(
    *failing: str, level: str = "full", layers: Sequence[str] = FULL, detail: str = ""
) -> dict[str, Any]:
    """What the probes would say."""
    return {
        "kind": "forked",
        "level": level,
        "layers": list(layers),
        "platform": "Linux-6.1",
        "probes": [
            {"guarantee": name, "held": name not in failing, "detail": detail}
            for name in guarantees()
        ],
    }


def guarantees() -> list[str]:
    prefix = "doctor.guarantee."
    return sorted(each.removeprefix(prefix) for each in catalog.codes("en") if prefix in each)


def screen(told: dict[str, Any], language: Language = "en") -> list[str]:
    here = Desk(language=language, debug=False, assignments=None)
    lines = doctor._screen(doctor.diagnose(told), here)
    return [each.text if isinstance(each, Line) else each for each in lines]


def states(found: doctor.Diagnosis) -> dict[str, str]:
    return {each.id: each.state for each in found.guarantees if each.state != "held"}


def test_where_everything_holds_the_level_is_full_and_nothing_is_missing() -> None:
    found = doctor.diagnose(probed())

    assert (found.works, found.is_full, found.missing, states(found)) == (True, True, (), {})


def test_what_a_platform_does_not_offer_is_not_available_and_grading_works() -> None:
    told = probed("suite_unread", "no_sockets", level="reduced", layers=PORTABLE)

    found = doctor.diagnose(told)

    assert states(found) == dict.fromkeys(("suite_unread", "no_sockets"), "not_available")
    assert (found.works, found.is_full) == (True, False)
    assert found.missing == ("rlimits", "no_new_privs", "landlock", "seccomp")


def test_what_every_platform_must_offer_is_not_held_and_grading_does_not_work() -> None:
    found = doctor.diagnose(probed("time_limited", level="reduced", layers=PORTABLE))

    assert states(found) == {"time_limited": "not_held"}
    assert not found.works


def test_a_promise_of_the_full_level_that_is_broken_is_not_full() -> None:
    found = doctor.diagnose(probed("suite_unread"))

    assert states(found) == {"suite_unread": "not_held"}
    assert (found.works, found.is_full) == (True, False)


def test_a_broken_promise_shows_what_was_answered() -> None:
    rows = screen(probed("suite_unread", detail="done 14 bytes"))

    at = rows.index("  NOT HELD       hidden tests cannot be read")
    assert rows[at + 1] == "                 (done 14 bytes)"


@pytest.mark.skipif(sys.platform != "linux", reason="other platforms get other advice")
def test_a_kernel_without_landlock_is_told_what_would_help() -> None:
    layers = [each for each in FULL if each != "landlock"]

    rows = screen(probed("suite_unread", level="reduced", layers=layers))

    assert "Missing for 'full': landlock" in rows
    assert "    docker run --security-opt seccomp=unconfined ..." in rows
    assert rows[rows.index("What helps:") + 1].startswith("- Landlock is missing")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "told",
    [
        probed(),
        probed("suite_unread", detail="x" * 300),
        probed("home_unread", "no_fork", level="reduced", layers=PORTABLE),
        probed("no_fork", level="reduced", layers=["process", "rlimits", "watcher"]),
        probed("work_runs", level="reduced", layers=PORTABLE),
    ],
    ids=["full", "leaking", "portable", "old_kernel", "broken"],
)
def test_no_line_is_longer_than_a_terminal_is_wide(
    told: dict[str, Any], language: Language
) -> None:
    rows = screen(told, language)

    assert [row for row in rows if columns(row) > 80] == []


@pytest.mark.long
@pytest.mark.skipif(not forked.available(), reason="this platform cannot fork workers")
def test_json_tells_what_the_screen_tells_and_nothing_else(tmp_path: Path) -> None:
    result = grade("doctor", "--json", "--require", "full", cwd=tmp_path)

    told = json.loads(out(result))
    if told["level"] != "full":
        pytest.skip("the kernel lacks Landlock or seccomp")
    assert (told["works"], told["full"], told["missing"]) == (True, True, [])
    assert sorted(each["id"] for each in told["guarantees"]) == guarantees()
    assert {each["state"] for each in told["guarantees"]} == {"held"}
    assert err(result) == "Trying out the sandbox (up to a minute) ...\n"
    assert result.returncode == 0


@pytest.mark.long
def test_the_portable_sandbox_works_but_is_not_what_official_grading_needs(
    tmp_path: Path,
) -> None:
    result = grade(
        *("--lang", "zh", "doctor", "--sandbox", "portable", "--require", "full"), cwd=tmp_path
    )

    assert "这里可以评分，级别为 reduced" in out(result)
    assert "  不提供  读不到隐藏测试" in out(result)
    assert "未满足 --require full" in err(result)
    assert result.returncode == 1
