"""Forks of the warm judge: one for every few submissions (Linux).

Theory of operation. The judge has collected the suite and judged the reference, so that whatever a
first use initialises is there. It forks; the child judges the next orders, one at a time, with the
bench that it has inherited, while the judge does nothing but pass orders down a pipe, collect the
answer, and watch the clock:

    judge -> child   an order, as it came from the front desk
    child -> judge   the lines of the answer, then {"now": "free"}, or {"now": "spent", "why": …}
                     when something of the submission is left in the child

Only whole answers are passed on. After `per_fork` orders the child ends, and with it whatever
submissions may have left in it. When it dies, is late, or says that the grader failed, both the
child and the bench are replaced, and the submission is judged once more in a fork of its own; if
that fails, too, the answer is `broken`. The child has a memory limit and dies with the judge.
"""

import contextlib
import gc
import json
import os
import resource
import select
import signal
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.errors import AssignmentError, GraderError
from grader.model import Limits
from grader.sandbox import tasks
from grader.sandbox.forked import ForkedBench
from grader.sandbox.link import Bench
from grader.sandbox.linux import privileges
from grader.sandbox.session import TooWeak
from grader.suite import messages
from grader.suite.benches import Benches
from grader.suite.messages import Order
from grader.suite.orders import Queue, Tell, write

# Well above what a session may wait for a submission in sum, and twice of it well below the
# front desk's patience with the judge.
PATIENCE_S, PATIENCE_FACTOR = 60.0, 8.0
# Above what the warm judge holds: no answer and no suite of ours needs a tenth of it.
MEMORY_MIB = 2048
ANSWER_LIMIT = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed:
    """There is no answer: the child died, was late, or failed."""

    why: str


class Forks:
    """Answers orders in forks of this process. `close` is due at the end.

    Args:
        judge: judges an order and tells the answer.
        settled: whether nothing of the last submission is left in this process.
        per_fork: how many orders one fork answers.
    """

    def __init__(
        self,
        judge: Callable[[Order, Tell], None],
        settled: Callable[[], bool],
        benches: Benches,
        per_fork: int,
    ) -> None:
        self.judge = judge
        self.settled = settled
        self.benches = benches
        self.per_fork = per_fork
        self.child: _Child | None = None
        self.left = 0

    def answer(self, order: Order, line: bytes) -> bytes:
        """The lines of the answer to an order; `line` is the order as it came."""
        found = self._ask(line, order.limits, orders=self.per_fork)
        if isinstance(found, _Failed):
            first = found
            found = self._ask(line, order.limits, orders=1)
            if isinstance(found, _Failed):
                detail = f"in two forks of the judge:\n{first.why}\n{found.why}"
                return messages.line({"now": "broken", "kind": "twice", "detail": detail})
        return found

    def close(self) -> None:
        """End the fork of the moment. Idempotent."""
        child, self.child = self.child, None
        if child is not None:
            child.end()

    def _ask(self, line: bytes, limits: Limits, *, orders: int) -> bytes | _Failed:
        if self.child is None:
            self.child, self.left = self._forked(), orders
        found = self.child.ask(line, PATIENCE_S + PATIENCE_FACTOR * limits.total_s)
        self.left -= 1
        if isinstance(found, _Failed):
            self.child.kill()
            self.child = None
            # A worker of the dead child's may be left in it, or an answer that nobody has read.
            self.benches.renew()
            return found
        lines, is_free = found
        if self.left == 0 or not is_free:
            self.close()
        return lines

    def _forked(self) -> "_Child":
        self.benches.await_ready()
        # Pages stay shared as long as nobody looks for garbage in them.
        gc.freeze()
        down, up = os.pipe(), os.pipe()
        judge = os.getpid()
        pid = tasks.started(os.fork)
        if pid == 0:
            os.close(down[1])
            os.close(up[0])
            self._serve(down[0], up[1], judge)
        os.close(down[0])
        os.close(up[1])
        return _Child(pid, down[1], up[0], self.benches.current)

    def _serve(self, orders: int, answers: int, judge: int) -> None:
        """In the child: answer orders until there are no more. Never returns."""
        code = 70
        try:
            privileges.die_with(judge)
            _limit_memory()
            bench = self.benches.current
            if isinstance(bench, ForkedBench):
                # The bench belongs to the judge, which ends it.
                bench.on_abandoned = lambda: os._exit(4)
            lines, queue = bytearray(), Queue(orders)

            def tell(message: Mapping[str, object]) -> None:
                # Kept until it is whole, as nobody takes less: each write would cost a switch.
                lines.extend(messages.line(message))

            before = _traces()
            while (order := queue.peek()) is not None:
                self._answer(order, tell)
                queue.take()
                left = [] if self.settled() else ["a fixture"]
                left += sorted(_traces() - before)
                tell({"now": "spent", "why": left} if left else {"now": "free"})
                write(answers, lines)
                lines.clear()
            code = 0
        except BaseException:  # noqa: BLE001 - whatever it was, the parent must not go on twice
            traceback.print_exc()
        finally:
            os._exit(code)

    def _answer(self, order: Order, tell: Tell) -> None:
        try:
            self.judge(order, tell)
        except AssignmentError as error:
            tell({"now": "broken", "kind": "assignment", "detail": str(error)})
        except TooWeak as error:
            tell(messages.too_weak(error.level, error.layers))
        except GraderError as error:
            detail = "".join(traceback.format_exception(error))[-4000:]
            tell({"now": "broken", "kind": "grader", "detail": detail})


