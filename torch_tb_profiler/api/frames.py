"""What ``torch_tb_profiler.open`` returns: one trace or several as pandas DataFrames.

Times are integer nanoseconds, unknown is missing (``isna()``). ``attrs["units"]`` and
``attrs["docs"]`` of a frame describe its columns.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from operator import index
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from torch_tb_profiler.analysis.key_averages.groups import Grouping
from torch_tb_profiler.api import events, repr_text
from torch_tb_profiler.api.ask import asked
from torch_tb_profiler.api.changes import changes, match_traces
from torch_tb_profiler.api.concat import joint_frame
from torch_tb_profiler.api.fleets import fleet_places, one_fleet, ranks_path
from torch_tb_profiler.api.function_events import FunctionEventList
from torch_tb_profiler.api.key_averages import KeyAverages, functions_in, profile
from torch_tb_profiler.api.notebook import HEIGHT, MOST_BYTES, EmbeddedPage, embedded
from torch_tb_profiler.api.sql import answered
from torch_tb_profiler.api.table_frame import computed_frame, table_frame
from torch_tb_profiler.api.table_methods import OneTrace, RunTables, Tables
from torch_tb_profiler.api.trace_context import Steps, TraceContext, job_contexts
from torch_tb_profiler.api.trace_part import save_chrome_trace
from torch_tb_profiler.api.what_if import run_what_if, what_if
from torch_tb_profiler.api.workers_table import workers_frame
from torch_tb_profiler.errors import BadRequest, NotFound
from torch_tb_profiler.runs.loading import Unreadable
from torch_tb_profiler.store.insight import Insight
from torch_tb_profiler.store.model import Facts, Trace
from torch_tb_profiler.tables.registry import TABLES
from torch_tb_profiler.tables.source import FleetPlace

if TYPE_CHECKING:
    from pandas import DataFrame

    from torch_tb_profiler.api.events import EventFrame

Make = Callable[[TraceContext], "DataFrame"]


class Frames(Tables):
    """The tables of one trace or of several.

    ``steps`` arguments: an index of ``.steps``, a first and a last one ``(2, 4)``, both included, or
    None: everything, also outside all steps. ``in_steps`` selects steps for every table.
    """

    def whatif(self, *changes: str, steps: Steps = None) -> DataFrame:
        """What a step would take with all changes at once, e.g. ``"dataloader-ready"`` or ``"scale:operator=aten::mm,factor=0.5"``;
        without any, each usual change that saves time.

        Raises:
            BadRequest: there is no such change.
            IndexError: there is no such step.
        """
        return self._each(lambda context: what_if(context, changes, steps))

    def sql(self, statement: str, *, seconds: float = 60.0) -> DataFrame:
        """The result of one SELECT, in all steps: ``trace.sql("select name, dur from kernels")``. ``docs/guide/sql.md`` lists the
        tables; times are ns. Of several traces each answers by itself.

        Raises:
            BadRequest: it is no SELECT, names what there is not, or takes longer than ``seconds``.
            MissingPackage: DuckDB or pyarrow is not installed.
        """
        return self._each(lambda context: answered(context, statement, seconds))

    def ask(self, question: str = "", steps: Steps = None) -> DataFrame:
        """What each trace has under some words, like ``"softmax"``, or the answer to a command such as ``"why 7"``, ``"rank 2"``,
        ``"vs NAME"``, ``"line 410"`` or ``"what if no-sync"``: what to change first, then what costs most on the critical path.
        Without a question, that. ``attrs["sentence"]``: the answer in words, where there is one; ``attrs["over"]``: the step
        that times are of.

        Raises:
            IndexError: there is no such step.
        """
        return self._each(lambda context: asked(context, self._contexts(), question, steps))

    def show(
        self, view: str = "overview", *, height: int = HEIGHT, most_bytes: int = MOST_BYTES
    ) -> EmbeddedPage:
        """The page in a notebook, with a view opened: as the last line of a cell, or given to ``display``. It needs no server
        and no network, and stays in the notebook when that is saved. ``height`` in pixels.

        Raises:
            BadRequest: there is no such view, it needs a server, or the page is larger than ``most_bytes``.
        """
        return embedded(self._contexts(), view, height, most_bytes)

    @abstractmethod
    def _each(self, make: Make) -> DataFrame:
        """What is made of every trace."""

    @abstractmethod
    def _contexts(self) -> list[TraceContext]:
        """Every trace."""

    @property
    def events(self) -> DataFrame:
        """Every event. Made anew at each use; most columns share memory with the trace and are read-only: use ``.copy()`` to change them."""
        return self._each(events.events)


class TraceFrames(Frames):
    """One trace."""

    def __init__(self, context: TraceContext, unreadable: Sequence[Unreadable] = ()) -> None:
        self._context = context
        self.unreadable = tuple(unreadable)
        """Files of the same folder that could not be read, and why."""

    def _table(self, name: str, steps: Steps = None, **options: Any) -> DataFrame:
        return computed_frame(name, self._context.source(steps), **_checked(name, options))

    def _each(self, make: Make) -> DataFrame:
        return make(self._context)

    def _contexts(self) -> list[TraceContext]:
        return [self._context]

    def __repr__(self) -> str:
        return repr_text.text("TraceFrames", repr_text.lines(self._context, self.unreadable))

    def _repr_html_(self) -> str:
        return repr_text.markup("TraceFrames", repr_text.lines(self._context, self.unreadable))

    @property
    def run(self) -> str:
        """Name of the run."""
        return self._context.opened.run.name

    @property
    def worker(self) -> str:
        """Name of the worker."""
        return self._context.opened.worker.name

    @property
    def span(self) -> str:
        """Name of the span."""
        return self._context.opened.span.name

    @property
    def trace(self) -> Trace:
        """The columns of the events, as ``docs/columns.md`` describes them."""
        return self._context.trace

    @property
    def facts(self) -> Facts:
        """The tables derived from them."""
        return self._context.facts

    @property
    def insight(self) -> Insight:
        """The tables of modules, memory, communication and work, derived on first use."""
        return self._context.insight

    @property
    def context(self) -> TraceContext:
        """The trace with its selected steps, for the functions that make tables."""
        return self._context

    def in_steps(
        self, first: int | None = None, last: int | None = None, *, skip_cold: bool = False
    ) -> TraceFrames:
        """The trace limited to steps ``first`` to ``last``, both included; without ``last`` to one step, without either to all.

        Raises:
            IndexError: there is no such step.
        """
        chosen = first if last is None else (first or 0, last)
        narrowed = TraceFrames(
            replace(self._context, steps=chosen, skip_cold=skip_cold), self.unreadable
        )
        narrowed._context.selection()
        return narrowed

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool | None = None,
        *,
        top_level_events_only: bool = False,
        python_frames: bool | None = None,
    ) -> KeyAverages:
        """``prof.key_averages()`` of the whole recording, to ``print``, or with ``.table(...)`` and
        ``.frame``.

        Args:
            include_python_functions: whether Python functions (``with_stack``) have rows; PyTorch
                leaves them out since 2.14.
            top_level_events_only: show top-level events only.
            python_frames: whether Python functions count as calls; in PyTorch they do since 2.12.

        Both default to what the PyTorch version did that, by the file, recorded the trace.
        """
        events, listed = functions_in(self._context.opened)
        events = events if python_frames is None else python_frames
        by = Grouping(
            group_by_input_shape,
            group_by_stack_n,
            group_by_overload_name,
            listed if include_python_functions is None else include_python_functions,
        )
        return profile(self._context.opened, events).key_averages(by, top_level_events_only)

    def export_stacks(
        self, path: str | os.PathLike[str], metric: str = "self_cpu_time_total"
    ) -> None:
        """Write folded stacks for flame graph programs, as ``prof.export_stacks`` does.

        Raises:
            BadRequest: the metric is unknown, or the recording holds no stacks.
        """
        profile(self._context.opened, functions_in(self._context.opened)[0]).export_stacks(
            os.fspath(path), metric
        )

    @property
    def events(self) -> EventFrame:
        """Every event, as a DataFrame; called, ``trace.events()``, the same as ``function_events``. Made anew at each
        use; most columns share memory with the trace and are read-only: use ``.copy()`` to change them.
        """
        return events.with_call(events.events(self._context), lambda: self.function_events)

    @property
    def function_events(self) -> FunctionEventList:
        """``prof.events()`` of the whole recording: its calls and device work as objects, or with
        ``.table(...)``; ``trace.events()`` is the same. ``.events`` has them as a DataFrame.
        """
        context = self._context
        shown = profile(context.opened, functions_in(context.opened)[0])
        return FunctionEventList(self, shown)

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the trace, or its selected steps, as ``prof.export_chrome_trace`` does; gzipped if the
        name ends in ``.gz``. A file that is there is replaced.

        Raises:
            BadRequest: the file has no events.
            SourceError: it can no longer be opened, or the path cannot be written to.
        """
        save_chrome_trace(self._context, path)

    def diff(self, other: TraceFrames) -> DataFrame:
        """What changed from this trace to another, of memory snapshots at their peaks; ``attrs["verdict"]`` says it in one
        sentence.
        """
        if not isinstance(other, TraceFrames):
            raise TypeError(
                f"a trace can be compared with a trace, not with {type(other).__name__}"
            )
        return changes(self._context, other._context)


