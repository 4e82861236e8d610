"""Which of two things are one: by name, by order, by the structure of call trees, by the events of steps."""
