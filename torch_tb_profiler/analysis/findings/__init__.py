"""What costs step time: rules, their evidence, and what the change of each would save, simulated.

::

    Simulation ─▶ RuleContext ─▶ rules, in order ─▶ candidates ─▶ simulation ─▶ what each saves per step
              (steps, gaps, calls)           (evidence, a change)    └─ all changes of a certainty together
"""
