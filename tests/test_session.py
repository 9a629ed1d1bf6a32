"""Sessions over a real zygote: what a call gives when student code does its worst."""

from pathlib import Path

import pytest
import torch
from conftest import Lifeline, OpenSession, a_session

from grader.errors import GraderError
from grader.model import Died, Observation, Raised, Returned
from grader.sandbox import forked, session, wire
from grader.sandbox.forked import ForkedBench
from grader.sandbox.session import Session, Spent, TooWeak

# What a forger inside the worker needs: frames of its own, on the channel that it finds.
FORGER = """
import json, os, struct, sys, time

def frame(message, arrays=(), body=b""):
    header = json.dumps({"m": message, "a": list(arrays)}).encode()
    return struct.pack(">II", len(header), len(body)) + header + body

def answer(call_id, value=1.0):
    return frame(["d", ["id", call_id], ["kind", "returned"], ["value", value], ["claims", ["d"]]])

def current_id():
    step = sys._getframe()
    while "request" not in step.f_locals:
        step = step.f_back
    return step.f_locals["request"]["id"]

def right():
    return 7.0
"""


def value_of(seen: Observation) -> object:
    assert isinstance(seen, Returned), seen
    return seen.value


def death_of(seen: Observation) -> tuple[str, str]:
    assert isinstance(seen, Died), seen
    return seen.cause, seen.detail


# --- the plain way ---------------------------------------------------------------------------


def test_a_call_returns_what_the_function_returns(open_session: OpenSession) -> None:
    opened = open_session("def double(x, *, times=2): return x * times")

    seen = opened.call("double", [torch.tensor([1.5])], {"times": 3}, allowance=4096)

    assert isinstance(seen, Returned)
    assert torch.equal(value_of(seen), torch.tensor([4.5]))  # type: ignore[arg-type]
    assert seen.claims == {"type": "Tensor", "kind": "tensor", "requires_grad": False}


def test_an_exception_is_told_with_the_lines_of_the_submission_alone(
    open_session: OpenSession,
) -> None:
    opened = open_session("def outer(x):\n    return inner(x)\ndef inner(x):\n    return x @ 'a'")

    seen = opened.call("outer", [torch.ones(2)])

    assert isinstance(seen, Raised)
    assert seen.type == "TypeError"
    assert [(each.line, each.function) for each in seen.trace] == [(2, "outer"), (4, "inner")]


def test_state_stays_between_the_calls_of_one_submission(open_session: OpenSession) -> None:
    opened = open_session("seen = []\ndef count():\n    seen.append(1)\n    return len(seen)")

    assert [value_of(opened.call("count")) for _ in range(3)] == [1, 2, 3]


def test_a_missing_function_raises_a_name_error(open_session: OpenSession) -> None:
    seen = open_session("x = 1").call("absent")

    assert isinstance(seen, Raised)
    assert seen.type == "NameError"


def test_an_object_stays_in_the_worker_and_answers_to_its_handle(open_session: OpenSession) -> None:
    opened = open_session(
        """
        class Counter:
            def __init__(self, start): self.n = start
            def __call__(self, step): self.n += step; return self.n
        """
    )

    handle, _ = opened.new("Counter", [5])

    assert handle is not None
    assert value_of(opened.method(handle, "__call__", [2])) == 7
    assert value_of(opened.method(handle, "__call__", [2])) == 9


def test_a_kept_tensor_is_the_same_object_in_every_call(open_session: OpenSession) -> None:
    opened = open_session("seen = set()\ndef note(x):\n    seen.add(id(x))\n    return len(seen)")

    handle, _ = opened.keep(torch.ones(2))

    assert [value_of(opened.call("note", [handle])) for _ in range(3)] == [1, 1, 1]


def test_a_function_of_the_submission_can_be_an_argument(open_session: OpenSession) -> None:
    opened = open_session("def f(x): return x + 1\ndef twice(g, x): return g(g(x))")

    assert value_of(opened.call("twice", [wire.Ref("f"), 1])) == 3


# --- answers that nobody asked for ---------------------------------------------------------------


