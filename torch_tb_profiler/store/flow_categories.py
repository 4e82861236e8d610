"""Flow categories with a meaning of their own; others are shown as written."""

FORWARD_BACKWARD = ("fwdbwd", "forward_backward")
"""From an operator to its backward, as several versions of PyTorch call it."""
GRAPH_CAPTURE = "graph_capture"
"""From the capture of a graph node to the work of its replays."""
