"""The words that users read, and those that they shall not."""
