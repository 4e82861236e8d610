"""PyProf's kernel table: every kernel launch with the call of the program that it works for."""
