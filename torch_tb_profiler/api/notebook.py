"""The page in a notebook: the report's document about opened traces, in a frame of its own.

::

    opened traces ─▶ web/report_page.py ─▶ document ─▶ <iframe sandbox srcdoc="…">

The frame may run scripts and nothing else: it has no origin, so that it reaches neither the notebook's address nor its
storage, and its policy forbids every request. No server is needed, now or when the notebook is opened again.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from types import MappingProxyType, SimpleNamespace
from typing import cast

from msgspec.structs import replace

from torch_tb_profiler.api.fleets import OpenedTraces
from torch_tb_profiler.api.trace_context import TraceContext, bounds
from torch_tb_profiler.errors import BadRequest
from torch_tb_profiler.runs.catalogue import Catalogue
from torch_tb_profiler.runs.memo import Memo
from torch_tb_profiler.runs.model import Opened, OpenedInsight, Run, SeenFile, Snapshot, snapshot_of
from torch_tb_profiler.units import format_bytes
from torch_tb_profiler.views.ask.names import SECTIONS

_SERVED = ("trace", "diff", "sql")
VIEWS = tuple(view for view in SECTIONS if view not in _SERVED)
"""Views of the page that need no server."""
HEIGHT = 640
LEAST_HEIGHT, MOST_HEIGHT = 200, 10_000
MOST_BYTES = 16 << 20
ABOUT = (
    "This frame holds tables and charts, but neither the timeline nor every selection. For those, open"
    " the trace: torch-tb-profiler serve LOGDIR."
)
SANDBOX = "allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox"


class EmbeddedPage:
    """The page about some traces; a notebook shows it where it is the value of a cell."""

    def __init__(self, document: str, title: str, height: int) -> None:
        self.document = document
        """The whole page as one HTML file."""
        self._title, self._height = title, height

    def _repr_html_(self) -> str:
        # In ASCII it is the same in every encoding, and the policy's hash of the script fits.
        document = html.escape(self.document).encode("ascii", "xmlcharrefreplace").decode()
        return (
            f'<iframe sandbox="{SANDBOX}" title="{html.escape(self._title)}" style="display: block;'
            f' width: 100%; height: {self._height}px; border: 1px solid #8886"'
            f' srcdoc="{document}"></iframe>'
        )

    def __repr__(self) -> str:
        size = format_bytes(len(self.document.encode()))
        return f"<{self._title}: a page of {size} that a notebook shows; .document is its HTML>"


def embedded(
    traces: Sequence[TraceContext], view: str, height: int, most_bytes: int
) -> EmbeddedPage:
    """The page about traces with a view opened; steps that are selected in all of them are selected on the page.

    Raises:
        BadRequest: there is no such view, it needs a server, or the page is larger than ``most_bytes``.
    """
    _check(view, height)
    # A server's modules, which few scripts need.
    from torch_tb_profiler.web.report_page import keep, page

    catalogue, first = _Catalogue(traces), traces[0]
    steps = _steps(first) if len({_key(context) for context in traces}) == 1 else {}
    places = [_place(context.opened) for context in traces]
    # It asks only for what is answered here.
    answers = keep(cast(Catalogue, catalogue), first.settings, places, lambda *_: None, steps)
    title = f"PyTorch Profiler: {first.opened.run.name or first.opened.worker.name}"
    document = page(answers, title, ABOUT, {"view": view, **places[0], **steps})
    if (size := len(document.encode())) > most_bytes:
        raise BadRequest(
            f"The page of {len(traces)} trace{'s' if len(traces) > 1 else ''} has {format_bytes(size)}, more than"
            f" the {format_bytes(most_bytes)} that a notebook should hold.",
            "Show one trace of a run, raise most_bytes, or write a file: torch-tb-profiler report PATH.",
        )
    return EmbeddedPage(document, title, height)


def _check(view: str, height: int) -> None:
    if view not in VIEWS:
        served = " needs a server: torch-tb-profiler serve LOGDIR" if view in _SERVED else ""
        raise BadRequest(
            f"view={view!r}{served or ' is not known'}.", f"Take one of: {', '.join(VIEWS)}."
        )
    if isinstance(height, bool) or not isinstance(height, int):
        raise TypeError(f"height={height!r}: expected pixels as an int")
    if not LEAST_HEIGHT <= height <= MOST_HEIGHT:
        raise BadRequest(f"height={height} is not from {LEAST_HEIGHT} to {MOST_HEIGHT} pixels.")


def _place(opened: Opened) -> dict[str, str]:
    return dict(zip(("run", "worker", "span"), opened.key, strict=True))


def _key(context: TraceContext) -> tuple[object, bool]:
    return bounds(context.steps), context.skip_cold


def _steps(context: TraceContext) -> dict[str, str]:
    """The selected steps as the page's address has them."""
    first, last = bounds(context.steps)
    chosen = {} if first is None else {"steps": f"{first}" if first == last else f"{first}-{last}"}
    return {**chosen, **({"skip_cold": "1"} if context.skip_cold else {})}


class _Catalogue(OpenedTraces):
    """Opened traces as all that there is: the others of their runs are left out."""

    store = SimpleNamespace(link=None)
    logdirs = MappingProxyType[str, str]({})
    folders: Sequence[str] = ()

    def __init__(self, traces: Sequence[TraceContext]) -> None:
        super().__init__(traces)
        runs: dict[str, list[Opened]] = {}
        for context in traces:
            runs.setdefault(context.opened.run.name, []).append(context.opened)
        self._runs = {name: _only(opened) for name, opened in runs.items()}
        self._open: dict[tuple[str, str, str], Opened] = {}

    def snapshot(self) -> Snapshot:
        runs = tuple(self._runs.values())
        files = tuple(
            SeenFile(
                span.path, run.name, worker.name, span.name, span.state, span.message, span.bytes
            )
            for run in runs
            for worker in run.workers
            for span in worker.spans
        )
        return snapshot_of(False, (), runs, files, ())

    def open(self, run: str, worker: str, span: str) -> Opened:
        key = run, worker, span
        if key not in self._open:
            opened = super().open(*key)
            mine = next(w for w in self._runs[run].workers if w.name == worker)
            # What the whole run answers is kept with the trace itself.
            self._open[key] = replace(opened, run=self._runs[run], worker=mine, memo=Memo())
        return self._open[key]

    def insight(self, run: str, worker: str, span: str) -> OpenedInsight:
        return replace(super().ask_insight(run, worker, span), opened=self.open(run, worker, span))

    ask_insight = insight


def _only(traces: Sequence[Opened]) -> Run:
    """The run of some traces with their workers and spans alone."""
    # The run as known when its last trace was read has all workers.
    run = traces[-1].run
    kept = {(opened.worker.name, opened.span.name) for opened in traces}
    workers = []
    for worker in run.workers:
        spans = tuple(span for span in worker.spans if (worker.name, span.name) in kept)
        if spans:
            workers.append(replace(worker, spans=spans))
    return replace(run, workers=tuple(workers))
