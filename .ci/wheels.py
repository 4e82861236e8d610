"""``wheels.py PURE_WHEEL``: beside it, the same wheel with a compiled library per target."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import sys
import tempfile
import zipfile
from pathlib import Path

import lief

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "_build"))
import native

NAME = "_native.compiled"
TARGETS = {
    "manylinux_2_17_x86_64.manylinux2014_x86_64": ("x86_64-linux-gnu.2.17", ".so"),
    "manylinux_2_17_aarch64.manylinux2014_aarch64": ("aarch64-linux-gnu.2.17", ".so"),
    "musllinux_1_2_x86_64": ("x86_64-linux-musl", ".so"),
    "macosx_11_0_x86_64": ("x86_64-macos.11.0", ".dylib"),
    "macosx_11_0_arm64": ("aarch64-macos.11.0", ".dylib"),
    "win_amd64": ("x86_64-windows-gnu", ".dll"),
    "win_arm64": ("aarch64-windows-gnu", ".dll"),
}
"""Platform of a wheel → what zig calls it, and the ending of a library there."""
SYSTEM = re.compile(
    r"libc\.so(?:\.6)?|/usr/lib/libSystem\.B\.dylib|(?i:kernel32|ntdll|msvcrt|api-ms-win-crt-[\w-]+)\.dll"
)
"""What every machine of a platform has."""
GLIBC = re.compile(r"GLIBC_2\.(\d+)")


def compiled(target: str, ending: str) -> bytes:
    """The library for a target."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, NAME + ending)
        # On macOS a library says where it lies.
        named = [f"-Wl,-install_name,{library.name}"] if ending == ".dylib" else []
        zig = [sys.executable, "-m", "ziglang", "cc", "-target", target]
        if problem := native.compiled(zig, library, ["-s", *named]):
            sys.exit(problem)
        return library.read_bytes()


def foreign(library: bytes) -> list[str]:
    """What a library links that a machine may not have."""
    binary = lief.parse(list(library))
    found = [str(getattr(name, "name", name)) for name in binary.libraries]
    wanted = [name for name in found if not SYSTEM.fullmatch(name) and name != f"{NAME}.dylib"]
    versions = GLIBC.findall(library.decode("latin-1"))
    return wanted + [f"glibc 2.{minor}" for minor in versions if int(minor) > 17]


def with_library(wheel: Path, platform: str, library: bytes, ending: str) -> Path:
    """A copy of a pure wheel that carries a library, for a platform."""
    target = wheel.with_name(wheel.name.replace("-none-any.whl", f"-none-{platform}.whl"))
    name = f"torch_tb_profiler/native/{NAME}{ending}"
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        files = {item: old.read(item) for item in old.infolist()}
        texts = {item.filename: data for item, data in files.items()}
        (head,) = (path for path in texts if path.endswith(".dist-info/WHEEL"))
        tags = "".join(f"Tag: py3-none-{one}\n" for one in platform.split("."))
        texts[head] = re.sub(rb"Root-Is-Purelib: true", b"Root-Is-Purelib: false", texts[head])
        texts[head] = re.sub(rb"Tag: py3-none-any\r?\n", tags.encode(), texts[head])
        record = head.replace("WHEEL", "RECORD")
        texts[record] = b""
        texts = {name: library, **texts}
        rows = io.StringIO()
        writer = csv.writer(rows, lineterminator="\n")
        for path, data in texts.items():
            if path != record:
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
                writer.writerow((path, f"sha256={digest.decode()}", len(data)))
        writer.writerow((record, "", ""))
        texts[record] = rows.getvalue().encode()
        for path, data in texts.items():
            new.writestr(path, data)
    return target


def main() -> None:
    """Make all of them; exit with what is wrong."""
    (pure,) = map(Path, sys.argv[1:])
    wrong = []
    for platform, (target, ending) in TARGETS.items():
        library = compiled(target, ending)
        strangers = foreign(library)
        wheel = with_library(pure, platform, library, ending)
        print(
            f"{wheel.name}: {len(library):,} bytes compiled, links {strangers or 'the system alone'}"
        )
        wrong += strangers
    sys.exit(f"not on every machine: {wrong}" if wrong else 0)


if __name__ == "__main__":
    main()
