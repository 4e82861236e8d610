"""Categories of flows that mean something to us; others are shown as they are written."""

FORWARD_BACKWARD = ("fwdbwd", "forward_backward")
"""From an operator to the one that undoes it, in PyTorch's words of several versions."""
GRAPH_CAPTURE = "graph_capture"
"""From where a node of a graph was made to the work that its replays do."""
