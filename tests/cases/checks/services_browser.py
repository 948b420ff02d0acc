"""The checks of services.py, in a browser."""
from services import *  # noqa: F401,F403
