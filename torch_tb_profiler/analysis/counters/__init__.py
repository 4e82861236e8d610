"""Hardware counters: profiled ranges tied to their kernels, and samples over time."""
