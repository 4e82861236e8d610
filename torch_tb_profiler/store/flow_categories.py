"""Flow categories with a meaning of their own; others are shown as written."""

FORWARD_BACKWARD = ("fwdbwd", "forward_backward")
"""From an operator to its backward, as several versions of PyTorch call it."""
GRAPH_CAPTURE = "graph_capture"
"""From the capture of a graph node to the work of its replays."""
OPERATOR_TO_WORK = "async_npu"
"""From an operator to the work that it had done (torch_npu)."""
AROUND_LAUNCH = "HostToDevice"
"""From a point within a call of the runtime, which need not be recorded itself, to the work (CANN)."""
ENQUEUED, DEQUEUED = "enqueue", "dequeue"
"""Categories of the spans in which torch_npu hands a call to another thread, and in which that thread
makes it.
"""
