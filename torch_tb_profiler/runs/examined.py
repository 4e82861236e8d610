"""What a file is before it is imported: imported earlier, no trace, or to be imported."""

from __future__ import annotations

from torch_tb_profiler.errors import SidecarError, SourceError
from torch_tb_profiler.runs.entries import Entry, is_of
from torch_tb_profiler.runs.import_job import Outcome
from torch_tb_profiler.runs.keeper import Keeper
from torch_tb_profiler.sources import sniff


def examine(keeper: Keeper, entry: Entry, sidecar: str) -> tuple[Outcome | None, str, str]:
    """The earlier import of a file, else why it is not to be imported, in words and as a code; nothing where it is."""
    if keeper.settings.use_cache:
        try:
            outcome = keeper.outcome(sidecar)
            if is_of(outcome.identity, entry.found):
                return outcome, "", ""
        except SidecarError:
            pass
        except SourceError as error:  # the cache is at a URL
            return None, error.message, error.code
    if entry.found.size == 0:
        return None, "The file is empty.", "not_a_trace"
    try:
        # The import looks at the content itself; a name that claims a trace is listed without
        # waiting for that.
        reason = None if entry.name.by_handler else sniff.rejection(entry.found.location)
    except SourceError as error:
        return None, error.message, error.code
    return None, reason or "", "not_a_trace"
