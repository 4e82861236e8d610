"""Compilations: the outermost calls in which a program compiles, traces, tunes or captures code.

::

    dynamo                                    a compilation, all of it
      entire_frame_compile_data: … compile_id=0/16        which one: frame 0, its 17th code
      _compile.compile_inner (dynamo_timed)
        bytecode_tracing …
    Torch-Compiled Region: 0/16               what was compiled runs
"""

from __future__ import annotations

import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.arrays.grouping import group_rows, largest_by, mask_of, sum_by
from torch_tb_profiler.analysis.arrays.nesting import climb, nearest
from torch_tb_profiler.analysis.critical_path.origins import lines_of
from torch_tb_profiler.analysis.facts.calltree import is_call
from torch_tb_profiler.analysis.facts.host_names import distinct
from torch_tb_profiler.analysis.figures.selection import Selection, mask
from torch_tb_profiler.patterns import regex
from torch_tb_profiler.store.columns import Array, Ints
from torch_tb_profiler.store.display import DisplayTable, display_spec
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.store.roles import Role

_S = r"[\\/]"
_LINE = r"\.py\(\d+\): "
COMPILERS: dict[str, re.Pattern[str]] = {
    "torch.compile": regex(
        r"dynamo$|.*\(dynamo_timed\)$|_compile\.compile_inner|entire_(?:frame|backward)_compile$"
        rf"|.*torch{_S}_dynamo{_S}convert_frame{_LINE}(?:__call__|_?compile\w*|_convert_frame\w*|catch_errors)$"
        rf"|.*torch{_S}_inductor{_S}compile_fx{_LINE}(?:compile_fx\w*|\w*codegen_and_compile)$"
    ),
    "Triton": regex(
        rf".*triton{_S}compiler{_S}compiler{_LINE}compile$"
        rf"|.*triton{_S}runtime{_S}(?:autotuner{_LINE}(?:benchmark|_bench)|jit{_LINE}_do_compile)$"
        rf"|.*torch{_S}_inductor{_S}runtime{_S}triton_heuristics{_LINE}"
        r"(?:autotune_to_one_config|benchmark_all_configs|coordinate_descent_tuning)$"
    ),
    "torch.jit.trace": regex(rf".*torch{_S}jit{_S}_trace{_LINE}trace(?:_module)?$"),
    "torch.jit.script": regex(rf".*torch{_S}jit{_S}_script{_LINE}script$"),
    "torch.export": regex(rf".*torch{_S}export{_S}__init__{_LINE}export$"),
    "torch.fx": regex(rf".*torch{_S}fx{_S}_symbolic_trace{_LINE}symbolic_trace$"),
    "C++ extensions": regex(rf".*torch{_S}utils{_S}cpp_extension{_LINE}(?:load|load_inline)$"),
    "CUDA graphs": regex(
        r"(?:cuda|hip|cu)GraphInstantiate\w*$|(?:cuda|hip|cu)StreamEndCapture\w*$"
        rf"|.*torch{_S}_inductor{_S}cudagraph_trees{_LINE}(?:record_function|_record)$"
    ),
}
"""What compiles, and the names of the calls in which it does."""
_CORE = regex(rf".*compile_inner|entire_\w+_compile$|.*torch{_S}_inductor{_S}compile_fx{_LINE}")
"""Of torch.compile: it compiles, and does not only look whether it should."""
_ID = regex(r".*\bcompile_id=(\d+/\d+)|Torch-Compiled Region: (\d+/\d+)$", re.DOTALL)


class Compilations(msgspec.Struct, frozen=True):
    """Arrays of shape (compilations,), ordered by row.

    row: of spans, the outermost call. compiler: position in ``COMPILERS``. core: something was compiled there; else it was
        only looked at, or code was made for later. name: ``frame/number`` as torch.compile counts them, empty unknown.
    """

    row: Ints
    compiler: Ints
    core: Array
    name: list[str]


