"""What was measured, for people. Everything here is a function from the JSON that
bench/compare stores to text."""
import math

from . import figures, table

LONGEST_REASON = 90


def has_figures(contender):
    return bool(contender["slices"])


def group_of(contender):
    """Settings of the same peer, precision and batch size compete for one row."""
    batch = contender["batch"]
    return (f"{contender['name']} {contender['precision']}"
            + (f", batch {batch}" if batch > 1 else ""))


def groups(network):
    """Row to contenders, in the order in which they took part."""
    found = {}
    for contender in network["contenders"]:
        found.setdefault(group_of(contender), []).append(contender)
    return found


def fps(contender):
    return figures.rates(contender["slices"])


def latency_medians(contender):
    return [figures.median(piece["latencies_ms"]) for piece in contender["slices"]]


def best(group):
    """The setting with the largest median throughput, or none."""
    return max(filter(has_figures, group), key=lambda one: figures.median(fps(one)), default=None)


def quickest(group):
    """The setting with the lowest median latency, or none."""
    return min(filter(has_figures, group),
               key=lambda one: figures.median(figures.latencies(one["slices"])), default=None)


def number(value):
    """Four digits, but never fewer than those before the point."""
    return f"{value:.{max(0, 3 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


def times(spread):
    return f"{spread.median:.2f} x ({spread.least:.2f} .. {spread.most:.2f})"


def reason(contender):
    text = f"not available: {contender['missing'] or 'nothing was measured'}"
    return text if len(text) <= LONGEST_REASON else text[:LONGEST_REASON - 3] + "..."


def ours(network):
    """The rows of Millrace."""
    return [name for name, group in groups(network).items() if group[0]["peer"] in ("millrace", "python")]


def error_text(contender):
    answers = contender["answers"]
    return f"{answers['error']:.1e}" if answers else "-"


def top_text(contender):
    answers = contender["answers"]
    return f"{answers['same_top']} of {answers['frames']}" if answers else "-"


def latency_cells(contender):
    values = figures.latencies(contender["slices"])
    return [f"{number(figures.percentile(values, share))} ms" for share in (0.5, 0.99)]


def _ratios(mine, measured, of):
    """A cell for each setting of Millrace in `mine`: how many times it is this one."""
    return ["" if one is measured or one is None else times(of(one, measured)) for one in mine]


def throughput_table(network):
    rows, mine = [], ours(network)
    chosen = {name: best(group) for name, group in groups(network).items()}
    for name, contender in chosen.items():
        if contender is None:
            rows.append([name, reason(groups(network)[name][0])] + [""] * (6 + len(mine)))
            continue
        spread = figures.spread(fps(contender))
        rows.append([name, contender["text"], number(spread.median),
                     f"{number(spread.least)} .. {number(spread.most)}",
                     *latency_cells(contender),
                     *_ratios([chosen[one] for one in mine], contender,
                              lambda a, b: figures.ratio(fps(a), fps(b))),
                     error_text(contender), top_text(contender)])
    return table.text(["<", "<best setting", "frames/s", "<min .. max", "p50", "p99",
                       *[f"<{one} is" for one in mine], "error", "same top"], rows)


def latency_table(network):
    """Of the settings for one frame at a time and the others, whichever answers soonest."""
    rows, mine = [], ours(network)
    chosen = {name: quickest(group) for name, group in groups(network).items()
              if group[0]["batch"] == 1}
    for name, contender in chosen.items():
        if contender is None:
            continue
        rows.append([name, contender["text"], *latency_cells(contender),
                     number(figures.median(fps(contender))),
                     *_ratios([chosen[one] for one in mine], contender,
                              lambda a, b: figures.ratio(latency_medians(b), latency_medians(a)))])
    return table.text(["<", "<quickest setting", "p50", "p99", "frames/s",
                       *[f"<{one} is quicker" for one in mine]], rows)


def settings_table(network):
    rows = [[group_of(one), one["text"], *(settings_cells(one) if has_figures(one)
                                           else [reason(one), "", "", ""])]
            for one in network["contenders"]]
    return table.text(["<", "<setting", "frames/s", "<min .. max", "p50", "p99"], rows)


