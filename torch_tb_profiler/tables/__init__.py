"""The tables that people can ask for by name: ``registry.py`` lists them, the other modules compute them."""