def compilations(trace: Trace, facts: Facts) -> Compilations:
    """All compilations of a trace."""
    spans, parent = trace["spans"], facts["span_links"]["parent"]
    role = spans["role"]
    host = is_call(role) | (role == Role.PYTHON)
    which = np.full(len(trace.strings) + 1, -1, np.int8)
    core, tells = np.zeros((2, len(trace.strings) + 1), np.bool_)
    for number in distinct(spans["name"][host], trace.strings):
        text = trace.strings[number]
        for place, pattern in enumerate(COMPILERS.values()):
            if pattern.match(text):
                which[number] = place
                core[number] = place > 0 or _CORE.match(text) is not None
        tells[number] = _ID.match(text) is not None
    none = np.zeros(0, np.int64)
    if (which < 0).all():
        return Compilations(none, none, none > 0, [])
    chosen = host & (which[spans["name"]] >= 0)
    around = np.append(nearest(parent, chosen), np.int32(-1))
    row = np.flatnonzero(chosen & (around[parent] < 0))
    outermost = mask_of(spans.n, row)
    inner = np.flatnonzero(chosen & core[spans["name"]])
    does = mask_of(spans.n, climb(parent, inner, outermost))
    return Compilations(
        row.astype(np.int64),
        which[spans["name"][row]].astype(np.int64),
        does[row],
        _names(trace, row, np.flatnonzero(host & tells[spans["name"]]), parent, outermost),
    )


def _names(trace: Trace, row: Ints, telling: Ints, parent: Array, outermost: Array) -> list[str]:
    """The name of each compilation: as told within it, else by the region that runs next on its thread."""
    spans, found = trace["spans"], dict[int, str]()
    above = climb(parent, telling, outermost)
    for at, under in zip(telling.tolist(), above.tolist(), strict=True):
        if under >= 0:
            found.setdefault(under, _id(trace, at))
    end, track = spans["start"] + spans["dur"], spans["track"]
    loose = telling[above < 0]
    for one in row.tolist():
        if one in found:
            continue
        following = loose[(track[loose] == track[one]) & (spans["start"][loose] >= end[one])][:1]
        if len(following):
            found[one] = _id(trace, int(following[0]))
    return [found.get(one, "") for one in row.tolist()]


def _id(trace: Trace, row: int) -> str:
    match = _ID.match(trace.strings[int(trace["spans"]["name"][row])])
    return (match[1] or match[2]) if match else ""


COMPILATIONS = display_spec("""
compilations: One row per compiler and piece of code that was compiled, traced, tuned or captured.
    compiler  category  Compiler     -         What compiled it.
    region    code      Region       optional  What was compiled, frame and number as torch.compile counts them; None unknown.
    calls     count     Calls        -         Number of calls in which it was compiled.
    steps     count     Steps        -         Number of steps in which it was compiled.
    host_ns   time      Host         -         Time of these calls on the host.
    line      code      Source line  optional  The program's own line of the longest.
""")


def compilation_table(trace: Trace, facts: Facts, selection: Selection) -> DisplayTable:
    """One row per thing that was compiled; the longest first."""
    spans, found = trace["spans"], compilations(trace, facts)
    step = facts["span_links"]["step"][found.row]
    chosen = mask(selection, step)
    row, compiler, step = found.row[chosen], found.compiler[chosen], step[chosen].astype(np.int64)
    texts = np.array([*found.name, ""], object)[:-1][chosen]
    names, name = np.unique(texts.astype(str), return_inverse=True)
    first, group = group_rows((compiler, name.astype(np.int64)))
    n, time = len(first), spans["dur"][row]
    pairs, _ = group_rows((group, step))
    inside = pairs[step[pairs] >= 0]
    lines = lines_of(trace, facts, {}, row[largest_by(group, n, time)] if n else row)
    called = list(COMPILERS)
    table = COMPILATIONS.build(
        facts.strings,
        compiler=[called[int(one)] for one in compiler[first]],
        region=[str(names[name[one]]) or None for one in first.tolist()],
        calls=np.bincount(group, minlength=n),
        steps=np.bincount(group[inside], minlength=n),
        host_ns=sum_by(group, n, time),
        line=lines,
    )
    return table.take(np.argsort(-table["host_ns"], kind="stable"))
