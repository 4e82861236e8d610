"""The report of ``torch-tb-profiler whatif``."""

from __future__ import annotations

import argparse

from torch_tb_profiler.analysis.critical_path.table import KINDS
from torch_tb_profiler.analysis.what_if.changes import read_change
from torch_tb_profiler.analysis.what_if.table import what_if_document, what_if_table
from torch_tb_profiler.cli.document import Column, Document, Table
from torch_tb_profiler.cli.output import Report, identity
from torch_tb_profiler.cli.tables import context_of
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.settings import Settings
from torch_tb_profiler.units import format_count, format_ns, format_share


def report(opened: Opened, settings: Settings, options: argparse.Namespace) -> Report:
    """What a trace would take with all changes at once; without any, with each usual one.

    Raises:
        BadRequest: there is no such change, or there are no such steps.
    """
    context = context_of(opened, settings, options)
    changes = [read_change(text) for text in options.change]
    facts, selection = context.facts, context.selection()

    def document() -> Document:
        rows = what_if_table(facts, context.simulation, changes, selection)
        texts = {key: rows.texts(key) for key in ("change", "words")}
        cells = [
            (
                texts["words"][row] or "",
                texts["change"][row] or "",
                format_ns(float(rows["predicted_ns"][row])),
                " to ".join(format_ns(float(rows[key][row])) for key in ("low_ns", "high_ns")),
                format_ns(float(rows["saved_ns"][row])),
                format_share(float(rows["saved"][row])),
            )
            for row in range(rows.n)
        ]
        columns = (
            Column("What changes", "text"),
            Column("Change", "name"),
            Column("Predicted"),
            Column("Interval"),
            Column("Saved"),
            Column("Share"),
        )
        plain = what_if_document(facts, context.simulation, changes, selection)
        steps = len(selection.steps)
        measured, error = format_ns(plain["measured_ns"]), format_share(plain["replay_error"])
        heading = f"Step of {measured}, mean of {format_count(steps)}; replay error {error}"
        tables = [Table(heading, columns, cells, rows.n)]
        if changes:
            whole = max(sum(plain["by_kind_ns"].values()), 1)
            kinds = sorted(plain["by_kind_ns"].items(), key=lambda pair: -pair[1])
            tables.append(
                Table(
                    "Critical path after it",
                    (Column("Kind", "text"), Column("On the path"), Column("Share")),
                    [
                        (KINDS[kind], format_ns(time), format_share(time / whole))
                        for kind, time in kinds
                    ],
                    len(kinds),
                )
            )
        return Document(opened.title, (opened.span.path,), tuple(tables))

    return Report(
        document,
        lambda: {
            **identity(opened),
            **what_if_document(facts, context.simulation, changes, selection),
        },
    )
