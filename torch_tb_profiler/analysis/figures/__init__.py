"""What is asked of the facts for a selection of steps."""
