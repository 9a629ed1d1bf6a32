"""Which libraries a submission finds where it is graded; found out without importing any."""

import importlib.util
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import metadata
from typing import Final

# What courses on PyTorch use; a report says which of them there were.
USUAL: Final = (
    "datasets",
    "einops",
    "ipython",
    "jaxtyping",
    "lightning",
    "matplotlib",
    "networkx",
    "numpy",
    "opencv-python",
    "pandas",
    "pillow",
    "plotly",
    "requests",
    "scikit-image",
    "scikit-learn",
    "scipy",
    "seaborn",
    "sympy",
    "timm",
    "tokenizers",
    "torchaudio",
    "torchmetrics",
    "torchvision",
    "tqdm",
    "transformers",
)
# Imported by another name than installed.
_INSTALLED_AS: Final = {
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "mpl-toolkits": "matplotlib",
    "pil": "pillow",
    "pylab": "matplotlib",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
# Not asked for: every submission may use it, and a report names it on its own.
_ALWAYS: Final = "torch"


def canonical(name: str) -> str:
    """The name of the distribution, for a distribution or for what is imported from it."""
    plain = re.sub(r"[-_.]+", "-", name).lower()
    return _INSTALLED_AS.get(plain, plain)


@cache
def versions(named: tuple[str, ...] = ()) -> dict[str, str | None]:
    """numpy, the packages that a course names and the usual ones that are installed, by name.

    Args:
        named: by a course; one that is not installed has the version None.
    """
    asked = {canonical(each): version(each) for each in ("numpy", *named)}
    usual = {each: found for each in USUAL if (found := _version(each)) is not None}
    asked.pop(_ALWAYS, None)
    return dict(sorted((usual | asked).items()))


def version(name: str) -> str | None:
    """The version of a package by either of its names; `unknown` for a mere module."""
    found = _version(canonical(name))
    if found is None and is_importable(name):
        others = (_version(each) for each in _distributions().get(name, ()))
        found = next((each for each in others if each is not None), "unknown")
    return found


def unlisted(imported: Iterable[str], named: Sequence[str]) -> tuple[str, ...]:
    """The modules that are installed here, and that no package of a course's list brings."""
    listed = {_ALWAYS, *map(canonical, named)}
    candidates = [
        each for each in imported if canonical(each) not in listed and is_importable(each)
    ]
    if not candidates:
        # To know what every distribution brings takes longer than all the rest.
        return ()
    brought = _distributions()
    return tuple(
        each for each in candidates if listed.isdisjoint(map(canonical, brought.get(each, ())))
    )


def is_importable(module: str) -> bool:
    """Whether a top-level module can be found; it is not imported."""
    try:
        return module.isidentifier() and importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())
