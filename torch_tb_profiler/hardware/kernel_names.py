"""Kernel names: a short form to read, and the communication library that a kernel belongs to."""

from __future__ import annotations

import re
from functools import lru_cache

from torch_tb_profiler.data_rows import rows_beside
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.units import fit_text

LONGEST = 60
"""Maximum length of a short name."""

LONGEST_READ = 4096
"""Characters of a name that are searched: some patterns take quadratic time."""

_COMMUNICATION = [(regex(row["pattern"][0]), row["library"][0]) for row in rows_beside(__file__)]

TO_DEVICE = regex(r"Memcpy ?H(?:to|2)D|CopyHostToDevice|MEMORY_COPY_HOST_TO_DEVICE")
"""Matched at the beginning of a copy's full name: from the host to a device."""
HOST_COPY = regex(
    rf"{TO_DEVICE.pattern}|Memcpy ?D(?:to|2)H|CopyDeviceToHost|MEMORY_COPY_DEVICE_TO_HOST"
)
"""Matched at the beginning of a copy's full name: between host and device in either direction."""

_GENERIC = "Kernel Kernel2 kernel device_kernel kentry run _kernel_agent kernel_agent GemmKernel"
GENERIC_NAMES = frozenset(_GENERIC.split())
"""Last parts of names that say nothing; the first template argument or the part before is added."""

_PLAIN = (
    "bool char int unsigned long float double half Half BFloat16 __half __nv_bfloat16 true false"
)
_PLAIN_TYPES = frozenset(("", *_PLAIN.split()))
_WRAPPER_WORDS = (
    "BinaryFunctor AUnaryFunctor BUnaryFunctor CompareFunctor ReduceOp gpu_kernel_impl"
    " gpu_kernel_impl_nocast TensorListMetadata OpMathFunctor OpmathSymmetricGpuKernelWithScalars"
)
_WRAPPERS = frozenset(_WRAPPER_WORDS.split())
_FUNCTOR = regex(r"\b([A-Za-z_]\w*(?:Functor\w*|_functor|Ops|_kernel_cuda|_kernel_impl|_cuda))\b")
_LAMBDA = regex(r"\b([A-Za-z_]\w*)(?:<[^<>]*>)?\(at::")
_TENSILE = regex(
    r"^(Cijk(?:_[A-Z][a-z]+)*(?:_[A-Z]+)?).*?_(MT\w+?x\w+?x\w+?)(?:_(MI[0-9x]+))?(?:_|$)"
)
_MANGLED = regex(r"^_Z(?:N|L)?K?")
_LETTER = regex(r"[^\W\d]")
_WORD = regex(r"\d{1,4}", re.ASCII)

_DECLARED = regex(r"::|[<(]")


@lru_cache(maxsize=65536)
def communication_library(name: str) -> str | None:
    """The communication library of the kernel with this full name, else None."""
    for pattern, library in _COMMUNICATION:
        if pattern.search(name, 0, LONGEST_READ):
            return library
    return None


@lru_cache(maxsize=65536)
def short_name(full: str) -> str:
    """At most 60 characters: no return type, namespaces, parameters, and few template arguments.

    ``void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, …>(…)``
    becomes ``vectorized_elementwise_kernel<CUDAFunctor_add>``. Other names are truncated.
    """
    full = full[:LONGEST_READ]
    tensile = _TENSILE.match(full)
    if tensile:
        return _cut(" ".join(part for part in tensile.groups() if part))
    if _MANGLED.match(full):
        return _cut(_last_identifier(full) or full)
    if _DECLARED.search(full) is None:
        # Blanks divide a declaration alone: other names may be several words.
        return _cut(full.removeprefix("void "))
    head, arguments = _split(full.replace("(anonymous namespace)::", ""))
    parts = [part for part in head.split("::") if part]
    if not parts or _LETTER.search(parts[-1]) is None:
        return _cut(full)
    base = parts[-1]
    if base in GENERIC_NAMES and arguments:
        inner = _split(_first_argument(arguments).strip())[0].split("::")
        if inner[-1] in GENERIC_NAMES:
            return _cut("::".join(inner[-2:]))
        return _cut(
            "::".join(parts[-2:]) if inner[-1] in _PLAIN_TYPES or inner[-1].isdigit() else inner[-1]
        )
    functor = _functor(arguments) if arguments and "at::" in arguments else None
    return _cut(f"{base}<{functor}>" if functor and functor != base else base)


def _cut(name: str) -> str:
    return fit_text(name.strip(), LONGEST)


def _split(name: str) -> tuple[str, str]:
    """(qualified name without return type, parameters and template arguments; last arguments)."""
    angle = round_ = 0
    head: list[str] = []
    arguments, begin = "", 0
    for i, letter in enumerate(name):
        if letter in "([{" and not angle:
            if head and not round_ and "".join(head).strip() not in ("", "void"):
                break
            round_ += 1
        elif letter in "([{":
            round_ += 1
        elif letter in ")]}":
            round_ = max(round_ - 1, 0)
        elif letter == "<" and not round_:
            begin = i + 1 if angle == 0 else begin
            angle += 1
        elif letter == ">" and not round_ and angle:
            angle -= 1
            arguments = name[begin:i] if angle == 0 else arguments
        elif not angle and not round_:
            if letter.isspace():
                head, arguments = [], ""
            else:
                head.append(letter)
    return "".join(head), arguments


def _first_argument(arguments: str) -> str:
    depth = 0
    for i, letter in enumerate(arguments):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            return arguments[:i]
    return arguments


def _functor(arguments: str) -> str | None:
    for pattern in (_FUNCTOR, _LAMBDA):
        for functor in pattern.findall(arguments):
            if functor not in _WRAPPERS:
                return str(functor)
    return None


def _last_identifier(mangled: str) -> str:
    """The last plain identifier of an Itanium-mangled nested name (``<length><letters>`` …)."""
    prefix = _MANGLED.match(mangled)
    position = prefix.end() if prefix else 0
    last = ""
    while (digits := _WORD.match(mangled, position)) is not None:
        length = int(digits.group())
        position = digits.end() + length
        word = mangled[digits.end() : position]
        if not word.startswith("_GLOBAL__N"):
            last = word if word not in GENERIC_NAMES or not last else f"{last}::{word}"
    return last
