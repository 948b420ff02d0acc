"""The command: python -m millrace."""
import os
import shutil
import sys


def command():
    """The path of the command: the package's own, or what MILLRACE_COMMAND or the PATH says."""
    own = os.path.join(os.path.dirname(__file__), "bin", "millrace")
    if os.path.exists(own):
        return own
    return os.environ.get("MILLRACE_COMMAND") or shutil.which("millrace")


def main():
    found = command()
    if found is None:
        sys.exit("millrace: the command is not installed; install the package that has it")
    os.execv(found, [found, *sys.argv[1:]])


if __name__ == "__main__":
    main()
