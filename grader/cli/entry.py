"""Runs `grade` and turns whatever ends it into an exit code and a calm sentence."""

import os
import signal
import warnings
from collections.abc import Sequence
from typing import Final

import click

from grader.cli import language, terminal
from grader.cli.complaints import complaint
from grader.cli.root import root, sentence
from grader.errors import AssignmentError, UsageProblem
from grader.model import Language
from grader.texts import catalog

USAGE: Final = 2
GRADER_FAILED: Final = 3
INTERRUPTED: Final = 130
TERMINATED: Final = 143


class _Terminated(BaseException):
    """Somebody asked this process to end; what it has begun is cleaned up on the way out."""


def run(arguments: Sequence[str]) -> int:
    """The exit code of `grade` with these arguments."""
    terminal.prepare()
    spoken = language.choose(arguments, os.environ, encoding=terminal.encoding())
    debug = "--debug" in arguments
    if not debug:
        warnings.simplefilter("ignore")
    signal.signal(signal.SIGTERM, _terminate)
    try:
        return _carried_out(arguments, spoken)
    except click.UsageError as error:
        terminal.say(complaint(error, spoken))
        return USAGE
    except (UsageProblem, AssignmentError) as error:
        terminal.say(sentence(error, spoken))
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        # CPython remembers an interrupt that came out of `exec` or `eval` of a string (every
        # dataclass is made so while it is imported) and ends itself by SIGINT, whatever the exit
        # code, although it was handled here. The next such string makes it forget.
        eval("0")  # noqa: S307
        terminal.say(catalog.say(spoken, "cli.interrupted"))
        return INTERRUPTED
    except _Terminated:
        terminal.say(catalog.say(spoken, "cli.interrupted"))
        return TERMINATED
    except Exception as error:  # noqa: BLE001 - the one place for what nobody expected
        _explain(error, spoken, debug=debug)
        return GRADER_FAILED


def _terminate(_number: int, _frame: object) -> None:
    raise _Terminated


def _carried_out(arguments: Sequence[str], spoken: Language) -> int:
    result = root(spoken).main(
        args=list(arguments) or ["--help"], prog_name="grade", standalone_mode=False, obj=spoken
    )
    return result if isinstance(result, int) else 0


def _explain(error: Exception, spoken: Language, *, debug: bool) -> None:
    if debug:
        import traceback

        terminal.say("".join(traceback.format_exception(error)).rstrip())
    code = "cli.failed_debug" if debug else "cli.failed"
    terminal.say(catalog.say(spoken, code, error=f"{type(error).__name__}: {error}"))
