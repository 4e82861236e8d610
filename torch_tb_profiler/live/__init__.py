"""Recording a job or a server that runs: ``listener`` within it, ``client`` for whoever asks.

::

    torch-tb-profiler record HOST:PORT ─▶ listener of any rank: where are the others?
                                       ─▶ every rank: which step are you in?
                                       ─▶ every rank: record from step S on    S: ahead of all of them
"""
