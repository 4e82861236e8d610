"""Traces as pandas DataFrames. ``torch_tb_profiler.open(path)`` is the door.

>>> import torch_tb_profiler
>>> trace = torch_tb_profiler.open("log/run/worker0.1700000000000.pt.trace.json.gz")   # doctest: +SKIP
>>> trace.operators(by="shape").nlargest(10, "device_self_ns")                       # doctest: +SKIP
"""
