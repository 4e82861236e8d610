"""The model behind ``samples/synthesize.py``: what a training job does (``training``), what a
process records of it (``process``),
how Kineto writes it (``text``), and the figures that follow from the model by construction
(``ledger``).

Nothing here imports ``torch_tb_profiler``: the expected figures are an independent account.
"""
