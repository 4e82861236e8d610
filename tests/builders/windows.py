"""Files to compare: steps of given lengths, and windows of fixed length without steps, in which items repeat.

::

    main      |op op      |op op      |op op      |op             every item calls the same
    stream 7   {k}{k}      {k}{k}      {k}{k}      {k}            begin to begin is what an item takes
              └──────────── the window ────────────┘
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.builders.loop import Event, span

FIRST_US = 1000.0


def written(folder: Path, name: str, events: Sequence[Event]) -> str:
    """The path of a folder with a recording of these events."""
    path = folder / name / "worker0.pt.trace.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": list(events)}))
    return str(path.parent)


def steps(lengths: Sequence[float]) -> list[Event]:
    """Steps of these lengths in µs one after the other; an operator fills nine tenths of each."""
    events, at = [], FIRST_US
    for number, length in enumerate(lengths):
        mark, inner = f"ProfilerStep#{number}", round(length * 0.9, 3)
        events.append(span("user_annotation", mark, 100, 100, at, round(length, 3)))
        events.append(span("cpu_op", "aten::mm", 100, 100, round(at + length / 20, 3), inner))
        at = round(at + length, 3)
    return events
