"""What each route answers. ``docs/http_api.md`` describes them; ``application.py`` hangs them into
a server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from werkzeug.wrappers import Request, Response

from torch_tb_profiler.runs.fleet import Fleets
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.views.definitions import definitions_payload
from torch_tb_profiler.views.diagnosis import diagnosis_payload
from torch_tb_profiler.views.kernels import kernel_payload
from torch_tb_profiler.views.operators import operator_payload, operator_stacks_payload
from torch_tb_profiler.views.overview import Place, overview_payload
from torch_tb_profiler.views.runs_list import runs_payload
from torch_tb_profiler.views.steps import choose, steps_payload
from torch_tb_profiler.views.trace_page import trace_payload
from torch_tb_profiler.views.wire import KernelGroup, OperatorGroup, Wire
from torch_tb_profiler.web import (
    counters_routes,
    diff_routes,
    distributed_routes,
    downloads,
    efficiency_routes,
    event_routes,
    findings_routes,
    memory_routes,
    module_routes,
    parameters,
    replies,
    timeline_routes,
)
from torch_tb_profiler.web.insight_host import Insights
from torch_tb_profiler.web.replies import Body, Handler
from torch_tb_profiler.web.timeline_host import Timelines

OPERATOR_GROUPS: tuple[OperatorGroup, ...] = ("name", "shape", "stack")
KERNEL_GROUPS: tuple[KernelGroup, ...] = ("name", "properties")


class Catalogue(Timelines, Insights, Protocol):
    """What the routes need of ``runs``."""

    def rescan(self) -> object: ...


class Routes:
    """The handlers, by path, over one catalogue."""

    def __init__(self, catalogue: Catalogue, settings: Settings) -> None:
        self._catalogue = catalogue
        self._settings = settings
        fleets = Fleets(catalogue)
        self.handlers: dict[str, Handler] = {
            "/runs": self.runs,
            "/diagnosis": self.diagnosis,
            "/definitions": self.definitions,
            "/steps": self.steps,
            "/overview": self.overview,
            "/operator": self.operator,
            "/operator/stacks": self.operator_stacks,
            "/kernel": self.kernel,
            "/trace": self.trace,
            "/trace/file": self.trace_file,
            **timeline_routes.handlers(catalogue, settings),
            **event_routes.handlers(catalogue, settings),
            **findings_routes.handlers(catalogue, settings, fleets),
            **memory_routes.handlers(catalogue, settings),
            **module_routes.handlers(catalogue, settings),
            **distributed_routes.handlers(catalogue, settings, fleets),
            **diff_routes.handlers(catalogue, settings),
            **efficiency_routes.handlers(catalogue, settings),
            **counters_routes.handlers(catalogue, settings),
        }

    def runs(self, request: Request) -> Response:
        """Runs, workers, spans; with ``rescan=1`` after a fresh look at the logdir."""
        if parameters.switch(request.args, "rescan"):
            self._catalogue.rescan()
        return replies.send(request, replies.encode(runs_payload(self._catalogue.snapshot())))

    def diagnosis(self, request: Request) -> Response:
        """Every file that was seen and why it is shown or not."""
        return replies.send(request, replies.encode(diagnosis_payload(self._catalogue.snapshot())))

    def definitions(self, request: Request) -> Response:
        """What the labels of the page mean."""
        return replies.send(request, replies.encode(definitions_payload()))

    def steps(self, request: Request) -> Response:
        """The steps of a trace."""
        return self._view(
            request,
            "steps",
            lambda opened, steps: steps_payload(opened.facts, choose(opened.facts, *steps)),
        )

    def overview(self, request: Request) -> Response:
        """The first page."""

        def payload(opened: Opened, steps: tuple[int | None, int | None, bool]) -> Wire:
            worker = opened.worker
            place = Place(
                len(opened.run.beside(opened.worker)),
                worker.rank,
                worker.rank_source,
                worker.world_size,
            )
            return overview_payload(opened.facts, choose(opened.facts, *steps), place)

        # The number of workers may grow while the trace stays what it is.
        return self._view(
            request, "overview", payload, lambda opened: str(len(opened.run.beside(opened.worker)))
        )

    def operator(self, request: Request) -> Response:
        """The operator table."""
        group = parameters.word(request.args, "group", OPERATOR_GROUPS, "name")
        limit = self._settings.max_table_rows
        return self._view(
            request,
            f"operator {group}",
            lambda o, steps: operator_payload(o.facts, choose(o.facts, *steps), group, limit),
        )

    def operator_stacks(self, request: Request) -> Response:
        """The call stacks of one operator."""
        # Shapes of operators with thousands of tensors are long, and no browser sends longer URLs
        # than this.
        name = parameters.text(request.args, "name", longest=1 << 16)
        shapes = parameters.optional_text(request.args, "shapes", longest=1 << 20)
        limit = self._settings.max_table_rows
        key = f"operator/stacks {name!r} {shapes!r}"
        return self._view(
            request,
            key,
            lambda o, steps: operator_stacks_payload(
                o.facts, choose(o.facts, *steps), name, shapes, limit
            ),
        )

    def kernel(self, request: Request) -> Response:
        """The kernel table."""
        group = parameters.word(request.args, "group", KERNEL_GROUPS, "name")
        limit = self._settings.max_table_rows
        return self._view(
            request,
            f"kernel {group}",
            lambda o, steps: kernel_payload(o.facts, choose(o.facts, *steps), group, limit),
        )

    def trace(self, request: Request) -> Response:
        """What the Trace page offers."""

        def payload(opened: Opened, steps: tuple[int | None, int | None, bool]) -> Wire:
            span, trace = opened.span, opened.trace
            name = parameters.file_name(span.path.replace("\\", "/").rpartition("/")[2])
            chosen = choose(opened.facts, *steps)
            return trace_payload(
                opened.facts,
                chosen,
                name,
                span.bytes,
                trace.entries,
                trace.origin_ns,
                self._settings.perfetto_url,
            )

        return self._view(request, "trace", payload)

    def trace_file(self, request: Request) -> Response:
        """The trace file itself or a window of it."""
        return downloads.trace_file(request, self._opened(request), self._settings)

    def _opened(self, request: Request) -> Opened:
        run, worker, span = (
            parameters.text(request.args, name) for name in ("run", "worker", "span")
        )
        return self._catalogue.open(run, worker, span)

    def _view(
        self,
        request: Request,
        key: str,
        payload: Callable[[Opened, tuple[int | None, int | None, bool]], Wire],
        also: Callable[[Opened], str] = lambda opened: "",
    ) -> Response:
        """A payload of one trace, made once per trace, steps and ``key``."""
        steps = parameters.step_range(request.args)
        opened = self._opened(request)

        def make() -> Body:
            return replies.encode(payload(opened, (steps.first, steps.last, steps.skip_cold)))

        return replies.send(request, opened.memoise(f"{key} {steps.key} {also(opened)}", make))
