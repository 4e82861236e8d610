"""What costs time that could be had back: rules, evidence, and upper bounds that claim no time
twice.

::

    Trace, Facts, Insight ─▶ Case (steps, gaps of the device, host calls) ─▶ rules, in order ─▶
    ledger ─▶ findings
                                                                                └─ each claims
                                                                                wall-clock time,
                                                                                none twice
"""
