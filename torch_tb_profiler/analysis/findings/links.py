"""Pages of PyTorch that several rules lead to."""

DOCS = "https://docs.pytorch.org/docs/stable/"
TUTORIALS = "https://docs.pytorch.org/tutorials/"

LOADING = ("Multi-process data loading", DOCS + "data.html#single-and-multi-process-data-loading")
AMP = ("Automatic mixed precision", DOCS + "amp.html")
CHECKPOINT = ("Activation checkpointing", DOCS + "checkpoint.html")
COMPILE = ("torch.compile", DOCS + "torch.compiler.html")
TUNING = ("Performance tuning guide", TUTORIALS + "recipes/recipes/tuning_guide.html")
PINNED = ("Pinned memory and non_blocking copies", TUTORIALS + "intermediate/pinmem_nonblock.html")
