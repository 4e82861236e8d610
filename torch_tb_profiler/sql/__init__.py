"""SQL over the tables of a trace, by DuckDB (the extra ``sql``).

::

    statement ─▶ statement.py: one SELECT over known tables ─▶ engine.py: only these tables as Arrow, no copy ─▶ DuckDB
                                                                    ▲ arrow.py ◀── tables.py: declared tables of the trace,
    server ─▶ process.py ─▶ child.py, a process that can be ended        readable.py: those for people
"""
