"""What costs recoverable time: rules, evidence, and upper bounds that claim no time twice.

::

    Trace, Facts, Insight ─▶ Case ─▶ rules, in order ─▶ ledger ─▶ findings
                      (steps, gaps, calls)     └─ each claims wall-clock time, none twice
"""
