"""Compiles ``torch_tb_profiler/native/*.c``, where a compiler is to be had.

The system's compiler is taken if it links a test file, else zig's, which comes as a Python package into the build environment on
the platforms that have one, else none: the package is then pure Python, and slower.

Environment:
    ``TORCH_TB_PROFILER_SKIP_NATIVE=1``: never compile.
    ``CC``: the compiler that is asked first.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "torch_tb_profiler" / "native"
FILE = "_native.compiled" + {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
SKIP = "TORCH_TB_PROFILER_SKIP_NATIVE"
ZIG = "ziglang>=0.15,<1"
ZIG_PLATFORMS = {
    *(("linux", machine) for machine in ("x86_64", "aarch64")),
    *(("darwin", machine) for machine in ("x86_64", "arm64")),
    *(("win32", machine) for machine in ("AMD64", "ARM64")),
}
FLAGS = ("-std=c11", "-O3", "-g0", "-shared", "-fPIC", "-fvisibility=hidden")
_TEST = '#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\nint32_t test(void) { return (int32_t)strlen(getenv("PATH")); }\n'


def requirements() -> list[str]:
    """What the build environment needs so that a compiler is there."""
    wanted = not skipped() and _system() is None
    return [ZIG] if wanted and (sys.platform, platform.machine()) in ZIG_PLATFORMS else []


def skipped() -> bool:
    """Whether nothing is to be compiled."""
    return os.environ.get(SKIP, "").strip().lower() not in ("", "0", "false", "no", "off")


def ensure_library() -> str:
    """Compile the library into the package, or leave none there, also not what an earlier build left; the platform of a wheel
    that carries it, ``any`` if there is none.
    """
    built = ROOT / "build"
    for old in (
        *FOLDER.glob("_native.*"),
        *built.glob(f"*/{FOLDER.parent.name}/{FOLDER.name}/_native.*"),
    ):
        old.unlink()
    compiler = None if skipped() else _system() or _zig()
    if compiler is None:
        why = f"{SKIP} is set" if skipped() else "there is no compiler"
        print(f"native: {why}: pure Python", file=sys.stderr)
        return "any"
    problem = compiled(compiler, FOLDER / FILE) or _loads(FOLDER / FILE)
    if problem:
        (FOLDER / FILE).unlink(missing_ok=True)
        print(f"native: {problem}: pure Python", file=sys.stderr)
        return "any"
    return _platform()


def compiled(compiler: Sequence[str], target: Path, more: Iterable[str] = ()) -> str:
    """Compile the library with a command and further arguments into a file; what the command says if it failed."""
    sources = sorted(FOLDER.glob("*.c"))
    # As library.py takes it.
    digest = hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    command = [*compiler, *FLAGS, *more, f'-DNATIVE_SOURCE="{digest}"', "-o", str(target)]
    print("native:", shlex.join(command), file=sys.stderr)
    return _failure([*command, *map(str, sources)])


def _system() -> list[str] | None:
    """The system's compiler. A compiler without headers or linker is none."""
    if sys.platform == "win32":
        return None
    for command in map(shlex.split, (os.environ.get("CC", ""), "cc", "gcc", "clang")):
        if not command or not shutil.which(command[0]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "test.c")
            source.write_text(_TEST, encoding="utf-8")
            library = Path(folder, FILE)
            if not _failure([*command, *FLAGS, "-o", str(library), str(source)]) and not _loads(
                library
            ):
                return command
    return None


def _zig() -> list[str] | None:
    return [sys.executable, "-m", "ziglang", "cc"] if importlib.util.find_spec("ziglang") else None


def _failure(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return f"{command[0]} failed: {done.stderr[-2000:]}" if done.returncode else ""


def _loads(library: Path) -> str:
    """Why this Python cannot load a library; empty if it can. Asked in a process of its own, as Windows keeps what is loaded."""
    return _failure(
        [sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", str(library)]
    )


def _platform() -> str:
    """As in the name of a wheel. A Python for two kinds of processors has a library for its own."""
    if sys.platform == "darwin":
        return f"macosx_11_0_{platform.machine()}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
