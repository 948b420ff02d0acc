"""Checks of admit.case."""
from json_output import follows  # noqa: F401
