#!/usr/bin/env python3
"""Whether docs/methods/plug-ins.md shows examples/engine/example.c as it is: page.py SOURCE_FOLDER."""
import re
import sys
from pathlib import Path

MOST_LINES, MOST_WORDS = 150, 2000


def main():
    root = Path(sys.argv[1])
    page = (root / "docs/methods/plug-ins.md").read_text()
    code = (root / "examples/engine/example.c").read_text()
    includes = set(re.findall(r"#include <(.*)>", code))
    faults = []
    if f"```c\n{code}```\n" not in page:
        faults.append("the page's code is not that of examples/engine/example.c")
    if len(code.splitlines()) > MOST_LINES:
        faults.append(f"the example has {len(code.splitlines())} lines, at most {MOST_LINES}")
    if includes - {"stdio.h", "stdlib.h", "string.h"} != {"millrace/engine.h"}:
        faults.append(f"the example includes {sorted(includes)}")
    if len(page.split()) > MOST_WORDS:
        faults.append(f"the page has {len(page.split())} words, at most {MOST_WORDS}")
    print("\n".join(faults) or "the page has the example")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
