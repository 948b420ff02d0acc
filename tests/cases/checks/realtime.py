"""Checks of realtime.case."""
from json_output import follows  # noqa: F401
