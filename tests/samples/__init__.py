"""The sample runs and the generator: what is committed, and that the engine's figures are the
generator's.
"""
