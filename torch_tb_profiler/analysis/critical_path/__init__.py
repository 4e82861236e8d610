"""What the end of a step waited for."""
