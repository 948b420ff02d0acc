"""What the steps of cache.case look at; see run_check.py."""

import glob
import os


def swap_files_of_equal_size():
    by = {}
    [
        by.setdefault(os.path.getsize(f), []).append(f)
        for f in sorted(glob.glob(".cache/millrace/packed/*.stored"))
    ]
    pairs = [p for fs in by.values() for p in zip(fs[::2], fs[1::2])]
    [(os.rename(a, "x"), os.rename(b, a), os.rename("x", b)) for a, b in pairs]
    print(len(pairs) > 0)
