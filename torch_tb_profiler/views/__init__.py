"""Facts → payloads: one file per tab; the wire types are declared once, in ``wire.py``."""
