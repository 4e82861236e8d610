"""What a step would take if something in it were different: the dependency graph, replayed forward."""
