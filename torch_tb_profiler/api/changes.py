"""Two traces compared, as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch_tb_profiler.api.frame import frame
from torch_tb_profiler.api.frame_columns import DIFF
from torch_tb_profiler.api.one import One
from torch_tb_profiler.views.diff import Recording, compared, diff_payload

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_ROWS = 1 << 24


def changes(a: One, b: One) -> DataFrame:
    """See ``frame_columns.DIFF``.

    ``attrs["verdict"]`` is the answer in one sentence, ``because`` what made most of it, ``beyond`` whether it is more than noise (None: cannot be told),
    ``p`` of the test, ``delta_ns`` per step, and ``notes`` what makes the comparison weak.
    """
    found = compared((a.facts, a.insight, a.selection()), (b.facts, b.insight, b.selection()))
    payload = diff_payload(found, _recording(a), _recording(b), MOST_ROWS)
    rows = payload.changes
    values: dict[str, Any] = {column.name: getattr(rows, column.name) for column in DIFF.columns}
    made = frame(DIFF, values)
    said = payload.verdict
    made.attrs |= {
        "verdict": said.sentence, "because": said.because, "beyond": said.beyond, "p": said.p, "delta_ns": said.delta_ns, "share": said.share,
        "notes": payload.notes,
    }
    return made


def _recording(one: One) -> Recording:
    opened = one.opened
    return Recording(opened.run.name, opened.worker.name, opened.span.name, opened.span.path, one.trace.header)
