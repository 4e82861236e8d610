"""Facts → payloads: one folder per tab; the wire types that tabs share are declared in ``wire.py``."""
