"""What torch.compile made: the kernels of compiled graphs, what they fuse, and their source lines."""
