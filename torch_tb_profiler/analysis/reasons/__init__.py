"""Why a place takes its time, asked in general: what was recorded of the program's calls (``calls.py``), what they read and make
(``uses.py``), and the questions that are asked of all of them (``questions/``).
"""
