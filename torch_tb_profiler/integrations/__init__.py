"""Recording from a training loop in one line: ``transformers``, ``lightning``, ``accelerate``, or a loop of your own.

Each module here needs the package of its name, and only that. ``steps.StepRecorder`` does the work.
"""
