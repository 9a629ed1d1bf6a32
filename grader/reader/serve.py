"""The reader's own process: answers questions about what students hand in, one after the other.

Theory of operation. Zip files, encodings, JSON and Python text from strangers can take any time and
any memory to read, and now and then they end an interpreter. So they are read here: started by
exec, without torch and without anything secret, with a bound on memory, and on processor time for
each question. What dies is this process; whoever asked (`client`) starts another one.

    asker  -> reader   {"ask": NAME, "with": {…}, "bytes": N, "cpu_s": S} \\n, and N bytes
    reader -> asker    {"now": "part", …} · {"now": "begun", …} \\n …, then
                       {"now": "answer", "value": …, "bytes": N, "cpu_s": S} \\n, and N bytes
                       or {"now": "refused" | "memory" | "broken", "detail": …} \\n

`begun` says that work on the next thing of several has begun: the time starts anew. Everything is
plain JSON: no syntax tree and nothing pickled leaves this process.
"""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, TypeAlias

from grader import submission
from grader.model import OpenedFile, Submission
from grader.plain import fields_of

# Above what the interpreter itself takes. A notebook of 200 MiB and its copies fit.
MEMORY_MIB: Final = 1536


@dataclass(slots=True, kw_only=True)
class Question:
    """What is asked, and how to say something before the answer is known.

    Args:
        args: plain JSON.
        content: the bytes that came with the question.
    """

    args: Mapping[str, Any]
    content: bytes
    cpu_s: float
    _out: BinaryIO

    def say(self, now: str, value: object) -> None:
        """Send a part of the answer, or say what is begun."""
        if now == "begun":
            _bound_time(self.cpu_s)
        _send(self._out, {"now": now, "value": value})


# Plain JSON, or bytes.
Answer: TypeAlias = Callable[[Question], object]


def understand(question: Question) -> object:
    """A `Reading` of the bytes."""
    handed_in = Submission(**question.args["submission"])
    opened = OpenedFile(submission=handed_in, content=question.content)
    return submission.understand(opened, names=question.args["names"])


ANSWERS: Final[Mapping[str, Answer]] = {"understand": understand}


def main(answers: Mapping[str, Answer] = ANSWERS) -> None:
    """Answer until the asker is gone."""
    # Whatever prints must not print among the answers.
    into, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    _bound_memory()
    while line := into.readline():
        asked = json.loads(line)
        content = into.read(asked["bytes"])
        if len(content) < asked["bytes"]:
            return
        question = Question(args=asked["with"], content=content, cpu_s=asked["cpu_s"], _out=out)
        _bound_time(asked["cpu_s"])
        if not _answer(answers[asked["ask"]], question, out):
            return


def _answer(answer: Answer, question: Question, out: BinaryIO) -> bool:
    """Whether this process is still of use afterwards."""
    began = time.process_time()
    try:
        value = answer(question)
        content = value if isinstance(value, bytes) else b""
        last = {
            "now": "answer",
            "value": None if isinstance(value, bytes) else value,
            "bytes": len(content),
            "cpu_s": time.process_time() - began,
        }
        _send(out, last, content)
    except MemoryError:
        # What was wanted may be freed by now, or be in pieces: a new process is cheap.
        _send(out, {"now": "memory", "detail": ""})
        return False
    except OSError as error:
        _send(out, {"now": "refused", "detail": error.strerror or str(error)})
    except Exception:  # noqa: BLE001 - a fault of ours, which the asker tells
        _send(out, {"now": "broken", "detail": traceback.format_exc()[-4000:]})
        return False
    return True


def _send(out: BinaryIO, message: Mapping[str, object], content: bytes = b"") -> None:
    out.write(json.dumps(message, default=_plain).encode("ascii") + b"\n" + content)
    out.flush()


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else fields_of(value)


def _bound_time(cpu_s: float) -> None:
    """End this process when it has used so much more processor time; the asker bounds the rest."""
    if sys.platform != "win32":
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        end = int(used.ru_utime + used.ru_stime + cpu_s) + 1
        if hard != resource.RLIM_INFINITY:
            end = min(end, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (end, hard))


def _bound_memory() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if sys.platform == "linux":
            with open("/proc/self/statm", "rb") as held:  # noqa: PTH123 - no file but the kernel's
                size = int(held.read().split()[0]) * resource.getpagesize()
            most = size + MEMORY_MIB * 1024 * 1024
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
