"""Tables as a notebook shows them: figures with their units, findings as sentences, the critical path as bars.

``attrs["units"]`` of a frame says what its columns hold, ``units.py`` how that is printed. Texts come from traces and are
escaped.
"""

from __future__ import annotations

import html
import numbers
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.analysis.critical_path.table import KINDS
from torch_tb_profiler.units import (
    UNKNOWN,
    and_more,
    format_count,
    format_names,
    format_ns,
    format_number,
    format_rate,
    format_share,
    format_value,
)
from torch_tb_profiler.views.words.escapes import one_line

if TYPE_CHECKING:
    from pandas import DataFrame

ROWS = 30
LONGEST = 80
MOST_STEPS = 12
MOST_PARTS = 10
_FINDINGS = {"title", "sentence", "attempt"}
_PATH = {"kind", "step", "start_ns", "dur_ns", "name"}
_RATES = {"FLOP/s": "FLOP/s", "bytes/s": "B/s"}
_COLORS = {
    "kernel": "#0072b2",
    "communication": "#d55e00",
    "waiting": "#e69f00",
    "memcpy": "#009e73",
    "memset": "#56b4e9",
    "dataloader": "#cc79a7",
    "launch": "#f0e442",
    "synchronization": "#b2abd2",
}
"""The Okabe-Ito colours of the page; other kinds are grey."""
_GREY = "#8a93a0"
_LEFT = "text-align: left; vertical-align: top"
_RIGHT = "text-align: right; vertical-align: top; white-space: nowrap"


class StyledTable:
    """A frame with its units; a notebook shows it where it is the value of a cell."""

    def __init__(self, frame: DataFrame, rows: int) -> None:
        self.frame = frame
        """The frame itself."""
        self._rows = rows

    def _repr_html_(self) -> str:
        columns = set(map(str, self.frame.columns))
        if columns >= _FINDINGS:
            return _findings(self.frame, self._rows)
        if columns >= _PATH:
            return _path(self.frame)
        return _table(self.frame, self._rows)

    def __repr__(self) -> str:
        shown: DataFrame = self.frame.head(self._rows).copy()
        shown.columns = [str(name) for name in shown.columns]
        texts = {
            number: [text for text, _ in cells]
            for number, (_, cells, _) in enumerate(_columns(shown))
        }
        made = type(shown)(texts, index=shown.index)
        made.columns = shown.columns
        return f"{made.to_string()}\n{_left_out(len(self.frame), self._rows)}".rstrip()


