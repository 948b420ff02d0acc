"""interpreter_size.py OBJECT...: the code and constants of the interpreter, with what of the standard
library is compiled into it, are at most 32 KiB, and it calls nothing but memcpy."""

import subprocess
import sys

MOST_BYTES = 32 * 1024
# Who writes machine code may clear memory by a call.
ALLOWED = {"memcpy", "memset", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}


def size_of(objects):
    lines = subprocess.run(["size", *objects], check=True, capture_output=True, text=True).stdout.splitlines()
    return sum(int(line.split()[0]) for line in lines[1:])


def symbols(objects, option):
    text = subprocess.run(["nm", "--format=posix", option, *objects], check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in text.splitlines() if line and not line.endswith(":")}


def main():
    objects = [name for name in sys.argv[1:] if name.endswith(".o")]
    assert objects, "no objects were given"
    size = size_of(objects)
    needed = symbols(objects, "--undefined-only") - symbols(objects, "--defined-only") - ALLOWED
    print(f"the interpreter has {size} bytes of code and constants, at most {MOST_BYTES} are allowed")
    if size > MOST_BYTES:
        sys.exit("it is too large")
    if needed:
        sys.exit(f"it needs {', '.join(sorted(needed))}")


if __name__ == "__main__":
    main()
