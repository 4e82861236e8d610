"""Every event of a trace as a DataFrame, sharing memory with the trace where possible."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from torch_tb_profiler.analysis.arrays.nesting import nearest
from torch_tb_profiler.analysis.facts.kernels import device_arguments
from torch_tb_profiler.analysis.facts.operators import operator_arguments
from torch_tb_profiler.analysis.facts.stacks import frame_stacks
from torch_tb_profiler.analysis.figures.selection import mask
from torch_tb_profiler.analysis.key_averages.span_figures import span_figures
from torch_tb_profiler.api.table_frame import category, coded, table_frame
from torch_tb_profiler.api.trace_context import TraceContext
from torch_tb_profiler.store.columns import Array, Ints, Mask
from torch_tb_profiler.store.display import display_spec
from torch_tb_profiler.store.roles import Role

if TYPE_CHECKING:
    from pandas import DataFrame

    from torch_tb_profiler.api.function_events import FunctionEventList

    class EventFrame(DataFrame):
        """A DataFrame of events that is also the call ``prof.events()``."""

        def __call__(self) -> FunctionEventList: ...


EVENTS = display_spec("""
events: One row per event with a duration, in time order.
    event                id           -  -                   Event id, as on the page and in other frames.
    name                 category     -  -                   Name.
    category             category     -  -                   Category as written.
    role                 category     -  -                   `operator`, `runtime`, `kernel`, `memcpy`, `annotation`, `python` …
    start_ns             time         -  -                   Start, after the first event of the trace.
    dur_ns               time         -  -                   Length.
    process              category     -  -                   Process id as written.
    thread               category     -  -                   Thread or stream as written.
    device               id           -  optional            Device of a kernel, copy or memset.
    stream               id           -  optional            Its stream.
    step                 id           -  optional unit=step  The step.
    parent               row          -  -                   Innermost host event around it.
    launch               row          -  -                   The runtime call that launched it.
    operator             row          -  -                   The operator that launched or contains it.
    correlation          id           -  optional            Id that ties a launch to its work.
    external_id          id           -  optional            `External id`.
    sequence             id           -  optional            `Sequence number` of an operator.
    input_shapes         category     -  -                   `Input Dims` of an operator as JSON text.
    input_dtypes         category     -  -                   `Input type` of an operator as JSON text.
    concrete_inputs      category     -  -                   `Concrete Inputs` of an operator as JSON text.
    stack                category     -  -                   `Call stack` as written, else the Python frames around, innermost first; none of a frame itself.
    scope                id           -  optional            `at::RecordScope`, where a file tells it.
    frame                row          -  -                   Innermost Python frame around; `parent` leads to those around it.
    forward_thread       id           -  optional            `Fwd thread id` of a backward operator.
    is_async             flag         -  -                   May end on another thread than it began on.
    self_ns              time         -  -                   Time outside what it called; of device work its length.
    flops                FLOP         -  optional            Of an operator with a performance model.
    cpu_memory_usage     delta bytes  -  optional            Host memory allocated less released while it was open.
    device_memory_usage  delta bytes  -  optional            The same of the accelerators' memory.
