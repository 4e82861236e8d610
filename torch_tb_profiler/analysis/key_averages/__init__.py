"""The function events of ``torch.autograd.profiler`` and their averages, by PyTorch 2.13's rules.

::

    Trace ─▶ function_events (which, in which order, who is in whom) ─▶ groups (sums by key)
                └── times, call_stacks, flops: a column each
"""
