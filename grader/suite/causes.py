"""What an exception's type and words say about its cause, for whoever has to mend it.

Both are claims of a worker: they choose a sentence, never a point.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Final

from grader.claims import clean
from grader.model import Json, Raised
from grader.sandbox.wire import NO_INPUT

_MODULE = re.compile(r"No module named '([^']{1,200})'")
_NAME = re.compile(r"name '(\w{1,100})' is not defined")
_FILE = re.compile(r"No such file or directory: b?(['\"])(.{1,300}?)\1", re.DOTALL)
# In this order: what a sentence can say most about comes first. A message that is not anchored
# may be a library's own words about the same thing.
_BY_MESSAGE: Final = tuple(
    (kind, re.compile(words))
    for kind, words in (
        ("cuda", r"not compiled with (?:CUDA|XPU|HIP)|No (?:CUDA|HIP) GPUs|Found no NVIDIA driver"),
        ("cuda", r"not linked with support for mps|MPS backend|'MPS' backend|'CUDA' backend"),
        ("cuda", r"CUDA driver initialization|Attempting to deserialize object on a CUDA device"),
        ("cuda", r"start of device string: \w*(?:gpu|cuda|cudda)"),
        ("memory", r"can't allocate memory"),
        ("devices", r"to be on the same device|is not on the expected device|device type mismatch"),
        ("leaf", r"leaf Variable that requires grad|modified by an inplace operation"),
        ("dtypes", r"expected scalar type \w+ but found"),
        ("dtypes", r"must have the same dtype|to have (?:the )?same dtype"),
        ("dtypes", r"expected self and source to have same dtypes"),
        ("shapes", r"must have same number of dimensions|must match the (?:existing )?size"),
        ("shapes", r"shapes cannot be multiplied|expects each tensor to be equal size"),
        ("shapes", r"Sizes of tensors must match|could not be broadcast|not broadcastable"),
        ("network", r"urlopen error|Max retries exceeded|getaddrinfo|[Nn]ame resolution"),
        ("network", r"Network is unreachable|Name or service not known|couldn't connect to"),
        ("missing_file", r"No such file or directory"),
        ("sandbox", r"^\[Errno (?:1|13|30)\]|Operation not permitted|Read-only file system"),
        ("sandbox", r"can't start new thread"),
    )
)
_BY_TYPE: Final = {
    "ModuleNotFoundError": "absent_module",
    "ImportError": "import_error",
    "FileNotFoundError": "missing_file",
    "MemoryError": "memory",
    "RecursionError": "recursion",
    "SystemExit": "exit",
    "KeyboardInterrupt": "interrupt",
    "NotADirectoryError": "missing_file",
    "PermissionError": "sandbox",
    "URLError": "network",
    "gaierror": "network",
    "ConnectionError": "network",
    "ConnectionRefusedError": "network",
}
# The kind of the problem and its sentence, where a statement of the file met such a cause.
_PROBLEMS: Final = {
    "absent_module": ("import_error", "absent_module"),
    "import_error": ("import_error", "import_error"),
    "memory": ("memory", "memory"),
    "exit": ("exit", "ends"),
    **{each: ("raised", each) for each in ("input", "cuda", "missing_file", "network", "sandbox")},
}
# What belongs to the place where a notebook was written, by what stands in the statement.
_PLATFORMS: Final = tuple(
    (name, re.compile(code))
    for name, code in (
        ("Colab", r"\bgoogle\.colab\b|\bcolab_utils\b"),
        ("Colab", r"\bos\.(?:chdir|listdir|mkdir|makedirs)\([^)]{0,200}[\"']/content\b"),
        ("Kaggle", r"\bkaggle_(?:secrets|datasets)\b|\bkagglehub\b"),
        ("Kaggle", r"\bos\.(?:chdir|listdir|walk)\([^)]{0,200}[\"']/kaggle\b"),
        ("Jupyter", r"\b(?:ipywidgets|IPython|ipykernel|jupyterlab|nest_asyncio|tqdm\.notebook)\b"),
        ("Weights & Biases", r"\bwandb\b"),
        ("Hugging Face", r"\bnotebook_login\b|\bhuggingface_hub\b.{0,200}\blogin\b"),
        ("ngrok", r"\bpyngrok\b"),
    )
)


def kind_of(type_: str, message: str) -> str | None:
    """The cause that sentences are about, or None: the exception then has to speak for itself."""
    if type_ == "EOFError" and message == NO_INPUT:
        return "input"
    if type_ in ("ModuleNotFoundError", "SystemExit", "KeyboardInterrupt", "MemoryError"):
        return _BY_TYPE[type_]
    for kind, pattern in _BY_MESSAGE:
        if pattern.search(message):
            return kind
    return _BY_TYPE.get(type_)


def words(type_: str, message: str) -> dict[str, Json]:
    """The arguments of a sentence about an exception.

    `error` is `type: message`, and the type alone where there is no message; `module`, `name` and
    `file` are what is missing, as far as the message says so.
    """
    told, text = clean(type_, 100), clean(message, 600).strip()
    found: dict[str, Json] = {
        "type": told,
        "message": text,
        "error": f"{told}: {text}" if text else told,
    }
    if (module := _MODULE.search(message)) is not None:
        found["module"] = clean(module[1], 200)
    if (name := _NAME.search(message)) is not None:
        found["name"] = name[1]
    if (file := _FILE.search(message)) is not None:
        found["file"] = clean(file[2], 300)
    return found


def platform(type_: str, message: str, code: str) -> str | None:
    """The platform that a statement is only for, when that is why it failed; else None.

    Args:
        code: the statement.
    """
    kind = kind_of(type_, message)
    module = _MODULE.search(message)
    if kind == "absent_module" and module is not None:
        root = module[1].partition(".")[0]
        lines = [line for line in code.split("\n") if re.search(rf"\b{re.escape(root)}\b", line)]
        # `import wandb, einops` failed for the sake of one of them.
        code = " ".join(re.findall(rf"\b{re.escape(root)}[\w.]*", " ".join(lines)))
    for name, pattern in _PLATFORMS:
        if pattern.search(code):
            needed = kind in ("absent_module", "import_error", "network", "missing_file", "input")
            return name if needed or _is_of(name, type_, message) else None
    return None


def of_statement(
    seen: Raised, code: str, texts: Iterable[str], *, is_assert: bool
) -> tuple[str, str]:
    """What a top-level statement of the file did not get on with: a problem's kind and its text.

    Args:
        code: the statement.
        texts: all that is run of the file.
    """
    if platform(seen.type, seen.message, code) is not None:
        return "platform", "platform"
    kind = kind_of(seen.type, seen.message)
    name = _NAME.search(seen.message) if seen.type == "NameError" else None
    if name is not None and not is_bound(name[1], texts):
        return "raised", "unknown"
    if kind == "absent_module" and _MODULE.search(seen.message) is None:
        kind = "import_error"
    if is_assert and kind is None:
        return "assertion", "assertion"
    return _PROBLEMS.get(kind or "", ("raised", "raised"))


def _is_of(platform: str, type_: str, message: str) -> bool:
    """Whether an exception of no general kind is the platform's own."""
    if platform == "Weights & Biases":
        return type_ in ("UsageError", "CommError", "AuthenticationError")
    return platform == "Jupyter" and "IProgress" in message