def _traces() -> set[str]:
    """Descriptors and threads of this process."""
    descriptors = {f"descriptor {name}" for name in os.listdir("/proc/self/fd")}  # noqa: PTH208
    return descriptors | {f"thread {each.name}" for each in threading.enumerate()}


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    most = pages * resource.getpagesize() + (MEMORY_MIB << 20)
    _, ceiling = resource.getrlimit(resource.RLIMIT_AS)
    most = most if ceiling == resource.RLIM_INFINITY else min(most, ceiling)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


class _Child:
    """The judge's end of one fork."""

    def __init__(self, pid: int, orders: int, answers: int, bench: Bench) -> None:
        self.pid = pid
        self.orders = orders
        self.answers = answers
        self.bench = bench
        self.poller = select.poll()
        self.poller.register(answers, select.POLLIN)
        if isinstance(bench, ForkedBench):
            self.poller.register(bench.lifeline, 0)

    def ask(self, line: bytes, patience_s: float) -> tuple[bytes, bool] | _Failed:
        """The answer's lines, and whether the child can take another order."""
        deadline = time.monotonic() + patience_s
        try:
            write(self.orders, line)
        except BrokenPipeError:
            return _Failed(why="the fork died between two submissions")
        lines, pending = bytearray(), bytearray()
        while (data := self._received(deadline)) and len(lines) + len(pending) < ANSWER_LIMIT:
            pending += data
            *whole, rest = bytes(pending).split(b"\n")
            pending = bytearray(rest)
            for each in whole:
                message = json.loads(each)
                match message:
                    case {"now": "free"}:
                        return bytes(lines), True
                    case {"now": "spent"}:
                        return bytes(lines), False
                    case {"now": "broken", "kind": "grader", "detail": detail}:
                        return _Failed(why=str(detail))
                lines += each + b"\n"
        if data is None:
            return _Failed(why=f"the fork gave no answer within {patience_s:.0f} s")
        return _Failed(why=f"the fork died: {self._death()}" if not data else "a flood of answers")

    def _received(self, deadline: float) -> bytes | None:
        """What has come; b"" when the child closed its end, None when the time is up."""
        while (left := deadline - time.monotonic()) > 0:
            ready = dict(self.poller.poll(left * 1000))
            if self.answers in ready:
                return os.read(self.answers, 1 << 18)
            if ready and isinstance(self.bench, ForkedBench):
                # Nobody waits for the answer.
                self.kill()
                self.bench.abandon()
        return None

    def _death(self) -> str:
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        if os.WIFSIGNALED(status):
            return signal.Signals(os.WTERMSIG(status)).name
        return f"exit code {os.WEXITSTATUS(status)}"

    def end(self) -> None:
        """End of file ends it; one that does not listen is killed."""
        os.close(self.orders)
        poller = select.poll()
        poller.register(self.answers, 0)
        if not poller.poll(5000):
            os.kill(self.pid, signal.SIGKILL)
        self._reap()

    def kill(self) -> None:
        """End it at once."""
        os.close(self.orders)
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self._reap()

    def _reap(self) -> None:
        os.close(self.answers)
        if self.pid:
            os.waitpid(self.pid, 0)
            self.pid = 0
