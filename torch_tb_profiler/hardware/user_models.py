"""Performance models of the user's own: a Python file named by the setting ``models``, or functions
registered in this process.

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
    """Run the file, which registers its models; once per process. Nothing where the path is empty.

    Raises:
        BadRequest: it is not there or raised something; the message names the line.
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
        told = f"The models file {Path(path).name} could not be used: {_words(error, spec.origin)}"
        raise BadRequest(told, "Correct the file of TORCH_TB_PROFILER_MODELS.") from error


@lru_cache(maxsize=8)
def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return f"unreadable {path}"


def version(path: str) -> str:
    """Tells apart models of users: by the content of the file as it was first seen, and by the code
    of what was registered in this process.

    Empty where there are none.
    """
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
    """The program of a function, of a partial one's with its arguments, or of an object that can be
    called; its name where it has none.
    """
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
    place = f"line {lines[-1]}: " if lines and lines[-1] is not None else ""
    return f"{place}{type(error).__name__}: {error}"