def test_an_answer_before_the_call_is_garbled(open_session: OpenSession) -> None:
    opened = open_session(FORGER + "os.write(3, answer('0' * 16))\ndef early(): return 1.0")

    seen = opened.call("early")

    # It arrived in place of the load's own answer, so the statement that sent it is skipped.
    assert value_of(seen) == 1.0
    assert [each.observation.cause for each in opened.troubles] == ["garbled"]  # type: ignore[union-attr]


def test_bytes_before_the_next_call_are_garbled(open_session: OpenSession) -> None:
    opened = open_session(
        FORGER
        + """
import threading
gate = threading.Event()
threading.Thread(target=lambda: (gate.wait(), os.write(3, answer("0" * 16))), daemon=True).start()
def open_gate(): gate.set(); return 1.0
def wait(): threading.Event().wait(0.2); return 1.0
"""
    )
    opened.call("right")
    seen = [opened.call(each) for each in ("open_gate", "wait", "right")]

    # Which of them the thread's bytes meet is up to the scheduler.
    assert [each.cause for each in seen if isinstance(each, Died)] == ["garbled"]


@pytest.mark.parametrize(
    "forged",
    [
        "os.write(3, answer('0' * 16))",
        "os.write(3, answer(current_id(), 2.0) + answer(current_id(), 3.0))",
        "os.write(3, answer(current_id(), 2.0))",
        "os.write(3, b'{\"score\": 10}')",
        "os.write(3, b'\\0' * 8)",
        "os.write(3, b'\\xff' * 1000)",
        "os.write(3, struct.pack('>II', 10, 8 << 20) + bytes(1 << 16))",
        "os.write(3, frame(['d', ['id', current_id()]]))",
        "os.write(3, frame(['l']))",
        "os.write(3, frame(['d', ['id', current_id()], ['kind', 'passed']]))",
        "os.write(3, answer(current_id(), ['a', 0]))",
        "os.write(3, b'x' * 65536)",
    ],
    ids=[
        "wrong_id",
        "two_answers",
        "own_answer",
        "json",
        "zeros",
        "garbage",
        "announced_8_mb",
        "no_kind",
        "no_dict",
        "other_kind",
        "no_array",
        "flood",
    ],
)
def test_a_forged_answer_ends_the_worker_and_the_next_call_is_answered(
    open_session: OpenSession, forged: str
) -> None:
    opened = open_session(f"{FORGER}\ndef cheat():\n    {forged}\n    return 1.0")

    first = opened.call("cheat")
    seen = opened.call("right") if isinstance(first, Returned) else first

    # An own answer, followed by the worker's, is one too many: told at the latest by the next.
    assert death_of(seen)[0] == "garbled"
    assert value_of(opened.call("right")) == 7.0


def test_a_forged_exception_with_a_wrong_traceback_is_garbled(open_session: OpenSession) -> None:
    opened = open_session(
        FORGER
        + """
def cheat(line):
    told = [["id", current_id()], ["kind", "raised"], ["type", "E"], ["message", "m"]]
    os.write(3, frame(["d", *told, ["trace", ["l", ["l", line, None, "f"]]]]))
    time.sleep(60)
"""
    )

    assert [death_of(opened.call("cheat", [line])) for line in (True, -1)] == [
        ("garbled", "a traceback")
    ] * 2


@pytest.mark.parametrize(
    "value",
    ["None", "1.0", "['d']", "['d', ['failed', 5], ['more', 0], ['notes', ['l']]]",
     "['d', ['failed', ['l', 'x']], ['more', 0], ['notes', ['l']]]",
     "['d', ['failed', ['l']], ['more', True], ['notes', ['l']]]",
     "['d', ['failed', ['l']], ['more', -1], ['notes', ['l']]]",
     "['d', ['failed', ['l']], ['more', 0], ['notes', 'compile']]"],
)  # fmt: skip
def test_a_forged_answer_to_the_load_is_garbled(open_session: OpenSession, value: str) -> None:
    opened = open_session(
        f"{FORGER}\nif True:\n    os.write(3, answer(current_id(), {value}))\n    os.close(3)\n"
        "    time.sleep(60)"
    )

    assert value_of(opened.call("right")) == 7.0
    assert [each.observation.cause for each in opened.troubles] == ["garbled"]  # type: ignore[union-attr]


