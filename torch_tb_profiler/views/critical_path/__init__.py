"""The Critical Path tab, of one trace and through all ranks, and what-ifs along it."""
