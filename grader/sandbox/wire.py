"""Frames between judge and worker: a JSON header and raw buffers, strictly checked.

A frame is `>II` (header bytes, body bytes), the header, the body. The header is
`{"m": node, "a": [[dtype, dims], …]}`: the message as a tree of tagged JSON, and what the
body's buffers are, one after the other. Nothing is ever unpickled; whatever does not fit the
grammar to the letter is `Garbled`. Both sides use this module, and it imports nothing else of
the package, because it is loaded into the worker.

Nodes: null, booleans, strings, 64-bit integers and finite floats stand for themselves;
`["f", "nan"|"inf"|"-inf"]`, `["c", re, im]`, `["l", …]`, `["t", …]`, `["d", [key, value], …]`,
`["a", index]` (a tensor), `["h", generation, id]`, `["r", name]`, `["x", type]`,
`["o", dtype, dims]`.
"""

import json
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy
import torch

PREFIX = struct.Struct(">II")
HEADER_LIMIT = 64 * 1024
# What the judge asks is trusted and never shortened, so it may be longer than an answer.
REQUEST_HEADER_LIMIT = 4 * 1024 * 1024
BODY_LIMIT = 256 * 1024 * 1024
ARRAY_LIMIT = 256
NDIM_LIMIT = 8
DEPTH_LIMIT = 32
# Of a string in an answer, in characters; what is left out of it is marked.
STRING_LIMIT = 8 * 1024
# Room for the mark that stands in place of what was left out.
_MARK = 48
# What `input()` raises in a worker; the judge knows the sentence and says it in two languages.
NO_INPUT = "input() has nobody to ask while a submission is graded"
INT64 = range(-(2**63), 2**63)

DTYPES: dict[str, torch.dtype] = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.bool,
        torch.uint8,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.float64,
        torch.complex64,
        torch.complex128,
    )
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}


class Garbled(Exception):
    """The bytes are not a frame of this protocol."""


class Unsendable(Exception):
    """The message has no frame, or none within the caps."""


@dataclass(frozen=True, slots=True)
class Handle:
    """An object that stays in the worker; void once that worker generation is gone."""

    generation: int
    id: int


@dataclass(frozen=True, slots=True)
class Ref:
    """A function inside the worker, by its name in the submission."""

    name: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """A value that does not cross: only the name of its type does."""

    type: str


@dataclass(frozen=True, slots=True)
class Oversized:
    """A tensor that was not sent because it is larger than any right answer."""

    dtype: str
    shape: tuple[int, ...]


def pack(message: dict[str, object], *, body_limit: int = BODY_LIMIT) -> bytes:
    """The frame of an answer, which is shortened where it must be, and says so.

    A tensor beyond `body_limit` bytes in sum becomes `Oversized`, what is no plain data becomes
    `Foreign`, a long string keeps its head and tail.

    Raises:
        Unsendable: when the header grows past its cap or the tree is too deep.
    """
    return _framed(message, _Packer(body_limit, whole=False), HEADER_LIMIT)


def pack_request(message: dict[str, object]) -> bytes:
    """The frame of a request, to the last character: nothing of it is shortened or replaced.

    Raises:
        Unsendable: when it does not fit the caps, or holds what is no plain data.
    """
    return _framed(message, _Packer(BODY_LIMIT, whole=True), REQUEST_HEADER_LIMIT)


def _framed(message: dict[str, object], packer: "_Packer", header_limit: int) -> bytes:
    try:
        node = packer.node(message, 0)
    except RecursionError as error:
        raise Unsendable("nested too deeply") from error
    header = json.dumps({"m": node, "a": packer.arrays}, allow_nan=False).encode("ascii")
    if len(header) > header_limit:
        raise Unsendable(f"header of {len(header)} bytes")
    return b"".join([PREFIX.pack(len(header), packer.size), header, *packer.buffers])


def sizes(prefix: bytes, *, body_limit: int, header_limit: int = HEADER_LIMIT) -> tuple[int, int]:
    """Header and body length of the frame that begins with `prefix`.

    Raises:
        Garbled: when either is beyond its cap, so that nothing of it need be read.
    """
    header, body = PREFIX.unpack(prefix)
    if not 0 < header <= header_limit or body > body_limit:
        raise Garbled(f"announces {header} + {body} bytes")
    return header, body


def unpack(header: bytes, body: bytes | bytearray | memoryview) -> dict[str, object]:
    """The message of a frame whose two parts have been read.

    Raises:
        Garbled: for anything that `pack` would not have written.
    """
    try:
        raw = json.loads(header.decode("ascii"), parse_constant=_refuse, parse_int=_small_int)
        if type(raw) is not dict or raw.keys() != {"m", "a"}:
            raise Garbled("not a message")
        message = _node(raw["m"], list(_arrays(raw["a"], body)), 0)
    except (ValueError, RecursionError, UnicodeDecodeError) as error:
        raise Garbled("not a header") from error
    if type(message) is not dict:
        raise Garbled("not a message")
    return message