""")


@lru_cache(maxsize=1)
def callable_frame() -> type:
    """The type of ``trace.events``: a DataFrame that is also a call, as ``prof.events()`` is.

    It is made when it is needed, because pandas is imported then. What is made of such a frame is a
    plain ``DataFrame``.
    """
    import pandas

    class EventFrame(pandas.DataFrame):
        """A DataFrame of events; called, the same events as PyTorch lists them."""

        _metadata: ClassVar[list[str]] = ["_listed"]
        _listed: Callable[[], Any]

        @property
        def _constructor(self) -> type[pandas.DataFrame]:
            return pandas.DataFrame

        def __reduce__(self) -> Any:
            # The type has no name by which another process could find it.
            plain = pandas.DataFrame(self)
            plain.attrs = self.attrs
            return pandas.DataFrame.copy, (plain,)

        def __reduce_ex__(self, protocol: Any) -> Any:
            return self.__reduce__()

        def __call__(self) -> Any:
            """``prof.events()``: a list of events with ``.table(...)`` and ``.key_averages()``."""
            return self._listed()

    return EventFrame


def with_call(frame: DataFrame, listed: Callable[[], FunctionEventList]) -> EventFrame:
    """The frame, which gives ``listed()`` when it is called."""
    called: EventFrame = callable_frame()(frame)
    called.attrs = frame.attrs
    object.__setattr__(called, "_listed", listed)
    return called


def _frames(context: TraceContext) -> Array:
    """The row of the innermost Python frame around each event, −1 none."""
    trace, parent = context.trace, context.facts["span_links"]["parent"]
    python = trace["spans"]["role"] == Role.PYTHON
    if not python.any():
        return np.full(len(python), -1, np.int32)
    return np.append(nearest(parent, python), np.int32(-1))[parent]


def _stacks(context: TraceContext) -> Any:
    """The stack of every event as a ``Categorical``; a text per distinct stack, made once while the trace is open."""
    trace, parent = context.trace, context.facts["span_links"]["parent"]
    written = operator_arguments(trace, "stack")[:-1]
    python = trace["spans"]["role"] == Role.PYTHON
    outside = (written < 0) & ~python
    inner = np.where(outside, _frames(context), -1).astype(np.int64)
    callers, frames, stack = frame_stacks(trace, parent, inner, python)
    if not len(frames):
        return category(written, trace.strings)
    texts: list[str] = []
    for name, caller in zip(trace.strings.many(frames), callers.tolist(), strict=True):
        texts.append(f"{name};{texts[caller]}" if caller >= 0 else name)
    numbers = np.where(stack >= 0, len(trace.strings) + stack, written)
    used, code = np.unique(numbers, return_inverse=True)
    known: dict[str, int] = {}
    first = len(trace.strings)
    codes = [
        known.setdefault(texts[n - first] if n >= first else trace.strings[n], len(known))
        if n >= 0
        else -1
        for n in used.tolist()
    ]
    return coded(np.array(codes, np.int64)[code], list(known))


def _known(known: Mask, values: Ints) -> Any:
    import pandas

    return pandas.arrays.IntegerArray(values, ~known)


def events(context: TraceContext) -> DataFrame:
    """One row per event with a duration, in time order."""
    trace, links = context.trace, context.facts["span_links"]
    spans, tracks = trace["spans"], trace["tracks"]
    figures = context.opened.memoise("span_figures", lambda: span_figures(trace, context.facts))
    table = EVENTS.build(
        trace.strings,
        event=np.arange(spans.n),
        name=spans["name"],
        category=spans["category"],
        role=coded(spans["role"].astype(np.int8), [role.name.lower() for role in Role]),
        start_ns=spans["start"],
        dur_ns=spans["dur"],
        process=tracks["pid"][spans["track"]],
        thread=tracks["tid"][spans["track"]],
        **device_arguments(trace, np.arange(spans.n), ("device", "stream")),
        **{name: links[name] for name in ("step", "parent", "launch", "operator")},
        correlation=spans["correlation"],
        external_id=spans["external"],
        sequence=operator_arguments(trace, "sequence")[:-1],
        input_shapes=operator_arguments(trace, "dims")[:-1],
        input_dtypes=operator_arguments(trace, "types")[:-1],
        concrete_inputs=operator_arguments(trace, "concrete")[:-1],
        stack=context.opened.memoise("event_stacks", lambda: _stacks(context)),
        scope=figures.scope,
        frame=_frames(context),
        forward_thread=operator_arguments(trace, "forward_thread")[:-1],
        is_async=figures.is_async,
        self_ns=figures.own,
        flops=figures.flops,
        cpu_memory_usage=_known(figures.memory[0], figures.memory[1]),
        device_memory_usage=_known(figures.memory[0], figures.memory[2]),
    )
    frame = table_frame(table, share=True)
    if context.steps is None and not context.skip_cold:
        return frame
    chosen = np.flatnonzero(mask(context.selection(), links["step"]))
    selected: DataFrame = frame.take(chosen).reset_index(drop=True)
    return selected
