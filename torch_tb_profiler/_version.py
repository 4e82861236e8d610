"""The version of the package, stated only here."""

__version__ = "1.0.0rc1"
