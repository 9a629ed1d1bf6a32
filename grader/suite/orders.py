"""Orders as they come down a descriptor, and answers as they go up another one."""

import os
from collections.abc import Callable, Mapping

from grader.suite import messages
from grader.suite.messages import Order

Tell = Callable[[Mapping[str, object]], None]


# Bytes.
_MOST_HELD = 1 << 16


def teller(answers: int) -> Tell:
    """Writes each message it is called with to the descriptor, as one whole line.

    Outcomes wait for the next message of another kind: nobody acts on one alone, and to wake the
    reader a hundred times for a submission costs both sides more than to write the lines.
    """
    held = bytearray()

    def tell(message: Mapping[str, object]) -> None:
        held.extend(messages.line(message))
        if message["now"] != "outcome" or len(held) > _MOST_HELD:
            write(answers, held)
            held.clear()

    return tell


def write(descriptor: int, data: bytes | bytearray) -> None:
    """Write all of it, however much the pipe takes at a time."""
    with memoryview(data) as view:
        done = 0
        while done < len(view):
            done += os.write(descriptor, view[done:])


class Queue:
    """Orders as they come; one may be looked at before it is taken."""

    def __init__(self, descriptor: int) -> None:
        self.stream = os.fdopen(descriptor, "rb", buffering=0)
        self.line = b""
        self.next: Order | None = None

    def peek(self) -> Order | None:
        """The next order, waited for; None when no more will come. `line` is how it came."""
        if self.next is None and (data := self._line()):
            self.line = data
            self.next = messages.order_from(data)
        return self.next

    def take(self) -> Order | None:
        order, self.next = self.peek(), None
        return order

    def _line(self) -> bytes:
        # Unbuffered, so that poll on the descriptor tells the truth; whoever orders waits for the
        # answer, so that there is never a second line behind the first.
        data = bytearray()
        while not data.endswith(b"\n"):
            part = self.stream.read(1 << 20)
            if not part:
                return b""
            data += part
        return bytes(data)
