"""The private folders of judges: in use, left behind, and somebody else's."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("has no locks on folders", allow_module_level=True)

from grader.sandbox import private, scratch
from grader.sandbox.private import PrivateFolder


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(private.tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def made() -> Iterator[PrivateFolder]:
    folder = private.make()
    yield folder
    folder.remove()


def let_go(folder: PrivateFolder) -> None:
    """As when the last process that held it was killed."""
    assert folder.hold is not None
    os.close(folder.hold)


def test_a_folder_that_nobody_holds_any_more_is_removed_with_all_that_is_in_it(
    temporary: Path,
) -> None:
    left = private.make()
    (left.path / "bench" / "deep").mkdir(parents=True)
    (left.path / "stderr").write_text("x")
    let_go(left)

    private.remove_left()

    assert list(temporary.iterdir()) == []


def test_a_folder_that_is_held_is_left_alone(made: PrivateFolder) -> None:
    private.remove_left()

    assert made.path.is_dir()


def test_a_folder_is_held_as_long_as_one_of_its_processes_runs(temporary: Path) -> None:
    made = private.make()
    (hold,) = made.passed_on
    other = os.dup(hold)
    os.close(hold)

    private.remove_left()
    held = made.path.is_dir()
    os.close(other)
    private.remove_left()

    assert (held, made.path.exists()) == (True, False)


def test_what_only_looks_like_such_a_folder_is_left_alone(temporary: Path) -> None:
    (temporary / "torchgrade-abcdefgh").mkdir()
    (temporary / f"{private.PREFIX}file").write_text("x")
    (temporary / f"{private.PREFIX}link").symlink_to(temporary / "torchgrade-abcdefgh")

    private.remove_left()

    assert len(list(temporary.iterdir())) == 3


def test_a_folder_that_is_taken_for_left_before_it_is_held_is_made_anew(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, taken = private.tempfile.mkdtemp, []

    def swept_at_once(prefix: str) -> str:
        path = str(make(prefix=prefix))
        if not taken:
            private.remove_left()
            taken.append(path)
        return path

    monkeypatch.setattr(private.tempfile, "mkdtemp", swept_at_once)
    made = private.make()

    assert made.path.is_dir()
    assert str(made.path) not in taken
    made.remove()


def test_a_folder_in_which_somebody_still_writes_is_removed_when_that_has_ended(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, really, tries = private.make(), scratch.remove, []

    def busy(folder: Path) -> None:
        tries.append(folder)
        if len(tries) < 3:
            raise OSError("not empty")
        really(folder)

    monkeypatch.setattr(scratch, "remove", busy)
    made.remove()

    assert (len(tries), list(temporary.iterdir())) == (3, [])
