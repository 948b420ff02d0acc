"""The table, and the sums below it."""
from collections import Counter


def _variant(variant):
    words = [variant["batch"]]
    if variant["simplified"]:
        words.append("simplified")
    if variant["suppression"]:
        words.append("suppression")
    return " ".join([variant["exporter"], *words])


def _mark(known, value):
    return "-" if not known else ("yes" if value else "NO")


def line(result):
    error = "-" if result.error is None else f"{result.error:.1e}"
    return (f"{result.name:36} {result.variant['opset']:5} {_variant(result.variant):34} "
            f"{_mark(result.exported, result.imported):8} "
            f"{_mark(result.imported, result.right):5} {error:>8}  {result.reason}")


HEADING = (f"{'name':36} {'opset':>5} {'exporter and variant':34} {'imported':8} {'right':5} "
           f"{'error':>8}  reason")


def _share(right, of):
    return f"{right} of {of} ({100 * right / of:.1f} %)" if of else "none"


def _by(results, key):
    total, right = Counter(), Counter()
    for result in results:
        total[key(result)] += 1
        right[key(result)] += result.right
    return "; ".join(f"{name}: {right[name]} of {total[name]}"
                     for name in sorted(total, key=str))


def _architectures(results):
    good = {}
    for result in results:
        good[result.name] = good.get(result.name, True) and result.right
    return _share(sum(good.values()), len(good))


def sums(results):
    exported = [result for result in results if result.exported]
    lines = [f"files exported: {_share(len(exported), len(results))}",
             f"files imported: {_share(sum(r.imported for r in exported), len(exported))}",
             f"files right: {_share(sum(r.right for r in exported), len(exported))}",
             f"architectures whose files are all right: {_architectures(exported)}"]
    for title, key in (("opset", lambda r: r.variant["opset"]),
                       ("batch", lambda r: r.variant["batch"]),
                       ("exporter", lambda r: r.variant["exporter"]),
                       ("simplified", lambda r: "yes" if r.variant["simplified"] else "no"),
                       ("built-in suppression",
                        lambda r: "yes" if r.variant["suppression"] else "no"),
                       ("package", lambda r: r.package)):
        lines.append(f"right by {title}: {_by(exported, key)}")
    return "\n".join(lines)
