#!/usr/bin/env python3
"""Stands in for ssh: `stand_in.py BOARD COMMAND` runs the command in the folder that STAND_IN_BOARD names.

That folder is the home and the current folder of the command, and its environment is its own. What goes
either way passes through this process, as it passes through ssh: who kills it cuts the connection, who
stops it makes the network dead.
"""
import os
import subprocess
import sys
import threading


def copy(source, target):
    """Until one of the two ends; nothing waits in a buffer."""
    try:
        while data := os.read(source, 65536):
            while data:
                data = data[os.write(target, data):]
    except OSError:
        pass
    os.close(target)


def main():
    board = os.environ["STAND_IN_BOARD"]
    environment = {"HOME": board, "PATH": os.environ.get("STAND_IN_PATH", os.environ["PATH"])}
    process = subprocess.Popen(["sh", "-c", sys.argv[2]], cwd=board, env=environment, bufsize=0,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    to_board = threading.Thread(target=copy, args=(0, os.dup(process.stdin.fileno())), daemon=True)
    process.stdin.close()
    to_board.start()
    copy(process.stdout.fileno(), os.dup(1))
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
