"""What goes wrong."""


class Failed(Exception):
    """What could not be done and why, in one line."""


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason was given"


def reason_of(text):
    """The most telling line that a program printed: the last that names an error."""
    errors = [line.strip() for line in text.splitlines() if "error" in line.lower()]
    return (errors[-1] if errors else last_line(text)).removeprefix("error: ")
