"""Frames: everything that may cross does so unchanged, and nothing else is taken for a frame."""

import json
import math
import re
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.sandbox import wire

relaxed = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def crossed(value: object) -> Any:
    """What arrives when `value` is sent."""
    return opened(wire.pack({"value": value}))["value"]


def opened(frame: bytes, *, body_limit: int = wire.BODY_LIMIT) -> dict[str, object]:
    """The message of a frame that comes in one piece."""
    header, body = wire.sizes(frame[: wire.PREFIX.size], body_limit=body_limit)
    start = wire.PREFIX.size
    return wire.unpack(frame[start : start + header], frame[start + header :][:body])


def a_header(message: object, arrays: object = ()) -> bytes:
    return json.dumps({"m": message, "a": arrays}).encode()


def a_value_of(node: object, arrays: object = (), body: bytes = b"") -> object:
    return wire.unpack(a_header(["d", ["value", node]], arrays), body)["value"]


def same(left: object, right: object) -> bool:
    """Equal in type, shape, dtype and every value, NaN included."""
    if type(left) is not type(right):
        return False
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return left.dtype == right.dtype and left.shape == right.shape and _same_bytes(left, right)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        pairs = zip(left.items(), right.items(), strict=True)
        return len(left) == len(right) and all(same(a, b) for a, b in pairs)
    return repr(left) == repr(right)


def _same_bytes(left: torch.Tensor, right: torch.Tensor) -> bool:
    one, other = (each.contiguous().reshape(-1).view(torch.uint8) for each in (left, right))
    return bool(torch.equal(one, other))


# --- round trips ---------------------------------------------------------------------------

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=40),
)
keys = st.one_of(st.text(max_size=8), st.integers(-(2**63), 2**63 - 1), st.booleans(), st.none())


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    dtype = draw(st.sampled_from(sorted(wire.DTYPES)))
    shape = draw(shapes)
    count = math.prod(shape) * wire.DTYPES[dtype].itemsize
    raw = bytearray(draw(st.binary(min_size=count, max_size=count)))
    if dtype == "bool":
        raw = bytearray(each & 1 for each in raw)
    if not raw:
        return torch.empty(shape, dtype=wire.DTYPES[dtype])
    return torch.frombuffer(raw, dtype=wire.DTYPES[dtype]).reshape(shape)


messages = st.recursive(
    st.one_of(scalars, tensors()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(keys, inner, max_size=4),
    ),
    max_leaves=12,
)


@relaxed
@given(messages)
def test_whatever_is_sent_arrives_unchanged(value: object) -> None:
    assert same(crossed(value), value)


@relaxed
@given(tensors(), st.randoms(use_true_random=False))
def test_a_view_arrives_as_the_values_that_it_shows(tensor: torch.Tensor, random: Any) -> None:
    order = list(range(tensor.ndim))
    random.shuffle(order)
    view = tensor.permute(order)

    assert same(crossed(view), view.contiguous())


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.arange(12.0).reshape(3, 4)[::2, 1:],
        lambda: torch.ones(1).expand(3, 5),
        lambda: torch.tensor([1 + 2j, 3 - 1j]).conj(),
        lambda: torch.tensor([1 + 2j, 3 - 1j]).conj().imag,
        lambda: torch.tensor([[1 + 2j, 3 - 1j]]).mH,
        lambda: torch.ones(2, requires_grad=True) * 3,
        lambda: torch.tensor(-0.0),
        lambda: torch.empty(0, 3),
        lambda: torch.tensor([math.nan, math.inf, -math.inf]),
    ],
    ids=[
        "slice",
        "expanded",
        "conj",
        "neg",
        "adjoint",
        "grad",
        "minus_zero",
        "empty",
        "not_finite",
    ],
)
def test_a_tensor_arrives_dense_and_detached(make: Callable[[], torch.Tensor]) -> None:
    arrived = crossed(make())

    assert arrived.is_contiguous()
    assert not arrived.requires_grad
    assert not arrived.is_conj()
    assert not arrived.is_neg()
    assert torch.equal(torch.nan_to_num(arrived), torch.nan_to_num(make().detach().resolve_conj()))


def test_a_parameter_arrives_as_a_tensor() -> None:
    arrived = crossed(torch.nn.Parameter(torch.tensor([1.0, 2.0])))

    assert type(arrived) is torch.Tensor
    assert arrived.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "value", [numpy.float32(2.5), numpy.float64(2.5), numpy.array(2.5), numpy.float16(2.5)]
)
def test_a_numpy_number_arrives_as_a_0_d_tensor(value: object) -> None:
    arrived = crossed(value)

    assert arrived.ndim == 0
    assert arrived.item() == 2.5


def test_a_reversed_numpy_array_arrives_in_its_order() -> None:
    assert crossed(numpy.arange(3)[::-1]).tolist() == [2, 1, 0]


def test_a_number_in_a_conjugated_view_is_the_one_that_is_seen() -> None:
    assert crossed(torch.tensor([1 + 2j]).conj()).tolist() == [1 - 2j]


