#!/usr/bin/env python3
"""Calls a function of a file of checks: what `check NAME ARGUMENT...` is in a text case.

  run_check.py checks/CASE.py NAME ARGUMENT...
"""
import importlib.util
import os
import sys


def main():
    path, name, *arguments = sys.argv[1:]
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("checks", path)
    checks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checks)
    getattr(checks, name)(*arguments)


if __name__ == "__main__":
    main()
