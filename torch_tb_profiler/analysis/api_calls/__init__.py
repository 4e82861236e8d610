"""Calls of the accelerator's runtime and driver: how long they take, what they launch, how work queues up, what is copied, which kernels follow each other."""
