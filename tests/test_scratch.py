"""Scratch is emptied and measured whatever a submission has made in it."""

import os
from pathlib import Path

import pytest

from grader.sandbox import scratch


def a_chain(folder: Path, levels: int) -> None:
    """Folders in folders, deeper than a path may be long."""
    before = Path.cwd()
    os.chdir(folder)
    for _ in range(levels):
        Path("d").mkdir()
        os.chdir("d")
    Path("end").write_text("x")
    os.chdir(before)


def test_folders_nested_deeper_than_the_stack_are_removed(tmp_path: Path) -> None:
    home = tmp_path / "worker"
    home.mkdir()
    # Deeper than Python recurses, and than a path may be long.
    a_chain(home, 2500)

    scratch.remove(home)

    assert not home.exists()


def test_links_are_removed_and_not_what_they_point_to(tmp_path: Path) -> None:
    home, other = tmp_path / "worker", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    (other / "kept").write_text("x")
    (home / "link").symlink_to(other)

    scratch.remove(home)

    assert (home.exists(), (other / "kept").read_text()) == (False, "x")


def test_a_folder_without_any_right_is_removed(tmp_path: Path) -> None:
    home = tmp_path / "worker"
    (home / "closed" / "below").mkdir(parents=True)
    (home / "closed" / "below").chmod(0)
    (home / "closed").chmod(0)

    scratch.remove(home)

    assert not home.exists()


def test_names_that_look_like_moved_ones_do_no_harm(tmp_path: Path) -> None:
    home = tmp_path / "worker"
    (home / "0.moved" / "0.moved" / "0.moved").mkdir(parents=True)
    (home / "1.moved").write_text("x")

    scratch.remove(home)

    assert not home.exists()


@pytest.mark.parametrize(
    ("fill", "expected"),
    [
        (lambda home: (home / "a").write_bytes(bytes(1 << 18)), True),
        (lambda home: (home / "a").write_bytes(bytes(1 << 10)), False),
        (lambda home: a_chain(home, 100), True),
        (lambda home: os.truncate((home / "a").touch() or home / "a", 1 << 30), False),
    ],
    ids=["much", "little", "deep", "a hole"],
)
def test_what_counts_as_overfull(tmp_path: Path, fill: object, expected: bool) -> None:
    assert callable(fill)
    fill(tmp_path)

    assert scratch.overfull(tmp_path, 1 << 17) is expected
