"""How far operators and kernels are from what the hardware can do."""
