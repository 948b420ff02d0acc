"""Durations as people write them."""
import datetime

from ._core import Error

_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}


def seconds(duration) -> float:
    """Of a number of seconds, a text such as "200ms", or a timedelta."""
    if isinstance(duration, datetime.timedelta):
        return duration.total_seconds()
    if isinstance(duration, str):
        for unit in sorted(_UNITS, key=len, reverse=True):
            number = duration[:-len(unit)].strip()
            if duration.endswith(unit) and number.replace(".", "", 1).isdigit():
                return float(number) * _UNITS[unit]
        raise Error(f"duration: found '{duration}', expected a number with ns, us, ms, s or min, such as "
                    "'200ms'")
    return float(duration)
