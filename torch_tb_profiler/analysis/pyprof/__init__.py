"""The kernel table of PyProf: every launch of a kernel with the call of the program that it does
the work of.
"""