def settings_cells(contender):
    spread = figures.spread(fps(contender))
    return [number(spread.median), f"{number(spread.least)} .. {number(spread.most)}",
            *latency_cells(contender)]


def gaps(network):
    """Settings without figures beside others of their row that have some."""
    return "".join(f"{name}, {one['text']}: {reason(one)}\n"
                   for name, group in groups(network).items() if best(group)
                   for one in group if not has_figures(one))


def disturbance(network):
    shares = network["shares"]
    if not shares["idle"]:
        return ""
    return ("the cores' time that went elsewhere while one ran: "
            f"{percent(shares['idle'])} to peers that should sleep, "
            f"{percent(shares['others'])} to anything else, these included\n")


def uncompared(network):
    compared = any(one["answers"] for one in network["contenders"])
    return "" if compared else "answers were not compared: that takes ONNX Runtime\n"


def percent(values):
    return f"{100 * figures.median(values):.1f} % (at most {100 * max(values):.1f} %)"


def network_text(network, options, all_settings=False):
    cores = ",".join(map(str, options["cores"]))
    parts = [f"{network['name']} on cores {cores}: {options['repetitions']} repetitions of "
             f"{options['duration']:g} s in turns\n", throughput_table(network)]
    if all_settings:
        parts.append(settings_table(network))
    parts += [latency_table(network), gaps(network) + uncompared(network) + disturbance(network)]
    return "\n".join(part for part in parts if part)


class Throughput:
    """What a summary is about."""
    text = "{}, frames/s, and how many times that is the best of each peer at batch 1\n"
    column = "frames/s"
    choose = staticmethod(best)
    values = staticmethod(fps)

    @staticmethod
    def times(own, other):
        return figures.ratio(own, other)


class Latency:
    text = "{}, median latency, and how many times as long the quickest of each peer takes\n"
    column = "ms"
    choose = staticmethod(quickest)
    values = staticmethod(latency_medians)

    @staticmethod
    def times(own, other):
        return figures.ratio(other, own)


def summary(networks):
    """For each precision of Millrace: how many times the best of each peer it reaches, and the
    same of the latencies."""
    names = list(dict.fromkeys(name for network in networks
                               for name, group in groups(network).items()
                               if group[0]["batch"] == 1))
    mine = list(dict.fromkeys(name for network in networks for name in ours(network)))
    return "\n".join(_summary_of(one, [name for name in names if name != one], networks, subject)
                     for subject in (Throughput, Latency) for one in mine)


def _summary_of(mine, names, networks, subject):
    rows, columns = [], {name: [] for name in names}
    for network in networks:
        chosen = {name: subject.choose(group) for name, group in groups(network).items()}
        if chosen.get(mine) is None:
            continue
        own = subject.values(chosen[mine])
        cells = [network["name"], number(figures.median(own))]
        for name in names:
            other = chosen.get(name)
            ratio = subject.times(own, subject.values(other)) if other else None
            cells.append(times(ratio) if ratio else "-")
            columns[name] += [ratio.median] if ratio else []
        rows.append(cells)
    if len(rows) > 1:
        rows.append(["geometric mean", "", *[f"{figures.geometric_mean(ratios):.2f} x" if ratios
                                             else "-" for ratios in columns.values()]])
    return (subject.text.format(mine)
            + table.text(["<", subject.column, *[f"<{name}" for name in names]], rows))


def heading(result):
    machine = result["machine"]
    versions = ", ".join(result["versions"].values())
    return (f"{machine['cpu']} ({', '.join(machine['features'])})\n{versions}\n")


def text(results, all_settings=False):
    """results: what several runs stored."""
    parts = []
    for result in results:
        parts.append(heading(result))
        parts += [network_text(network, result["options"], all_settings)
                  for network in result["networks"]]
    networks = [network for result in results for network in result["networks"]]
    return "\n".join([*parts, summary(networks)])
