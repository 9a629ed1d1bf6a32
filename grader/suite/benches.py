"""Which bench the judge takes its workers from."""

from collections.abc import Callable

from grader.sandbox.forked import ForkedBench
from grader.sandbox.link import Bench


class Benches:
    """The bench of the moment; another one takes its place when it is broken."""

    def __init__(self, first: Bench, opened: Callable[[], Bench]) -> None:
        self.current = first
        self.opened = opened

    def renew(self) -> None:
        """End the bench, and start another one."""
        self.current.close()
        self.current = self.opened()

    def can_fork(self) -> bool:
        """Whether a fork can go on with this bench: one without threads, over descriptors alone."""
        return isinstance(self.current, ForkedBench)

    def await_ready(self) -> None:
        """Let the bench say once, before anybody inherits it, that it is ready."""
        if isinstance(self.current, ForkedBench) and not self.current.ready:
            self.current.await_ready()
