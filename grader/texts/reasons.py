"""Why the system refused a file, in words of both languages."""

import errno
from typing import Final

from grader.model import Text
from grader.texts import catalog

_KNOWN: Final = {
    errno.ENOENT: "absent",
    errno.EACCES: "denied",
    errno.EPERM: "not_permitted",
    errno.EISDIR: "folder",
    errno.ENOTDIR: "no_folder",
    errno.EEXIST: "exists",
    errno.ENAMETOOLONG: "name_too_long",
    errno.ENOSPC: "full",
    errno.EROFS: "read_only",
    errno.ELOOP: "links",
    errno.EINVAL: "invalid",
    errno.EIO: "damaged",
    errno.ETXTBSY: "busy",
    errno.EBUSY: "busy",
    errno.ECONNREFUSED: "refused",
}


def why(error: Exception) -> Text:
    """The reason of an `OSError`; of one that is not known, the system's own words."""
    code = _KNOWN.get(getattr(error, "errno", None) or 0)
    if code is not None:
        return catalog.text(f"os.{code}")
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return Text(code="os.other", en=words, zh=words)
