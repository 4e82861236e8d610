"""The page in a real browser, inside a real TensorBoard."""
