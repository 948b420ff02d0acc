"""The workers that a run has started."""
import subprocess
from pathlib import Path


def workers_of(process, board=""):
    """Among the children of the process, and theirs; those of the board that BOARD names in their environment."""
    found, look = [], [process]
    while look:
        children = subprocess.run(["pgrep", "-P", str(look.pop())], capture_output=True, text=True)
        for child in map(int, children.stdout.split()):
            look.append(child)
            try:
                named = not board or f"BOARD={board}" in Path(f"/proc/{child}/environ").read_text()
                if named and "millrace-worker" in Path(f"/proc/{child}/cmdline").read_text():
                    found.append(child)
            except OSError:
                pass
    return found
