"""Idle time of the device within records of the driver that loads or compiles kernels (``Lazy
Function Loading``, …), as it does when each is first called.

Change: the host spends no time in them. Certain.
"""

from __future__ import annotations

from torch_tb_profiler.analysis.findings.host_time import overhead_records
from torch_tb_profiler.analysis.findings.rule import Rule

RULE = Rule(
    place=30,
    claim=lambda context: overhead_records(context, loading=True),
    title="Kernels are loaded inside the {step}",
    action="Load kernels before the {step}",
    fact="{records} loads per {step}",
    sentence="""The driver loads or compiles kernels {records} times per {step}; with all kernels there
    the {step} is {gain} ({share}) shorter.""",
    attempt="""Call everything once before it counts: more warm-up steps, or
    CUDA_MODULE_LOADING=EAGER in the environment.""",
    caveat="It happens once per kernel: later steps do not pay for it.",
    views=("overview", "kernel", "trace"),
    cause="Loading kernels takes {gain} of {the_step}",
    without="With all kernels loaded",
    numbers={"records": ("Overhead records", "count")},
)
