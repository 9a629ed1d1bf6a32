"""The entry point of `grade` and of `python -m grader`."""

import os
import sys

_HOME = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120


def main() -> None:
    """Run the command that was typed and exit with its code."""
    # Before anything else is imported: a json.py, torch.py or click.py that lies beside a
    # submission must not be taken for the real one.
    sys.path[:] = _trusted(sys.path)
    from grader.cli.entry import run

    sys.exit(run(sys.argv[1:]))


def _trusted(path: list[str]) -> list[str]:
    """The import path without the current folder and what PYTHONPATH added.

    Folders that Python itself searches stay, and so does the one that holds `grader`.
    """
    added = {_real(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each}
    dropped = (added | {_real(".")}) - _own_folders()
    return [each for each in path if _real(each or ".") not in dropped]


def _own_folders() -> set[str]:
    folders = [_HOME, os.path.dirname(os.path.realpath(os.__file__))]  # noqa: PTH120
    site = sys.modules.get("site")  # absent under -S
    if site is not None:
        folders += [*site.getsitepackages(), site.getusersitepackages()]
    return {_real(each) for each in folders}


def _real(folder: str) -> str:
    try:
        return os.path.normcase(os.path.realpath(folder))
    except OSError:  # the current folder was deleted
        return folder


if __name__ == "__main__":
    main()
