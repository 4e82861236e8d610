"""DataFrames of several traces in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.api.frame import coded
from torch_tb_profiler.api.frame_columns import PLACE
from torch_tb_profiler.runs.model import Opened

if TYPE_CHECKING:
    from pandas import DataFrame


def joined(parts: Sequence[tuple[Opened, DataFrame]]) -> DataFrame:
    """One frame with ``worker`` and ``span`` in front, and ``run`` if there are several runs."""
    import pandas

    several = len({opened.run.name for opened, _ in parts}) > 1
    names: dict[str, list[str]] = {
        **({"run": [opened.run.name for opened, _ in parts]} if several else {}),
        "worker": [opened.worker.name for opened, _ in parts],
        "span": [opened.span.name for opened, _ in parts],
    }
    # Empty frames have no types; pandas warns of them.
    filled = [frame for _, frame in parts if len(frame)] or [parts[0][1]]
    _share_categories(filled)
    together: DataFrame = pandas.concat(filled, ignore_index=True) if len(filled) > 1 else filled[0]
    lengths = [len(frame) for _, frame in parts]
    for position, (column, texts) in enumerate(names.items()):
        together.insert(position, column, _repeated(texts, lengths))
    place_docs = {column.name: column for column in PLACE.columns if column.name in names}
    together.attrs = _attributes([frame.attrs for _, frame in parts])
    together.attrs["units"] = {**dict.fromkeys(names, ""), **together.attrs.get("units", {})}
    together.attrs["docs"] = {
        **{name: place_docs[name].doc for name in names},
        **together.attrs.get("docs", {}),
    }
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


def _attributes(listed: Sequence[Mapping[Any, Any]]) -> dict[Any, Any]:
    """Units and docs of all columns; other attributes as lists, one entry per trace."""
    merged: dict[Any, Any] = {"units": {}, "docs": {}}
    for attributes in listed:
        for key in ("units", "docs"):
            merged[key] |= attributes.get(key, {})
    for key in dict.fromkeys(
        key for attributes in listed for key in attributes if key not in merged
    ):
        merged[key] = [attributes.get(key) for attributes in listed]
    return merged
