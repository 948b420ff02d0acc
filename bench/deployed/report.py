"""The table, and the sums below it: as plain text, or in Markdown."""
from collections import Counter

GROUPS = (("opset", lambda r: str(r.variant["opset"])),
          ("batch", lambda r: r.variant["batch"]),
          ("exporter", lambda r: r.variant["exporter"]),
          ("simplified", lambda r: "yes" if r.variant["simplified"] else "no"),
          ("built-in suppression", lambda r: "yes" if r.variant["suppression"] else "no"),
          ("package", lambda r: r.package))


def _variant(variant):
    words = [variant["exporter"], variant["batch"]]
    words += [word for word in ("simplified", "suppression") if variant[word]]
    return " ".join(words)


def _mark(known, value):
    return "-" if not known else ("yes" if value else "NO")


def _error(value):
    return "-" if value is None else f"{value:.1e}"


def _cells(result):
    return [result.name, str(result.variant["opset"]), _variant(result.variant),
            _mark(result.exported, result.imported), _mark(result.imported, result.right),
            _error(result.error), _mark(result.verified is not None, result.verified),
            _error(result.verify_error), result.reason]


COLUMNS = ["name", "opset", "exporter and variant", "imported", "right", "error", "verified", "of plans",
           "reason"]
WIDTHS = (36, 5, 42, 8, 5, 8, 8, 8, 0)


def _padded(cells):
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS)).rstrip()


def line(result):
    return _padded(_cells(result))


HEADING = _padded(COLUMNS)


def _share(right, of):
    return f"{right} of {of} ({100 * right / of:.1f} %)" if of else "none"


def _verified(results):
    tried = [result for result in results if result.verified is not None]
    return [("files verified", _share(sum(r.verified for r in tried), len(tried)))] if tried else []


def _totals(results):
    """(what, share) of files and of architectures."""
    exported = [result for result in results if result.exported]
    good = {}
    for result in exported:
        good[result.name] = good.get(result.name, True) and result.right
    return [("files exported", _share(len(exported), len(results))),
            ("files imported", _share(sum(r.imported for r in exported), len(exported))),
            ("files right", _share(sum(r.right for r in exported), len(exported))),
            *_verified(exported),
            ("architectures whose files are all right", _share(sum(good.values()), len(good)))]


def _by(results, key):
    """(value, right, of) of the files that could be exported."""
    total, right = Counter(), Counter()
    for result in results:
        if result.exported:
            total[key(result)] += 1
            right[key(result)] += result.right
    return [(name, right[name], total[name]) for name in sorted(total)]


def sums(results):
    lines = [f"{what}: {share}" for what, share in _totals(results)]
    for title, key in GROUPS:
        parts = [f"{name}: {right} of {of}" for name, right, of in _by(results, key)]
        lines.append(f"right by {title}: {'; '.join(parts)}")
    return "\n".join(lines)


def _row(cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def markdown(results):
    """The sums as one table, all files as another."""
    lines = [_row(["what", "how many"]), _row(["---", "---"])]
    lines += [_row(pair) for pair in _totals(results)]
    for title, key in GROUPS:
        lines += [_row([f"right, {title} {name}", f"{right} of {of}"])
                  for name, right, of in _by(results, key)]
    lines += ["", _row(COLUMNS),
              _row(["---", "---:", "---", "---", "---", "---:", "---", "---:", "---"])]
    for result in results:
        *cells, reason = _cells(result)
        lines.append(_row([*cells, f"`{reason}`" if reason else ""]))
    return "\n".join(lines)
