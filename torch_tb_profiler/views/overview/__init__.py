"""The Overview tab, of one trace and of a run, and its figures as plain objects."""
