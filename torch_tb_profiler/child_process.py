"""The one way in which this program starts another process of its own.

Python looks for modules in the working folder (``-m``, ``-c``, an empty entry of ``PYTHONPATH``) and beside the script that runs:
folders that may be full of recordings, and of whatever else lies there. A child looks into none of these::

    sys.path of this process          of its child
      ''  (notebook, python -c)         -
      /runs  (working folder, -m)       -
      /runs  (script /runs/view.py)     -
      /usr/lib/python3.12               /usr/lib/python3.12
      /venv/site-packages               /venv/site-packages
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

OWN_PROCESSES = {"OPENBLAS_NUM_THREADS": "1", "NUMPY_MADVISE_HUGEPAGE": "0"}
"""Environment of processes of our own: starting threads for linear algebra, which we do none of, takes half of the
processor time of ``import numpy``, 0.1 s on two cores; and to find memory for large pages takes the kernel longer than
the small ones (measured: 2.0 against 0.6 of 10 s for the insight of five million events).
"""
_PACKAGE = __package__ or "torch_tb_profiler"
_HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
"""The folder in which the package lies: the child is to import this one, wherever it lies."""


def start(
    function: str,
    *arguments: Any,
    environment: Mapping[str, str] | None = None,
    niceness: int = 0,
    **options: Any,
) -> subprocess.Popen[bytes]:
    """Start a Python process that calls a function of this package and ends with what it returns.

    Args:
        function: ``"room.module:function"``, below this package.
        arguments: plain values that ``ascii`` writes as Python reads them: texts, numbers, lists.
        environment: variables besides those of this process.
        niceness: how far the child gives way to other processes; none on Windows.
        options: of ``subprocess.Popen``: its pipes, its working folder.

    Raises:
        OSError: there is no room for another process.
    """
    import subprocess

    module, name = function.split(":")
    code = (
        f"import sys; sys.path[:] = {module_folders()!a}; "
        + (f"import os; getattr(os, 'nice', int)({niceness}); " if niceness else "")
        + f"from {_PACKAGE}.{module} import {name}; sys.exit({name}(*{arguments!a}))"
    )
    # Isolated (-I): no variable of Python is heeded, no folder is put in front, and what Python itself imports before the
    # first statement runs comes from its own library. What the variables said of texts and compiled files is said anew.
    flags = ["-I", "-X", f"utf8={sys.flags.utf8_mode}"]
    if sys.pycache_prefix:
        flags += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    if sys.dont_write_bytecode:
        flags.append("-B")
    variables = {**OWN_PROCESSES, **os.environ, **(environment or {})}
    variables.pop("PYTHONPATH", None)
    return subprocess.Popen([sys.executable, *flags, "-c", code], env=variables, **options)


def module_folders() -> list[str]:
    """``sys.path`` without the working folder, the folder of the script that runs, and relative ones."""
    unsafe = set()
    with contextlib.suppress(OSError):
        unsafe.add(os.path.realpath(os.getcwd()))
    main = sys.modules.get("__main__")
    # A module that is run by -m lies where modules are found; a script does not.
    if getattr(main, "__spec__", None) is None and (script := getattr(main, "__file__", None)):
        unsafe.add(os.path.dirname(os.path.realpath(script)))
    unsafe.discard(_HERE)
    found = [
        folder
        for folder in sys.path
        if isinstance(folder, str)
        and os.path.isabs(folder)
        and os.path.realpath(folder) not in unsafe
    ]
    return found if _HERE in map(os.path.realpath, found) else [*found, _HERE]
