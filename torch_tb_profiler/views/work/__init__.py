"""The tabs that sum work: operators, kernels, modules, API calls, counters, iterations, and efficiency."""