@pytest.mark.parametrize(
    "value", [wire.Handle(3, 7), wire.Ref("f"), wire.Foreign("T"), wire.Oversized("bool", (9, 0))]
)
def test_a_stand_in_crosses_as_itself(value: object) -> None:
    assert crossed(value) == value


class _Sneaky(torch.Tensor):
    pass


class _Int(int):
    pass


class _Str(str):
    __slots__ = ()


class _List(list[int]):
    pass


@pytest.mark.parametrize(
    "value",
    [
        torch.ones(2).as_subclass(_Sneaky),
        torch.nn.UninitializedParameter(),
        _Int(3),
        _Str("s"),
        _List([1]),
        object(),
        print,
        iter([1]),
        b"bytes",
        {1, 2},
        {(1, 2): 3},
        {2**64: 3},
        {torch.float32: 3},
        2**63,
        torch.ones(2).to_sparse(),
        torch.ones(2, device="meta"),
        numpy.array(["text"]),
        numpy.array([object()]),
        numpy.array([1], dtype="uint32"),
        numpy.uint64(3),
        numpy.longdouble(1),
        numpy.ma.masked_array([1.0], mask=[True]),
    ],
    ids=[
        "tensor_subclass",
        "uninitialised",
        "int_subclass",
        "str_subclass",
        "list_subclass",
        "object",
        "function",
        "iterator",
        "bytes",
        "set",
        "tuple_keys",
        "large_keys",
        "dtype_keys",
        "large_int",
        "sparse",
        "meta",
        "text",
        "objects",
        "uint32",
        "uint64",
        "longdouble",
        "masked",
    ],
)
def test_only_plain_data_crosses_and_the_rest_is_named(value: object) -> None:
    arrived = crossed(value)

    assert type(arrived) is wire.Foreign
    assert arrived.type


def test_a_list_that_holds_itself_has_no_frame() -> None:
    endless: list[object] = []
    endless.append(endless)

    with pytest.raises(wire.Unsendable, match="nested too deeply"):
        wire.pack({"value": endless})


# --- caps of the sender ----------------------------------------------------------------------


def test_a_tensor_beyond_the_allowance_is_described_instead_of_sent() -> None:
    frame = wire.pack({"value": torch.zeros(1 << 20)}, body_limit=4096)

    assert opened(frame) == {"value": wire.Oversized("float32", (1 << 20,))}
    assert len(frame) < 200


def test_the_allowance_holds_for_all_tensors_of_a_message_together() -> None:
    frame = wire.pack({"a": torch.zeros(600), "b": torch.zeros(600)}, body_limit=4096)

    message = opened(frame)
    assert isinstance(message["a"], torch.Tensor)
    assert message["b"] == wire.Oversized("float32", (600,))


def test_an_expanded_tensor_is_never_written_out() -> None:
    huge = torch.zeros(1).expand(1 << 40)

    assert crossed(huge) == wire.Oversized("float32", (1 << 40,))


def test_more_than_eight_dimensions_are_described() -> None:
    arrived = crossed(torch.zeros([1] * 9))

    assert arrived == wire.Oversized("float32", (1,) * 8)


def test_too_many_tensors_have_no_frame() -> None:
    many = [torch.zeros(1)] * (wire.ARRAY_LIMIT + 1)

    with pytest.raises(wire.Unsendable, match="too many tensors"):
        wire.pack({"value": many})


def test_a_header_beyond_its_cap_has_no_frame() -> None:
    with pytest.raises(wire.Unsendable, match="header of"):
        wire.pack({"value": list(range(40_000))})


def test_a_long_string_is_cut() -> None:
    seen = str(crossed("a" * 25_000 + "b" * 25_000))

    assert len(seen) <= wire.STRING_LIMIT
    assert seen.startswith("aaaa")
    assert seen.endswith("bbbb")
    left_out = re.search(r" \[\.\.\. (\d+) characters left out \.\.\.\] ", seen)
    assert left_out is not None
    assert int(left_out[1]) == 50_000 - (len(seen) - len(left_out[0]))


# --- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "body"),
    [(0, 0), (wire.HEADER_LIMIT + 1, 0), (2**32 - 1, 0), (10, 4097), (10, 2**32 - 1)],
)
def test_announced_sizes_beyond_the_caps_are_garbled(header: int, body: int) -> None:
    with pytest.raises(wire.Garbled, match="announces"):
        wire.sizes(wire.PREFIX.pack(header, body), body_limit=4096)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff",
        "é".encode(),
        b'{"m": null}',
        b'{"m": ["d"], "a": [], "z": 1}',
        b'{"m": null, "a": []}',
        b'{"m": ["l"], "a": []}',
        b'{"m": ["d"], "a": {}}',
        b'{"m": ["d", ["x", NaN]], "a": []}',
        b'{"m": ["d", ["x", Infinity]], "a": []}',
        b'{"m": ["d", ["x", 1e999]], "a": []}',
        b'{"m": ["d", ["x", 9223372036854775808]], "a": []}',
        b'{"m": ["d", ["x", ' + b"9" * 5000 + b']], "a": []}',
        b'{"m": ' + b"[" * 30_000 + b"]" * 30_000 + b', "a": []}',
        b'{"m": ' + b'["l",' * 40 + b"1" + b"]" * 40 + b', "a": []}',
    ],
    ids=range(18),
)
def test_a_header_outside_the_grammar_is_garbled(header: bytes) -> None:
    with pytest.raises(wire.Garbled):
        wire.unpack(header, b"")


