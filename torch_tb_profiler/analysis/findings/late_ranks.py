"""What the rules about a rank that holds the others back say alike."""

from __future__ import annotations

from torch_tb_profiler.analysis.findings.rule import Unit
from torch_tb_profiler.analysis.what_if.outcomes import Reach

ATTEMPT = """Look at what it does longer: give it the same data and layers as the others, take work off it that they
    do not have, load its data sooner. Where the same work takes longer, look at its device and processor: clocks,
    temperature, other programs."""
CAVEAT = """Stages of a pipeline that hold different parts of a model differ by design, as far as they cannot be balanced."""
DETAILS = (
    ("why", "{why}."),
    ("unexplained", "The trace does not say what takes longer."),
)
NUMBERS: dict[str, tuple[str, Unit]] = {
    "held": ("Holds the others back by", "ns"),
    "held_steps": ("Steps that it holds back", "count"),
    "of_steps": ("", "count"),
    "extra": ("Of it in the worst step, what takes longest", "ns"),
}
REACH = Reach(0.6, 1.4)
