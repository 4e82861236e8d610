"""What the recording did not contain, so that a view can say which option records it."""

from __future__ import annotations

from torch_tb_profiler.analysis.flags import StepFlag
from torch_tb_profiler.store.trace import Facts


def absent(facts: Facts) -> tuple[str, ...]:
    """Keys of what is missing, of ``device``, ``shapes``, ``stack``, ``steps``, ``memory``, ``host``."""
    summary = facts.summary
    steps = facts["steps"]
    missing = {
        "device": not summary["has_device"],
        "shapes": not summary["has_shapes"],
        "stack": not summary["has_stacks"],
        "steps": steps.n == 0 or bool(steps["flags"][0] & StepFlag.WHOLE),
        "memory": not summary["has_memory"],
        "host": facts["operators"].n == 0,
    }
    return tuple(key for key, is_missing in missing.items() if is_missing)
