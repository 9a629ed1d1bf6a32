"""Orders as they come down a descriptor, and answers as they go up another one."""

import os
from collections.abc import Callable, Mapping

from grader.suite import messages
from grader.suite.messages import Order

Tell = Callable[[Mapping[str, object]], None]


def teller(answers: int) -> Tell:
    """Writes each message it is called with to the descriptor, as one whole line."""

    def tell(message: Mapping[str, object]) -> None:
        write(answers, messages.line(message))

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