class _Packer:
    """Collects the buffers while the tree is written.

    Args:
        whole: refuse what cannot be sent as it is, instead of sending what can be said of it.
    """

    def __init__(self, body_limit: int, *, whole: bool) -> None:
        self.body_limit = body_limit
        self.whole = whole
        self.arrays: list[list[object]] = []
        self.buffers: list[bytes] = []
        self.size = 0

    def node(self, value: object, depth: int) -> object:
        # Exact types only: a subclass may answer any question about itself wrongly.
        kind = type(value)
        if depth > DEPTH_LIMIT:
            raise Unsendable("nested too deeply")
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if value in INT64 else self._foreign("integer beyond 64 bits")
        if kind is str:
            return value if self.whole else shortened(str(value))
        if kind is float:
            return value if math.isfinite(value) else ["f", repr(value)]  # type: ignore[arg-type]
        return self._compound(value, depth)

    def _compound(self, value: object, depth: int) -> object:
        match value:
            case complex() if type(value) is complex:
                return ["c", self.node(value.real, depth + 1), self.node(value.imag, depth + 1)]
            case list() | tuple() if type(value) in (list, tuple):
                tag = "l" if type(value) is list else "t"
                return [tag, *(self.node(each, depth + 1) for each in value)]
            case dict() if type(value) is dict and all(map(_is_key, value)):
                pairs = value.items()
                return [
                    "d",
                    *([self.node(k, depth + 1), self.node(v, depth + 1)] for k, v in pairs),
                ]
            case Handle():
                return ["h", value.generation, value.id]
            case Ref():
                return ["r", value.name]
            case Foreign():
                return ["x", value.type[:200]]
            case Oversized():
                return ["o", value.dtype, list(value.shape)]
        tensor = plain_tensor(value)
        return self._foreign(type_name(value)) if tensor is None else self._array(tensor)

    def _foreign(self, name: str) -> object:
        if self.whole:
            raise Unsendable(f"{name} is no plain data")
        return ["x", name[:200]]

    def _array(self, tensor: torch.Tensor) -> object:
        name, dims = DTYPE_NAMES[tensor.dtype], list(tensor.shape)
        count = tensor.numel() * tensor.element_size()
        if self.size + count > self.body_limit or tensor.ndim > NDIM_LIMIT:
            if self.whole:
                raise Unsendable(f"a tensor of shape {dims}")
            return ["o", name, dims[:NDIM_LIMIT]]
        if len(self.arrays) >= ARRAY_LIMIT:
            raise Unsendable("too many tensors")
        self.arrays.append([name, dims])
        self.buffers.append(_bytes_of(tensor))
        self.size += count
        return ["a", len(self.arrays) - 1]


def shortened(text: str, limit: int = STRING_LIMIT) -> str:
    """The text, or its head and tail with a mark that says how much is missing between them."""
    if len(text) <= limit:
        return text
    mark = f" [... {len(text) - limit + _MARK} characters left out ...] "
    room = max(0, limit - _MARK)
    tail = room // 3
    return text[: room - tail] + mark + text[len(text) - tail :]


def _is_key(key: object) -> bool:
    """Whether the other side can take it as a key: a dict with other keys crosses by name only."""
    return type(key) in (str, bool, float, type(None)) or (type(key) is int and key in INT64)


def plain_tensor(value: object) -> torch.Tensor | None:
    """`value` as a dense tensor in main memory, or None when it is no tensor or array.

    Tensors, parameters and numpy arrays and numbers count; subclasses of tensors do not:
    what they show of themselves is theirs to choose.
    """
    if isinstance(value, numpy.ndarray | numpy.generic) and type(value).__module__ == "numpy":
        try:
            converted = torch.from_numpy(numpy.array(value, copy=True))
        except (TypeError, ValueError):
            return None
        # uint16 to uint64 exist in some versions of torch only, and none can compute with them.
        return converted if converted.dtype in DTYPE_NAMES else None
    if type(value) not in (torch.Tensor, torch.nn.Parameter):
        return None
    assert isinstance(value, torch.Tensor)  # for mypy; the line above decides
    if value.layout != torch.strided or value.dtype not in DTYPE_NAMES or value.is_meta:
        return None
    # A lazily conjugated or negated view holds other bytes than it shows.
    return value.detach().cpu().resolve_conj().resolve_neg()


