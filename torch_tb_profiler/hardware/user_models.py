"""The user's performance models: the Python file in the setting ``models``, or registered functions.

::

    # models.py, with TORCH_TB_PROFILER_MODELS=models.py
    from torch_tb_profiler import register_model
    from torch_tb_profiler.api.models import Work

    @register_model("attention", "my::paged_attention", source="2·B·H·N·(d_qk + d_v)")
    def paged_attention(call):
        q, k = call.tensor(0), call.tensor(1)
        sizes = {"B": q.shape[0]}
        return Work(flops=..., bytes=..., unit="matrix", precision="bf16", parameters=sizes)
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import traceback
from functools import lru_cache, partial
from pathlib import Path
from types import CodeType

from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.hardware.work import users

_MODULE = "torch_tb_profiler_user_models"


@lru_cache(maxsize=8)
def load(path: str) -> None:
    """Run the file, once per process, which registers its models; nothing if the path is empty.

    Raises:
        BadRequest: it is missing or raised an error; the message names the line.
    """
    if not path:
        return
    spec = importlib.util.spec_from_file_location(_MODULE, path)
    if spec is None or spec.loader is None:
        raise BadRequest(
            f"The models file {Path(path).name} is not a Python file.",
            "TORCH_TB_PROFILER_MODELS takes the path of a .py file.",
        )
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the user's own program may raise anything
        message = (
            f"The models file {Path(path).name} could not be used: {_words(error, spec.origin)}"
        )
        raise BadRequest(message, "Correct the file of TORCH_TB_PROFILER_MODELS.") from error


@lru_cache(maxsize=8)
def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return f"unreadable {path}"


def version(path: str) -> str:
    """Distinguishes the user's models by file content and registered code; empty without any."""
    own = {
        name: _code(function)
        for name, function in users().items()
        if getattr(function, "__module__", "") != _MODULE
    }
    code = (
        hashlib.sha256(b"".join(name.encode() + own[name] for name in sorted(own))).hexdigest()
        if own
        else ""
    )
    return (_digest(path) if path else "") + code


def _code(function: object) -> bytes:
    """The code of a function, partial or callable object; its name if it has none."""
    bound = b""
    while isinstance(function, partial):
        bound += repr((function.args, function.keywords)).encode()
        function = function.func
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return bound + (
        marshal.dumps(code)
        if isinstance(code, CodeType)
        else str(getattr(function, "__qualname__", type(function))).encode()
    )


def _words(error: BaseException, file: str | None) -> str:
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == file
    ]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    location = f"line {lines[-1]}: " if lines and lines[-1] is not None else ""
    return f"{location}{type(error).__name__}: {error}"
