"""The compiled library, if it is there and may be used.

It was made of the ``*.c`` beside it when the package was installed (``_build/native.py``), and says of
which text of them. Where the text is here and is another, in a checkout that was changed since, the library is not used.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from functools import cache
from pathlib import Path

SWITCH = "TORCH_TB_PROFILER_NATIVE"
"""Environment variable: 0 does without the library."""
FOLDER = Path(__file__).resolve().parent
FILE = FOLDER / (
    "_native.compiled" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
)
_OFF = ("0", "false", "no", "off")


@cache
def library() -> ctypes.CDLL | None:
    """The library; None: everything is done in Python."""
    return _found()[0]


def why_not() -> str:
    """Why the library is not used; empty if it is."""
    return _found()[1]


def source_digest(folder: Path) -> str:
    """Tells apart texts that a library is made of; empty where there are none."""
    sources = sorted(folder.glob("*.c"))
    digest = hashlib.sha256(b"\0".join(source.read_bytes() for source in sources))
    return digest.hexdigest()[:16] if sources else ""


@cache
def _found() -> tuple[ctypes.CDLL | None, str]:
    if os.environ.get(SWITCH, "").strip().lower() in _OFF:
        return None, f"switched off by {SWITCH}"
    if not FILE.is_file():
        return None, "not compiled at installation"
    try:
        loaded = ctypes.CDLL(str(FILE))
        loaded.native_source.restype = ctypes.c_char_p
        made_of = loaded.native_source().decode()
    except (OSError, AttributeError) as error:
        return None, f"cannot be loaded: {error}"
    if (source := source_digest(FOLDER)) and source != made_of:
        return None, "older than its source: install again"
    return loaded, ""
