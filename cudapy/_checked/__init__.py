"""What type checkers and editors see of the raising faces, `driver.checked` and its siblings.

A stub (`driver.pyi`) has the functions with their results alone; `python -m tests.checked_stubs` writes it.
The module beside it (`driver.py`) leads editors to their documentation and source. No program imports it.
"""