def test_an_answer_in_pieces_that_never_ends_runs_into_the_one_deadline(
    open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_session(
        FORGER
        + """
import time
def drip():
    os.write(3, struct.pack(">II", 60000, 0))
    while True:
        os.write(3, b" ")
        time.sleep(0.02)
"""
    )
    opened.load()
    monkeypatch.setattr(session, "WALL_LEAST_S", 0.5)

    assert death_of(opened.call("drip"))[0] == "timeout"


def test_a_closed_channel_is_garbled(open_session: OpenSession) -> None:
    opened = open_session("import os, time\ndef close():\n    os.close(3)\n    time.sleep(60)")

    assert death_of(opened.call("close")) == ("garbled", "closed its channel")


def test_a_closed_output_changes_nothing(open_session: OpenSession) -> None:
    opened = open_session("import os\ndef close():\n    os.close(1)\n    os.close(2)\n    return 7")

    assert value_of(opened.call("close")) == 7


def test_eight_megabytes_for_a_scalar_are_described_and_not_read(open_session: OpenSession) -> None:
    opened = open_session("import torch\ndef big(): return torch.zeros(2 << 20)")

    assert value_of(opened.call("big", allowance=4096)) == wire.Oversized("float32", (2 << 20,))


def test_a_value_without_a_frame_is_named_by_its_type(open_session: OpenSession) -> None:
    opened = open_session(
        """
        import numpy
        def deep():
            value = []
            for _ in range(100): value = [value]
            return value
        def wide(): return list(range(100_000))
        def unsigned(): return numpy.uint32(3)
        def keyed(): return {(1, 2): 3}
        """
    )
    seen = [value_of(opened.call(each)) for each in ("deep", "wide", "unsigned", "keyed")]

    names = ["list", "list", "numpy.uint32", "dict"]
    assert seen == [wire.Foreign(each) for each in names]


# --- deaths -----------------------------------------------------------------------------------

DEADLY = """
import os, signal, sys, time
def leave(code): os._exit(code)
def die(number): os.kill(os.getpid(), number)
def crash():
    import ctypes
    ctypes.string_at(0)
def loop():
    while True: pass
def stubborn():
    while True:
        try:
            while True: pass
        except BaseException: pass
def deaf():
    for each in range(1, 65):
        try: signal.signal(each, signal.SIG_IGN)
        except (OSError, ValueError): pass
    while True: pass
def hog():
    kept = []
    while True: kept.append(bytearray(b"x" * (8 << 20)))
def quiet_hog():
    import torch
    kept = []
    while True:
        try: kept.append(torch.ones(4 << 20))
        except BaseException: kept.append(1)
def right(): return 7.0
"""


@pytest.mark.parametrize(
    ("name", "args", "death"),
    [
        ("leave", [0], ("exit", "0")),
        ("leave", [3], ("exit", "3")),
        ("die", [9], ("signal", "SIGKILL")),
        ("die", [11], ("signal", "SIGSEGV")),
        ("die", [15], ("signal", "SIGTERM")),
        ("crash", [], ("signal", "SIGSEGV")),
        ("loop", [], ("timeout", "")),
        ("stubborn", [], ("timeout", "")),
        ("deaf", [], ("timeout", "")),
    ],
)
def test_a_death_is_told_with_its_cause_and_the_next_call_is_answered(
    open_session: OpenSession, name: str, args: list[object], death: tuple[str, str]
) -> None:
    opened = open_session(DEADLY)

    assert death_of(opened.call(name, args)) == death
    assert value_of(opened.call("right")) == 7.0


def test_sys_exit_is_an_exception_like_any_other(open_session: OpenSession) -> None:
    opened = open_session("import sys\ndef leave(): sys.exit(0)\ndef right(): return 7.0")

    seen = opened.call("leave")

    assert isinstance(seen, Raised)
    assert seen.type == "SystemExit"
    assert value_of(opened.call("right")) == 7.0


def test_too_much_memory_is_an_exception_or_a_death_of_memory(open_session: OpenSession) -> None:
    opened = open_session(DEADLY, memory_mib=128, call_s=5.0)

    seen = opened.call("hog")

    match seen:
        case Raised():
            assert seen.type == "MemoryError"
        case _:
            assert death_of(seen)[0] == "memory"
    assert value_of(opened.call("right")) == 7.0


def test_one_that_swallows_memory_errors_ends_all_the_same(open_session: OpenSession) -> None:
    opened = open_session(DEADLY, memory_mib=128, call_s=0.6)

    match opened.call("quiet_hog"):
        case Raised() as seen:
            # There was no room left even for what it does about the error.
            assert seen.type == "MemoryError"
        case seen:
            assert death_of(seen)[0] in ("timeout", "memory")
    assert value_of(opened.call("right")) == 7.0


@pytest.mark.parametrize("body", ["os.kill(os.getpid(), signal.SIGSTOP)", "time.sleep(60)"])
def test_a_worker_that_does_nothing_runs_into_the_wall_clock(
    open_session: OpenSession, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    opened = open_session(
        f"import os, signal, time\ndef idle():\n    {body}\ndef right(): return 7"
    )
    opened.load()
    monkeypatch.setattr(session, "WALL_LEAST_S", 0.3)
    monkeypatch.setattr(session, "WALL_FACTOR", 1.0)

    assert death_of(opened.call("idle")) == ("timeout", "")
    assert value_of(opened.call("right")) == 7


def test_after_three_deaths_no_more_is_asked(open_session: OpenSession) -> None:
    opened = open_session(DEADLY)
    for _ in range(3):
        opened.call("leave", [1])

    with pytest.raises(Spent) as caught:
        opened.call("right")

    assert caught.value.reason == "deaths"


def test_one_that_sleeps_in_every_call_uses_up_its_total(
    open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_session("import time\ndef nap():\n    time.sleep(0.2)\n    return 7", total_s=0.1)
    opened.load()
    monkeypatch.setattr(session, "WALL_LEAST_S", 0.5)

    with pytest.raises(Spent) as caught:
        for _ in range(40):
            opened.call("nap")

    assert caught.value.reason == "total"


def test_when_the_total_is_used_up_no_more_is_asked(open_session: OpenSession) -> None:
    opened = open_session(DEADLY, call_s=0.3, total_s=0.5)
    opened.call("loop")
    opened.call("loop")

    with pytest.raises(Spent) as caught:
        opened.call("right")

    assert caught.value.reason == "total"


def test_a_handle_is_stale_once_its_worker_is_dead(open_session: OpenSession) -> None:
    opened = open_session(DEADLY + "\nclass Kept: pass\ndef take(x): return 1")
    handle, _ = opened.new("Kept")
    opened.call("leave", [4])

    assert handle is not None
    assert death_of(opened.method(handle, "__str__")) == ("exit", "stale")
    assert death_of(opened.call("take", [handle])) == ("exit", "stale")
    assert value_of(opened.call("right")) == 7.0


def test_usage_counts_all_workers_of_a_submission(open_session: OpenSession) -> None:
    opened = open_session(DEADLY)
    opened.call("loop")
    opened.call("loop")
    opened.close()

    assert opened.usage.cpu_s > 0.6


def test_closing_twice_is_closing_once(open_session: OpenSession) -> None:
    opened = open_session("x = 1")
    opened.load()

    opened.close()
    opened.close()


# --- loading ------------------------------------------------------------------------------------


def test_the_cell_that_kills_is_skipped_by_the_replacement(open_session: OpenSession) -> None:
    opened = open_session("before = 1", "import os\nos._exit(5)", "def right(): return before + 1")

    assert value_of(opened.call("right")) == 2
    assert [(each.piece.cell, each.observation.cause) for each in opened.troubles] == [  # type: ignore[union-attr]
        (2, "exit")
    ]


def test_the_cell_that_never_ends_is_skipped_by_the_replacement(open_session: OpenSession) -> None:
    opened = open_session("while True: pass", "def right(): return 7", load_s=0.3)

    assert value_of(opened.call("right")) == 7
    assert opened.troubles[0].observation.cause == "timeout"  # type: ignore[union-attr]


def test_an_error_costs_its_statement_only(open_session: OpenSession) -> None:
    opened = open_session("x = 1\n1 / 0\nx = 2", "def right(): return x")

    assert value_of(opened.call("right")) == 2
    assert [each.observation.type for each in opened.troubles] == ["ZeroDivisionError"]  # type: ignore[union-attr]


def test_what_follows_an_error_in_a_script_is_defined(open_session: OpenSession) -> None:
    opened = open_session("def first(): return 7\n1 / 0\ndef second(): return 8")

    assert value_of(opened.call("first")) == 7
    assert value_of(opened.call("second")) == 8
    assert [(each.line, each.lost) for each in opened.troubles] == [(2, ())]


def test_a_failing_assert_costs_nothing_and_is_told_once(open_session: OpenSession) -> None:
    opened = open_session(
        "assert 1 == 2, 'mine'\ndef right(): return 7\nimport os\ndef leave(): os._exit(0)"
    )

    assert value_of(opened.call("right")) == 7
    opened.call("leave")
    assert value_of(opened.call("right")) == 7
    assert [(each.is_assert, each.observation.message) for each in opened.troubles] == [  # type: ignore[union-attr]
        (True, "mine")
    ]


def test_sys_exit_while_loading_costs_itself(open_session: OpenSession) -> None:
    opened = open_session("import sys\nsys.exit(0)\ndef right(): return 7")

    assert value_of(opened.call("right")) == 7
    assert opened.troubles[0].observation.type == "SystemExit"  # type: ignore[union-attr]


# --- output -----------------------------------------------------------------------------------


def test_what_is_printed_comes_with_the_answer(open_session: OpenSession) -> None:
    opened = open_session("def talk(): print('héllo'); return 1")

    assert opened.call("talk").stdout == "héllo\n"


def test_a_flood_keeps_its_head_and_tail_and_counts_the_rest(open_session: OpenSession) -> None:
    opened = open_session(
        """
        def flood():
            print('first')
            print('x' * 3_000_000)
            print('last')
            return 7
        """,
        output_kib=4,
        call_s=5.0,
    )

    assert value_of(opened.call("flood")) == 7
    printed = opened.output.printed()
    assert printed.head.startswith("first\nxxx")
    assert printed.tail.endswith("xxx\nlast\n")
    assert len(printed.head) == len(printed.tail) == 2048
    assert printed.dropped_bytes == len("first\nlast\n") + 3_000_001 - 4096


def test_a_flood_without_end_runs_out_of_time(open_session: OpenSession) -> None:
    opened = open_session("def flood():\n    while True: print('x' * 1000)", output_kib=4)

    assert death_of(opened.call("flood"))[0] == "timeout"
    assert len(opened.output.printed().head) == 2048


def test_what_was_printed_before_a_death_is_kept(open_session: OpenSession) -> None:
    opened = open_session("import os\ndef leave():\n    print('goodbye')\n    os._exit(0)")

    assert opened.call("leave").stdout == "goodbye\n"


# --- the grader's own side ------------------------------------------------------------------------


def test_a_killed_zygote_is_the_graders_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bench: ForkedBench
) -> None:
    monkeypatch.setattr(forked, "DEATH_S", 5.0)
    own = ForkedBench(
        tmp_path, bench.lifeline, bench.on_abandoned, without=("landlock", "seccomp", "uid")
    )
    opened: Session = a_session(
        own, "import os, time\ndef kill(): os.kill(os.getppid(), 9); time.sleep(60)"
    )
    try:
        with pytest.raises(GraderError, match="instead of dead"):
            opened.call("kill")
        with pytest.raises(GraderError, match="gave no worker"):
            own.start(opened.limits, opened.output)
    finally:
        own.close()


def test_nothing_of_a_submission_reaches_a_weaker_sandbox_than_demanded(
    tmp_path: Path, lifeline: Lifeline
) -> None:
    marker = tmp_path / "was-run"
    (tmp_path / "bench").mkdir()
    weak = ForkedBench(
        tmp_path / "bench",
        lifeline.reader,
        lifeline.abandoned,
        without=("landlock", "namespaces", "uid"),
    )
    session = a_session(weak, f"open({str(marker)!r}, 'w')\ndef f(): return 1")
    session.demanded = "full"

    with pytest.raises(TooWeak) as refused:
        session.call("f")

    weak.close()
    assert refused.value.level == "reduced"
    assert "seccomp" in refused.value.layers
    assert not marker.exists()
