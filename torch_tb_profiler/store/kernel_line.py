"""A kernel as PyProf's ``net.dict`` lists it, one Python dictionary per line."""

from __future__ import annotations

import msgspec


class KernelLine(msgspec.Struct, frozen=True, gc=False):
    """One line. Unknown numbers are −1, unknown texts empty.

    name: full name of the kernel.
    dur: ns.
    thread: of the launch.
    grid, block: ``x,y,z``.
    layer: names of layers, outermost first, between colons.
    trace: lines of the program, outermost first.
    direction: ``fprop`` or ``bprop``.
    sequence, others: sequence numbers, and others around the launch.
    sub: earlier kernels of the same call.
    module, operator: of the call.
    signature: name and JSON texts of dims, types and values of the call, as ``read_call`` takes
        them; empty where none was recorded.
    params, cores, flops, bytes: columns of the kernel table where the line has them (those that
        this package wrote); ``listed`` says whether it does.
    """

    name: str
    dur: int
    index: int = -1
    thread: str = ""
    device: int = -1
    stream: int = -1
    grid: str = ""
    block: str = ""
    layer: str = ""
    trace: tuple[str, ...] = ()
    direction: str = ""
    sequence: tuple[int, ...] = ()
    others: tuple[int, ...] = ()
    sub: int = -1
    module: str = ""
    operator: str = ""
    signature: tuple[str, str, str, str] = ("", "", "", "")
    listed: bool = False
    params: str = ""
    cores: str = ""
    flops: int = -1
    bytes: int = -1