def type_name(value: object) -> str:
    """The name of a value's type, for people."""
    kind = type(value)
    name = str(kind.__qualname__)
    return name if kind.__module__ in ("builtins", "torch") else f"{kind.__module__}.{name}"


def _bytes_of(tensor: torch.Tensor) -> bytes:
    if tensor.numel() == 0:
        return b""
    flat = tensor.contiguous().reshape(-1).view(torch.uint8)
    return flat.numpy().tobytes()


def _refuse(constant: str) -> object:
    raise Garbled(f"{constant} in the header")


def _small_int(digits: str) -> int:
    if len(digits) > 20 or int(digits) not in INT64:
        raise Garbled("an integer beyond 64 bits")
    return int(digits)


def _arrays(declared: object, body: bytes | bytearray | memoryview) -> Iterator[torch.Tensor]:
    if type(declared) is not list or len(declared) > ARRAY_LIMIT:
        raise Garbled("arrays")
    start = 0
    for each in declared:
        dtype, shape, count = _declared(each)
        end = start + count
        if end > len(body):
            raise Garbled("buffers shorter than declared")
        yield _tensor(bytearray(body[start:end]), dtype, shape)
        start = end
    if start != len(body):
        raise Garbled("surplus bytes in the body")


def _declared(each: object) -> tuple[torch.dtype, tuple[int, ...], int]:
    match each:
        case [str(name), list(dims)] if name in DTYPES and len(dims) <= NDIM_LIMIT:
            shape = _shape(dims)
            dtype = DTYPES[name]
            return dtype, shape, math.prod(shape) * dtype.itemsize
    raise Garbled("an array's declaration")


def _shape(dims: list[object]) -> tuple[int, ...]:
    # `True` is an int to Python; here a dimension is an int and nothing else. The bound keeps
    # products of many dimensions (also beside a 0) far from overflow in torch.
    if any(type(dim) is not int or not 0 <= dim <= BODY_LIMIT for dim in dims):
        raise Garbled("dimensions")
    sizes_ = [int(str(dim)) for dim in dims]
    if math.prod(dim for dim in sizes_ if dim) > BODY_LIMIT:
        raise Garbled("dimensions")
    return tuple(sizes_)


def _tensor(buffer: bytearray, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    if not buffer:
        return torch.empty(shape, dtype=dtype)
    if dtype == torch.bool:
        # Any byte but 0 and 1 in a bool tensor is undefined behaviour further on.
        return torch.frombuffer(buffer, dtype=torch.uint8).ne(0).reshape(shape)
    return torch.frombuffer(buffer, dtype=dtype).reshape(shape)


def _node(node: object, arrays: list[torch.Tensor], depth: int) -> object:
    if depth > DEPTH_LIMIT:
        raise Garbled("nested too deeply")
    if node is None or type(node) in (bool, int, float, str):
        if type(node) is float and not math.isfinite(node):
            raise Garbled("1e999 in the header")
        return node
    match node:
        case ["l", *items]:
            return [_node(each, arrays, depth + 1) for each in items]
        case ["t", *items]:
            return tuple(_node(each, arrays, depth + 1) for each in items)
        case ["d", *pairs]:
            return dict(_pair(pair, arrays, depth + 1) for pair in pairs)
        case ["a", int(index)] if type(index) is int and 0 <= index < len(arrays):
            return arrays[index]
        case ["f", "nan" | "inf" | "-inf" as name]:
            return float(name)
        case ["c", re, im]:
            return _complex(_node(re, arrays, depth + 1), _node(im, arrays, depth + 1))
        case ["h", int(generation), int(id_)] if type(generation) is int and type(id_) is int:
            return Handle(generation, id_)
        case ["r", str(name)]:
            return Ref(name)
        case ["x", str(name)]:
            return Foreign(name[:200])
        case ["o", str(dtype), list(dims)] if dtype in DTYPES and len(dims) <= NDIM_LIMIT:
            return Oversized(dtype, _outline(dims))
    raise Garbled("a node")


def _pair(pair: object, arrays: list[torch.Tensor], depth: int) -> tuple[object, object]:
    match pair:
        case [key, value]:
            decoded = _node(key, arrays, depth)
            if type(decoded) not in (str, int, bool, float, type(None)):
                raise Garbled("a key")
            return decoded, _node(value, arrays, depth)
    raise Garbled("a pair")


def _complex(re: object, im: object) -> complex:
    if type(re) is not float or type(im) is not float:
        raise Garbled("a complex number")
    return complex(re, im)


def _outline(dims: list[object]) -> tuple[int, ...]:
    if any(type(dim) is not int or dim < 0 for dim in dims):
        raise Garbled("dimensions")
    return tuple(int(str(dim)) for dim in dims)
