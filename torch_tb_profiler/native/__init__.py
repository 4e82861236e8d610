"""What is compiled at installation, and how Python calls it. Nothing needs it: all of it is also there in Python,
which says what is right.
"""