@pytest.mark.parametrize(
    "node",
    [
        [],
        {},
        ["z"],
        ["f", "1"],
        ["f", "nan", 1],
        ["c", 1, 2],
        ["c", 1.0],
        ["d", ["key"]],
        ["d", [["l"], 1]],
        ["d", [["x", "T"], 1]],
        ["a", 0],
        ["a", -1],
        ["a", True],
        ["a", 0.0],
        ["h", 1],
        ["h", True, 1],
        ["h", 1, "2"],
        ["r", 1],
        ["x", None],
        ["o", "float32", [True]],
        ["o", "float32", [-1]],
        ["o", "float128", [1]],
        ["o", "float32", [1] * 9],
    ],
    ids=json.dumps,
)
def test_a_node_outside_the_grammar_is_garbled(node: object) -> None:
    with pytest.raises(wire.Garbled):
        a_value_of(node)


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        (["float32"], b""),
        (["float32", [1], 0], bytes(4)),
        (["float33", [1]], bytes(4)),
        (["float32", 1], bytes(4)),
        (["float32", [1.0]], bytes(4)),
        (["float32", [True]], bytes(4)),
        (["float32", ["1"]], bytes(4)),
        (["float32", [-1]], b""),
        (["float32", [1]], bytes(3)),
        (["float32", [1]], bytes(5)),
        (["float32", [0]], bytes(4)),
        (["float32", [0, 2**40]], b""),
        (["float32", [0, 2**28, 2**28]], b""),
        (["float32", [2**28, 2**28]], b""),
        (["float32", [1] * 9], bytes(4)),
        (["complex128", [1]], bytes(8)),
    ],
)
def test_an_array_that_is_not_as_declared_is_garbled(declared: object, body: bytes) -> None:
    with pytest.raises(wire.Garbled):
        a_value_of(["a", 0], [declared], body)


def test_more_arrays_than_the_cap_are_garbled() -> None:
    with pytest.raises(wire.Garbled):
        a_value_of(None, [["bool", [0]]] * (wire.ARRAY_LIMIT + 1))


def test_the_bytes_of_a_bool_tensor_become_0_or_1() -> None:
    arrived = a_value_of(["a", 0], [["bool", [4]]], bytes([0, 1, 2, 255]))

    assert isinstance(arrived, torch.Tensor)
    assert arrived.view(torch.uint8).tolist() == [0, 1, 1, 1]


def test_a_tensor_shares_no_memory_with_the_frame() -> None:
    body = bytearray(4)
    arrived = a_value_of(["a", 0], [["float32", [1]]], body)

    body[:] = b"\xff\xff\xff\xff"
    assert isinstance(arrived, torch.Tensor)
    assert arrived.tolist() == [0.0]


# --- garbage ------------------------------------------------------------------------------------


def taken(frame: bytes) -> bool:
    """Whether the bytes were a frame; any exception but `Garbled` fails the test."""
    if len(frame) < wire.PREFIX.size:
        return False
    try:
        opened(frame, body_limit=1 << 16)
    except wire.Garbled:
        return False
    return True


@settings(relaxed, max_examples=300)
@given(st.binary(max_size=300))
def test_garbage_is_garbled_and_nothing_else(garbage: bytes) -> None:
    with pytest.raises(wire.Garbled):
        wire.unpack(garbage, b"")


json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(["l", "t", "d", "a", "f", "c", "h", "r", "x", "o", "nan", "float32"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(st.sampled_from("mad"), inner, max_size=2)
    ),
    max_leaves=20,
)


@settings(relaxed, max_examples=300)
@given(json_values, json_values, st.binary(max_size=16))
def test_any_json_in_a_header_is_a_message_or_garbled(
    message: object, arrays: object, body: bytes
) -> None:
    header = a_header(["d", ["value", message]], arrays)

    taken(wire.PREFIX.pack(len(header), len(body)) + header + body)


@settings(relaxed, max_examples=300)
@given(
    messages,
    st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), min_size=1, max_size=4),
    st.integers(-3, 3),
)
def test_a_damaged_frame_is_a_message_or_garbled(
    value: object, damage: list[tuple[int, int]], cut: int
) -> None:
    frame = bytearray(wire.pack({"value": value}))
    for place, byte in damage:
        frame[place % len(frame)] = byte

    taken(bytes(frame[:cut] if cut < 0 else frame + bytes(cut)))


def test_a_small_frame_cannot_ask_for_much_memory() -> None:
    declared = [["float64", [0, 1 << 28]]] * wire.ARRAY_LIMIT
    header = a_header(["d", ["value", ["l", *([["a", 0]] * 5000)]]], declared)
    tracemalloc.start()

    wire.unpack(header, b"")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(header) <= wire.HEADER_LIMIT
    assert peak < 32 << 20