def is_bound(name: str, texts: Iterable[str]) -> bool:
    """Whether any of these Python texts may give the name a meaning, anywhere and at any depth."""
    for text in texts:
        if name not in text and "*" not in text:
            continue
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return True
        if any(_binds(node, name) for node in ast.walk(tree)):
            return True
    return False


def _binds(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=seen, ctx=ast.Store()):
            return seen == name
        case ast.FunctionDef(name=seen) | ast.AsyncFunctionDef(name=seen) | ast.ClassDef(name=seen):
            return seen == name
        case ast.alias(name=seen, asname=own):
            return seen == "*" or (own or seen.partition(".")[0]) == name
        case ast.ExceptHandler(name=seen) | ast.MatchAs(name=seen) | ast.MatchStar(name=seen):
            return seen == name
        case ast.MatchMapping(rest=seen):
            return seen == name
    return False


# --- how a function is called ----------------------------------------------------------------

_TAKES = re.compile(
    r"takes (?:from (\d+) to )?(\d+) positional arguments? but (\d+) (?:was|were) given"
)
_UNKNOWN = re.compile(r"got an unexpected keyword argument '(\w+)'")
_LACKING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)$")


def wrong_call(function: str, message: str) -> tuple[str, Mapping[str, Json]] | None:
    """How the parameters differ from those that the task calls with: a code and its arguments."""
    if not re.match(rf"(?:[\w.<>]+\.)?{re.escape(function)}\(\) (?:takes|missing|got)\b", message):
        return None
    if (takes := _TAKES.search(message)) is not None:
        least, most, given = takes.groups()
        return "many", {"takes": f"{least}-{most}" if least else most, "given": given}
    if (unknown := _UNKNOWN.search(message)) is not None:
        return "unknown", {"name": unknown[1]}
    if (lacking := _LACKING.search(message)) is not None:
        return "lacking", {"names": [*re.findall(r"'(\w+)'", lacking[1])]}
    return "other", {}


def no_function(message: str) -> bool:
    """Whether a name that should be a function could not be called at all."""
    return re.fullmatch(r"'[\w.]+' object is not callable", message) is not None
