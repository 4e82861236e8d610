"""Calls of the accelerator's runtime and driver: how long they take, what they launch, what is copied."""
