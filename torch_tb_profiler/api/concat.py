"""DataFrames of several traces in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.api.table_frame import coded, table_frame
from torch_tb_profiler.runs.model import Opened
from torch_tb_profiler.store.display import display_spec
from torch_tb_profiler.store.strings import NO_STRINGS

if TYPE_CHECKING:
    from pandas import DataFrame


PLACE = display_spec("""
place: The first columns of every frame of several traces.
    run     category  -  -  Name of the run; only where there are several.
    worker  category  -  -  Name of the worker.
    span    category  -  -  Name of the span: one trace file of the worker.
""")


def joint_frame(parts: Sequence[tuple[Opened, DataFrame]]) -> DataFrame:
    """One frame with ``worker`` and ``span`` in front, and ``run`` if there are several runs."""
    import pandas

    names = {
        "run": [opened.run.name for opened, _ in parts],
        "worker": [opened.worker.name for opened, _ in parts],
        "span": [opened.span.name for opened, _ in parts],
    }
    if len(set(names["run"])) == 1:
        del names["run"]
    # Empty frames have no types; pandas warns of them.
    filled = [frame for _, frame in parts if len(frame)] or [parts[0][1]]
    _share_categories(filled)
    together: DataFrame = pandas.concat(filled, ignore_index=True) if len(filled) > 1 else filled[0]
    lengths = [len(frame) for _, frame in parts]
    columns = {name: _repeated(texts, lengths) for name, texts in names.items()}
    place = table_frame(PLACE.build(NO_STRINGS, **columns))
    for position, name in enumerate(names):
        together.insert(position, name, place[name])
    together.attrs = _attributes(place.attrs, [frame.attrs for _, frame in parts])
    return together


def _repeated(texts: list[str], lengths: list[int]) -> Any:
    import numpy as np

    distinct = list(dict.fromkeys(texts))
    return coded(np.repeat([distinct.index(text) for text in texts], lengths), distinct)


def _share_categories(frames: list[DataFrame]) -> None:
    """Categorical columns keep their type only where all frames have the same categories."""
    import pandas

    for column in frames[0].columns if len(frames) > 1 else ():
        if isinstance(frames[0][column].dtype, pandas.CategoricalDtype):
            categories = list(
                dict.fromkeys(text for frame in frames for text in frame[column].cat.categories)
            )
            for frame in frames:
                frame[column] = frame[column].cat.set_categories(categories)


def _attributes(place: Mapping[Any, Any], listed: Sequence[Mapping[Any, Any]]) -> dict[Any, Any]:
    """Units and docs of all columns; other attributes as lists, one entry per trace."""
    merged: dict[Any, Any] = {"units": {}, "docs": {}}
    for attributes in (place, *listed):
        for key in ("units", "docs"):
            merged[key] |= attributes.get(key, {})
    for key in dict.fromkeys(
        key for attributes in listed for key in attributes if key not in merged
    ):
        merged[key] = [attributes.get(key) for attributes in listed]
    return merged
