"""The checks of services.py, with a broker."""
from services import *  # noqa: F401,F403
