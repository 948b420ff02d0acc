"""Measures the C++ sources against the style of the project; see ../check_style.py."""
