"""Asks the reader, and starts another one when it has died of a question."""

import contextlib
import json
import math
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal

from grader.errors import GraderError
from grader.model import OpenedFile, Problem, Reading, Submission
from grader.plain import reading_from
from grader.reader.serve import MEMORY_MIB
from grader.sandbox import launch, tasks
from grader.sandbox.watchdog import Watchdog
from grader.texts import catalog

Reason = Literal["time", "memory", "died"]

# Processor time for one question. The largest honest file takes a few seconds.
CPU_S: Final = 10.0
# A machine may be busy; where processor time cannot be bounded, this alone bounds it.
WALL_FACTOR, LEAST_WALL_S = 5.0, 30.0
_SIGKILL: Final = 9
_SIGXCPU: Final = 24


class Stopped(Exception):
    """The reader died of a question, or was ended: of that file nothing more is known.

    Args:
        reason: too much time, too much memory, or the interpreter itself broke down.
        parts: what it had said before.
        certain: a limit was exceeded. Else somebody else may have ended it.
    """

    def __init__(
        self, reason: Reason, parts: tuple[Any, ...] = (), *, certain: bool = True
    ) -> None:
        super().__init__(reason)
        self.reason: Reason = reason
        self.parts = parts
        self.certain = certain


class Reader:
    """A process that reads for one asker. A context manager: the process ends with it.

    Args:
        program: what runs in it, Python text.
    """

    def __init__(self, program: str = "from grader.reader.serve import main; main()") -> None:
        # Processor time that the last question took.
        self.used_s = 0.0
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog = Watchdog(None)
        self._lock = threading.Lock()

    def __enter__(self) -> "Reader":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> "Reader":
        """Start the process, if it is not running, so that it gets ready while others work."""
        if self._process is None:
            try:
                self._process = tasks.started(self._begin)
                self._watchdog = Watchdog(self._process, memory_mib=2 * MEMORY_MIB)
                tasks.started(self._watchdog.start)
            except (OSError, RuntimeError) as error:
                # Nothing about the file: who asks would take an OSError for that.
                self.close()
                raise GraderError(f"no reader could be started: {error}") from error
        return self

    def _begin(self) -> "subprocess.Popen[bytes]":
        root = Path(Path.cwd().anchor)
        return subprocess.Popen(
            launch.command(self._program),
            cwd=root,
            # It writes nothing; whoever looks for a home finds none.
            env=launch.environment(root / "nonexistent"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for the front desk alone.
            **launch.own_group(),
        )

    def understand(self, opened: OpenedFile, names: Collection[str]) -> Reading:
        """What can be understood of a file; one that cannot be read in time is `unreadable`."""
        asked = {"submission": asdict(opened.submission), "names": sorted(names)}
        try:
            raw = self.ask("understand", asked, opened.content)
        except Stopped as stopped:
            return unread(opened.submission, stopped.reason)
        return reading_from(raw)

    def ask(
        self,
        what: str,
        asked: Mapping[str, object],
        content: bytes = b"",
        *,
        cpu_s: float = CPU_S,
    ) -> Any:
        """The answer to a question: plain JSON, or bytes.

        A reader that somebody ended is no word about a file: the next one is asked, too.

        Raises:
            Stopped: there is none, because of what was to be read.
            OSError: the file to be read cannot be opened, or is another one by now.
            GraderError: there is none, because of a fault of ours.
        """
        try:
            return self.ask_once(what, asked, content, cpu_s=cpu_s)
        except Stopped as stopped:
            if stopped.certain:
                raise
        return self.ask_once(what, asked, content, cpu_s=cpu_s)

    def ask_once(
        self,
        what: str,
        asked: Mapping[str, object],
        content: bytes = b"",
        *,
        cpu_s: float = CPU_S,
        hear: Callable[[str, Any], None] = lambda _now, _value: None,
    ) -> Any:
        """As `ask`, but only one reader is asked.

        Args:
            hear: is called with each message before the answer, and its value.

        Raises:
            Stopped: there is none, because of what was to be read.
            OSError: the file to be read cannot be opened, or is another one by now.
            GraderError: there is none, because of a fault of ours.
        """
        line = json.dumps({"ask": what, "with": asked, "bytes": len(content), "cpu_s": cpu_s})
        parts: list[Any] = []
        # Unless it says better: what it dies of has used it up.
        self.used_s = cpu_s
        with self._lock:
            process = self.start()._process
            if process is None or process.stdin is None or process.stdout is None:
                raise GraderError("the reader has no pipes")
            self._let_work(cpu_s)
            try:
                process.stdin.write(line.encode("ascii") + b"\n" + content)
                process.stdin.flush()
                while message := process.stdout.readline():
                    said = json.loads(message)
                    if said["now"] not in ("part", "begun"):
                        return self._last(said, process, tuple(parts))
                    if said["now"] == "begun":
                        self._let_work(cpu_s)
                    parts.append(said["value"])
                    hear(said["now"], said["value"])
            except (BrokenPipeError, ConnectionError, ValueError):
                # It died in the middle of the question, or of a word.
                pass
            finally:
                self._watchdog.deadline = math.inf
            raise self._death(process, tuple(parts))

    def close(self) -> None:
        """End the process. Idempotent."""
        process, self._process = self._process, None
        self._watchdog.over.set()
        if process is not None:
            # It holds nothing that could be lost.
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    if pipe is not None:
                        pipe.close()

    def _let_work(self, cpu_s: float) -> None:
        self._watchdog.deadline = time.monotonic() + max(WALL_FACTOR * cpu_s, LEAST_WALL_S)

    def _last(
        self, said: Mapping[str, Any], process: "subprocess.Popen[bytes]", parts: tuple[Any, ...]
    ) -> Any:
        """What the last message gives."""
        self.used_s = said.get("cpu_s", self.used_s)
        match said["now"]:
            case "answer" if not said["bytes"]:
                return said["value"]
            case "answer":
                content = process.stdout.read(said["bytes"]) if process.stdout else b""
                if len(content) == said["bytes"]:
                    return content
                raise self._death(process, parts)
            case "refused":
                raise OSError(said["detail"])
            case "memory":
                self.close()
                raise Stopped("memory", parts)
        self.close()
        raise GraderError(said["detail"])

    def _death(self, process: "subprocess.Popen[bytes]", parts: tuple[Any, ...]) -> Stopped:
        """Why the process is gone; it is put away."""
        killed_for = self._watchdog.killed_for
        # Nobody waits for an answer any more.
        closed = self._process is not process
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)
        code = process.poll()
        self.close()
        if killed_for is not None:
            return Stopped(killed_for, parts)
        if code == -_SIGXCPU:
            return Stopped("time", parts)
        # The kernel kills where the machine's memory is at its end; so may anybody.
        return Stopped("memory" if code == -_SIGKILL else "died", parts, certain=closed)


def unread(submission: Submission, reason: Reason) -> Reading:
    """The reading of a file of which a reader died."""
    message = catalog.text(f"reading.stopped_{reason}")
    kind = {"time": "timeout", "memory": "memory", "died": "too_complex"}[reason]
    return Reading(
        submission=submission,
        source=None,
        definitions={},
        problems=(Problem(kind=kind, message=message),),
        unreadable=True,
    )
