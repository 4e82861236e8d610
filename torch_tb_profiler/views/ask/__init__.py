"""What people type into one field, answered from everything that the recording names."""