class RunFrames(Frames, RunTables, Sequence[TraceFrames]):
    """A sequence of traces of a run or logdir; ``run["rank3"]`` is the trace of a worker. Every
    table starts with the columns ``worker`` and ``span``, and ``run`` if there are several.
    """

    def __init__(
        self, traces: Sequence[TraceFrames], unreadable: Sequence[Unreadable] = ()
    ) -> None:
        self._traces = tuple(traces)
        self.unreadable = tuple(unreadable)
        """Files of the folder that could not be read, and why."""

    def _each(self, make: Make) -> DataFrame:
        return joint_frame([(trace.context.opened, make(trace.context)) for trace in self._traces])

    def _contexts(self) -> list[TraceContext]:
        return [trace.context for trace in self._traces]

    def _table(self, name: str, steps: Steps = None, **options: Any) -> DataFrame:
        needs, options = TABLES[name].needs, _checked(name, options)
        if needs == "run":
            return computed_frame(name, one_fleet(self._members, "this table is of one"))
        contexts = self._contexts()
        members = self._members if needs == "ranks" else [None] * len(contexts)
        return joint_frame(
            [
                (context.opened, computed_frame(name, context.source(steps, member), **options))
                for context, member in zip(contexts, members, strict=True)
            ]
        )

    def critical_path(
        self, steps: Steps = None, *, ranks: Literal["all"] | None = None
    ) -> DataFrame:
        """What the end of each step of each rank waited for, waiting for other ranks apart from
        transfer. With ``ranks="all"`` one path per step through all ranks, from when the last
        of them begins it until the last begins the next, with ``steps`` among those of the run.

        Raises:
            BadRequest: the traces are of several runs, or were not recorded together.
            IndexError: there is no such step.
        """
        if ranks is None:
            return super().critical_path(steps)
        _one_of(ranks, ("all",))
        fleet = one_fleet(self._members, "a path goes through one")
        own = steps if steps is not None or not self._traces else self._traces[0].context.steps
        return table_frame(ranks_path(fleet, own))

    def whatif(self, *changes: str, steps: Steps = None) -> DataFrame:
        """As of one trace, by trace. With ``"no-stragglers"`` or ``"no-stragglers:rank=3"`` one row for the run;
        ``attrs``: ``slowdown``, ``by_worker``, ``by_operation`` and ``steps``.

        Raises:
            BadRequest: there is no such change or rank; ``no-stragglers`` also: of one rank, or of some steps.
            IndexError: there is no such step.
        """
        if all(text.partition(":")[0] != "no-stragglers" for text in changes):
            places = {id(t.context): m for t, m in zip(self, self._members, strict=True)}
            return self._each(lambda one: what_if(one, changes, steps, places[id(one)]))
        return run_what_if([t.context for t in self], self._members, changes, steps)

    @cached_property
    def _members(self) -> list[FleetPlace]:
        return fleet_places([trace.context for trace in self._traces])

    def __len__(self) -> int:
        return len(self._traces)

    def __iter__(self) -> Iterator[TraceFrames]:
        return iter(self._traces)

    def __getitem__(self, key: Any) -> Any:
        """A trace by index or worker name (the first of several), some by a slice.

        Raises:
            IndexError: there is no such index.
            TypeError: it is neither an index nor a name.
            NotFound: there is no such worker.
        """
        if not isinstance(key, str):
            if isinstance(key, slice):
                return RunFrames(self._traces[key])
            if not -len(self) <= (number := index(key)) < len(self):
                raise IndexError(
                    f"there is no trace {number}; there are {len(self)}, counted from 0"
                )
            return self._traces[number]
        for trace in self._traces:
            if trace.worker == key:
                return trace
        raise NotFound(
            f"There is no worker {key!r}.",
            f"There are: {', '.join(dict.fromkeys(t.worker for t in self._traces))}.",
        )

    def __getattr__(self, name: str) -> Any:
        if hasattr(TraceFrames, name) and not hasattr(RunFrames, name):
            raise AttributeError(
                f"{name!r} belongs to one trace: run[0].{name}", name=name, obj=self
            )
        return object.__getattribute__(self, name)

    def __repr__(self) -> str:
        return repr_text.text("RunFrames", self._lines())

    def _repr_html_(self) -> str:
        return repr_text.markup("RunFrames", self._lines())

    def _lines(self) -> list[repr_text.Line]:
        traces = [trace.context.opened for trace in self._traces]
        return repr_text.run_lines(traces, self.workers, self.unreadable)

    @property
    def workers(self) -> DataFrame:
        """The traces, one per row."""
        return workers_frame([trace.context for trace in self._traces])

    def in_steps(
        self, first: int | None = None, last: int | None = None, *, skip_cold: bool = False
    ) -> RunFrames:
        """The traces limited to some steps; see ``TraceFrames.in_steps``. Cold is what is cold for the ranks of a job together."""
        told = job_contexts([trace.context for trace in self._traces])
        chosen = [TraceFrames(one).in_steps(first, last, skip_cold=skip_cold) for one in told]
        return RunFrames(chosen, self.unreadable)

    def diff(self, other: RunFrames) -> DataFrame:
        """What changed from this run to another, for workers of the same name or rank.

        Raises:
            BadRequest: the two have no worker in common.
        """
        if not isinstance(other, RunFrames):
            raise TypeError(
                f"a run can be compared with a run, not with {type(other).__name__}: take one of"
                " its traces, run[0]"
            )
        pairs = match_traces(
            *([trace.context.opened for trace in side] for side in (self, other))
        ).pairs
        return joint_frame(
            [(self[a].context.opened, changes(self[a].context, other[b].context)) for a, b in pairs]
        )


def _checked(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options as the table takes them.

    Raises:
        BadRequest: rows cannot be grouped so.
    """
    if "by" in options:
        _one_of(options["by"], TABLES[name].groups)
    other: OneTrace | None = options.get("other")
    return options if other is None else {**options, "other": other.context.source()}


def _one_of(given: str, allowed: tuple[str, ...]) -> None:
    if given not in allowed:
        raise BadRequest(f"by={given!r} is not known.", f"Take one of: {', '.join(allowed)}.")
