"""Printed figures beside ours: what every table of docs/evidence/papers has in common.

A table measures its rows, which can take minutes; they are kept in results/NAME.json. From the printed figures and these
rows it renders a block of a page. bench/papers/pages does both, and checks both.
"""
import dataclasses
import json
import math
import re
import subprocess
import sys
import typing
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS = HERE / "results"
PAGES = ROOT / "docs/evidence/papers"
CLOSE = 0.2  # a rate within 20 % of the printed one is called near
DIGITS = 7   # of a number that is kept


@dataclasses.dataclass
class Table:
    name: str                    # of its block and its file of results
    page: str                    # the file in docs/evidence/papers
    keys: typing.Callable        # printed -> the names of its rows; none: it has no rows, or shows those of `source`
    measure: typing.Callable     # context, key -> the values of a row: what millrace wrote, nothing printed
    render: typing.Callable      # printed, rows by key -> Markdown
    sample: tuple = ()           # rows that a test computes again
    volatile: tuple = ()         # values that differ from run to run: times of searches
    source: str = ""             # the table whose rows it shows
    can_lack_rows: bool = False  # it shows those that were computed, and names the others


@dataclasses.dataclass
class Context:
    """Where a measurement finds what it needs, and a folder of its own."""
    millrace: str
    build: Path
    models: Path
    folder: Path
    launch: tuple = ()           # what starts several ranks of a command that searches: "mpirun", "-np", "4"


def published():
    return json.loads((HERE / "published.json").read_text())


def run(context, *words):
    """(standard output, standard error) of millrace; an answer "no" (1) is an answer."""
    words = [str(word) for word in words]
    launch = context.launch if words[0] == "plan" else ()
    done = subprocess.run([*launch, context.millrace, *words], capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"millrace {' '.join(words)}\n{done.stderr}")
    return done.stdout, done.stderr


def kept(value):
    """As it is written to a file of results."""
    if isinstance(value, dict):
        return {str(key): kept(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [kept(each) for each in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def results_of(table):
    path = RESULTS / f"{table.name}.json"
    return json.loads(path.read_text())["rows"] if path.exists() else {}


def keep_results(table, rows):
    """One row a line, so that a difference can be read."""
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(row, sort_keys=True)}" for key, row in rows.items())
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{table.name}.json").write_text(
        f'{{"about": "bench/papers/pages --measure {table.name}", "rows": {{\n{lines}\n}}}}\n')


def differences(before, now, volatile, place=""):
    """Where two values of a row differ, as text."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted(set(before) | set(now)):
            if key not in volatile:
                yield from differences(before.get(key), now.get(key), volatile, f"{place}.{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for i, (one, other) in enumerate(zip(before, now)):
            yield from differences(one, other, volatile, f"{place}[{i}]")
    elif isinstance(before, (int, float)) and isinstance(now, (int, float)):
        if not math.isclose(before, now, rel_tol=1e-3):
            yield f"{place}: kept {before}, computed {now}"
    elif before != now:
        yield f"{place}: kept {before}, computed {now}"


# The blocks of pages.

def block(name):
    return re.compile(rf"(<!-- begin {re.escape(name)}\b[^\n]*-->\n)(.*?)(<!-- end {re.escape(name)} -->)", re.S)


def with_block(text, name, content):
    """The page with another content of the block; an error if it has none of this name."""
    changed, count = block(name).subn(lambda found: found[1] + "\n" + content.strip() + "\n\n" + found[3], text)
    if count != 1:
        raise SystemExit(f"found {count} blocks '{name}', expected 1; add '<!-- begin {name} -->' and '<!-- end {name} -->'")
    return changed


# What renderings have in common.

def markdown(head, rows):
    """`head`: names of columns; one that ends with ':' holds text, else numbers, to the right."""
    names = [name.removesuffix(":") for name in head]
    lines = ["| " + " | ".join(names) + " |",
             "| " + " | ".join("---" if name.endswith(":") else "---:" for name in head) + " |"]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def off_text(here, printed):
    """How far ours is from the printed one; bold where it is not near."""
    if not printed or here is None:
        return "-"
    off = here / printed - 1
    text = f"{100 * off:+.0f} %"
    return text if abs(off) <= CLOSE else f"**{text}**"


def is_near(here, printed):
    return abs(here / printed - 1) <= CLOSE


def same_text(here, printed):
    """Ours, bold where it is not the printed one."""
    return f"{here}" if here == printed else f"**{here}**"


def near_of(pairs):
    pairs = [(here, printed) for here, printed in pairs if printed and here is not None]
    return f"{sum(is_near(*pair) for pair in pairs)} of {len(pairs)}"


def mean(values):
    return sum(values) / len(values)