def styled(frame: DataFrame, rows: int = ROWS) -> StyledTable:
    """A table of ``open`` for the eye: times, sizes, shares and rates with the unit that fits, unknown as –, the meaning of a
    column on its heading; findings as sentences, a critical path as bars. At most ``rows`` rows.

    Raises:
        TypeError: it is no DataFrame.
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
        raise TypeError(f"a DataFrame can be styled, not {type(frame).__name__}")
    return StyledTable(frame, max(int(rows), 1))


def register(shell: Any) -> None:
    """Have a shell of IPython show every table of ours so, and any other frame as before."""
    from pandas import DataFrame

    def shown(frame: DataFrame) -> str | None:
        if "units" in frame.attrs and "docs" in frame.attrs:
            return styled(frame)._repr_html_()
        plain: str | None = frame._repr_html_()  # type: ignore[operator]
        return plain

    shell.display_formatter.formatters["text/html"].for_type(DataFrame, shown)


def unregister(shell: Any) -> None:
    """The shell as it was."""
    from pandas import DataFrame

    shell.display_formatter.formatters["text/html"].pop(DataFrame, None)


Cell = tuple[str, float | None]
"""A text, and the share that a bar behind it shows."""


def _columns(frame: DataFrame) -> Iterator[tuple[str, list[Cell], bool]]:
    """Name, cells, and whether they are figures, of each column."""
    units = frame.attrs.get("units", {})
    for place, label in enumerate(frame.columns):
        values = frame.iloc[:, place]
        figures = getattr(values.dtype, "kind", "O") in "iuf"
        show = _format(str(units.get(label, "")))
        cells = [show(None if _missing(value) else value) for value in values.tolist()]
        yield one_line(str(label)), cells, figures


def _missing(value: Any) -> bool:
    import pandas

    return bool(pandas.api.types.is_scalar(value) and pandas.isna(value))


def _format(unit: str) -> Callable[[Any], Cell]:
    def show(value: Any) -> Cell:
        if value is None:
            return UNKNOWN, None
        if isinstance(value, bool):
            return ("yes" if value else "no"), None
        if isinstance(value, numbers.Real):
            return _figure(float(value) if unit else value, unit)
        if isinstance(value, (tuple, list)):
            return format_names([one_line(str(item)) for item in value]) or UNKNOWN, None
        return one_line(str(value)), None

    return show


def _figure(value: Any, unit: str) -> Cell:
    if unit.startswith("row"):
        return f"{value:.0f}", None
    if unit in _RATES:
        return format_rate(value, _RATES[unit]), None
    if unit in ("ns", "bytes", "share", "FLOP"):
        return format_value(value, unit), value if unit == "share" else None
    return format_number(value), None


def _table(frame: DataFrame, rows: int) -> str:
    docs = frame.attrs.get("docs", {})
    shown = frame.head(rows)
    index = _index(shown)
    listed = list(_columns(shown))
    heads = "".join(f'<th style="{_LEFT}"></th>' for _ in index[:1])
    heads += "".join(
        f'<th style="{_RIGHT if figures else _LEFT}" title="{html.escape(str(docs.get(label, "")))}">'
        f"{html.escape(name)}</th>"
        for label, (name, _, figures) in zip(shown.columns, listed, strict=True)
    )
    body = "".join(
        f"<tr>{_index_cell(index, row)}"
        f"{''.join(_cell(cells[row], figures) for _, cells, figures in listed)}</tr>"
        for row in range(len(shown))
    )
    return (
        f'<div style="overflow-x: auto"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
        f"{_note(_left_out(len(frame), rows))}"
    )


def _index(frame: DataFrame) -> list[str]:
    """Texts of the index; empty where it only numbers the rows."""
    if frame.index.name is None and frame.index.nlevels == 1 and frame.index.dtype.kind in "iu":
        return []
    return [one_line(str(label)) for label in frame.index.tolist()]


def _index_cell(index: list[str], row: int) -> str:
    return f'<th style="{_LEFT}">{html.escape(index[row])}</th>' if index else ""


def _cell(cell: Cell, figures: bool) -> str:
    text, share = cell
    style = _RIGHT if figures else _LEFT
    if share is not None and 0 < share <= 1:
        style += (
            f"; background: linear-gradient(to right, #4c8bf540 {share * 100:.1f}%, transparent 0)"
        )
    cut = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    title = "" if cut == text else f' title="{html.escape(text)}"'
    return f'<td style="{style}"{title}>{html.escape(cut)}</td>'


def _left_out(rows: int, most: int) -> str:
    return f"{format_count(most)} of {format_count(rows)} rows" if rows > most else ""


def _note(text: str) -> str:
    return f"<p>{html.escape(text)}</p>" if text else ""


def _findings(frame: DataFrame, rows: int) -> str:
    headlines = frame.attrs.get("headline") or []
    # Of a run there is one per trace.
    told = [headlines] if isinstance(headlines, str) else dict.fromkeys(filter(None, headlines))
    parts = [f"<p><b>{html.escape(one_line(text))}</b></p>" for text in list(told)[:MOST_PARTS]]
    parts.append("<ol>")
    for row in frame.head(rows).to_dict("records"):
        gain = row.get("recoverable_ns")
        saved = "" if gain is None or _missing(gain) else f" · {format_ns(float(gain))} per step"
        share = row.get("share")
        saved += f" ({format_share(float(share))})" if saved and not _missing(share) else ""
        worker = "" if _missing(row.get("worker")) else f"{row['worker']}: "
        events = [f"#{event}" for event in row.get("events") or ()]
        lines = [f"<b>{html.escape(one_line(worker + str(row['title'])))}</b>{html.escape(saved)}"]
        lines += [
            f"{label}{html.escape(one_line(str(text)))}"
            for label, text in (
                ("", row["sentence"]),
                ("Try: ", row["attempt"]),
                ("Events: ", format_names(events)),
            )
            if text and not _missing(text)
        ]
        parts.append(f"<li>{'<br>'.join(lines)}</li>")
    return "".join([*parts, "</ol>", _note(_left_out(len(frame), rows))])


def _path(frame: DataFrame) -> str:
    """A bar per step of what its segments add up to by kind, and the longest of them by name."""
    # With ``steps`` it is one path through all ranks.
    through = "steps" in frame.attrs
    places = [name for name in ("run", "worker", "span") if name in frame.columns and not through]
    steps = frame.groupby([*places, "step"], observed=True, sort=False)["dur_ns"].sum()
    sums = frame.groupby([*places, "step", "kind"], observed=True)["dur_ns"].sum()
    rows = []
    for place, wall in steps.head(MOST_STEPS).items():
        kinds = sums.loc[place].sort_values(ascending=False, kind="stable")
        where = [str(part) for part in (place if isinstance(place, tuple) else (place,))]
        where[-1] = f"step {where[-1]}"
        rows.append(
            f'<tr><th style="{_LEFT}; white-space: nowrap">{html.escape(one_line(" · ".join(where)))}</th>'
            f'<td style="{_RIGHT}">{format_ns(float(wall))}</td>'
            f'<td style="{_LEFT}; width: 100%">{_bar(kinds.items(), float(wall))}</td></tr>'
        )
    left = and_more(len(steps) - MOST_STEPS)
    total = max(float(frame["dur_ns"].sum()), 1.0)
    named = frame.assign(name=frame["name"].astype(object).where(frame["name"].notna(), UNKNOWN))
    longest = named.groupby(["kind", "name"], observed=True)["dur_ns"].sum().nlargest(MOST_PARTS)
    listed = "".join(
        f'<tr><td style="{_LEFT}">{_dot(kind)}{html.escape(KINDS.get(kind, one_line(str(kind))))}</td>'
        f"{_cell((one_line(str(name)), None), False)}"
        f"{_cell((format_ns(float(ns)), None), True)}{_cell((format_share(ns / total), ns / total), True)}</tr>"
        for (kind, name), ns in longest.items()
    )
    return (
        f'<table style="width: 100%"><tbody>{"".join(rows)}</tbody></table>{_note(left)}'
        f"<table><tbody>{listed}</tbody></table>"
    )


def _bar(kinds: Any, wall: float) -> str:
    parts = "".join(
        f'<span style="display: inline-block; height: 14px; width: {100 * ns / max(wall, 1):.2f}%; background: '
        f'{_COLORS.get(kind, _GREY)}" title="{html.escape(KINDS.get(kind, one_line(str(kind))))} {format_ns(float(ns))}"></span>'
        for kind, ns in kinds
        if ns > 0
    )
    return f'<div style="white-space: nowrap; font-size: 0; min-width: 240px">{parts}</div>'


def _dot(kind: str) -> str:
    return (
        '<span style="display: inline-block; width: 10px; height: 10px; margin-right: 6px; background:'
        f' {_COLORS.get(kind, _GREY)}"></span>'
    )
