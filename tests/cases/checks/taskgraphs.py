"""Checks of deploy.case."""
from json_output import follows  # noqa: F401
