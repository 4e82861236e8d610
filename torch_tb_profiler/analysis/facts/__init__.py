"""What is derived once per trace and kept beside it."""
