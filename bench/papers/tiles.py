"""The paper on tiles (A. Sequeira and others): Figures 4 and 6 and Table 2, on boards of Texas Instruments by their files."""
import json
import subprocess

from beside import Table, markdown, run

PAGE = "tiles.md"
BOARDS = ["tda4vm", "am62a"]
NETWORKS = ["mobilenet_v1", "mobilenet_v2", "squeezenet1_1", "resnet18", "bvlc_googlenet", "resnet50", "densenet121", "yolov3_tiny", "yolov2",
            "yolov3"]
INPUTS = {"224x224": 224, "0.5 MP": 704, "1 MP": 1024}
BLOCKS = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *5 * [(512, 1)], (1024, 2), (1024, 1)]  # Table 1: pointwise channels, stride


def simulated(context, network, board, *how):
    program = context.folder / "program.json"
    run(context, "workload", "make", network, "--board", board, "-o", program, *how)
    return json.loads(run(context, "workload", "simulate", program, "--board", board, "--json")[0])["workloads"]


# Figure 4

def mobilenet_cfg(size):
    """Table 1 for Darknet, up to the average: the paper leaves out what comes after it."""
    parts = [f"[net]\nwidth={size}\nheight={size}\nchannels=3\nbatch=1"]

    def convolution(filters, kernel, stride, groups=1):
        parts.append(f"[convolutional]\nbatch_normalize=1\nfilters={filters}\nsize={kernel}\nstride={stride}\npad=1\ngroups={groups}\nactivation=relu")

    convolution(32, 3, 2)
    channels = 32
    for filters, stride in BLOCKS:
        convolution(channels, 3, stride, channels)
        convolution(filters, 1, 1)
        channels = filters
    return "\n\n".join(parts) + "\n"


def measure_layers(context, key):
    board, size = key.split(" ", 1)
    model = context.folder / "mobilenet_v1.cfg"
    model.write_text(mobilenet_cfg(INPUTS[size]))
    return {"layers": [[one["name"], one["simulated"]["cycles"], one["simulated"]["computing_cycles"]]
                       for one in simulated(context, model, board, "--layer-by-layer")]}


def share(cycles, computing):
    return 100 * (1 - computing / cycles) if cycles else 0


def render_layers(printed, rows):
    most = printed["workload_overhead_percent_below"]["value"]
    parts = []
    for board in BOARDS:
        given = {size: rows[f"{board} {size}"]["layers"] for size in INPUTS}
        body = []
        for layer in zip(*given.values()):
            cells = [layer[0][0]]
            for _, cycles, computing in layer:
                cells += [f"{cycles}", f"{share(cycles, computing):.0f} %"]
            body.append(cells)
        sums = {size: (sum(each[1] for each in layers), sum(each[2] for each in layers)) for size, layers in given.items()}
        body.append(["**network**"] + [cell for cycles, computing in sums.values() for cell in (
            f"{cycles}", f"{share(cycles, computing):.0f} %" if share(cycles, computing) < most else f"**{share(cycles, computing):.0f} %**")])
        shares = [share(*each) for each in sums.values()]
        falls = all(a >= b for a, b in zip(shares, shares[1:]))
        parts.append(f"### Figure 4 on {board}\n\n" + markdown(
            ["layer:"] + [text for size in INPUTS for text in (f"{size}: cycles", "not computing")], body) +
            f"\n\nPrinted: below {most} % of a network, and falling with the input. Here it falls: {'yes' if falls else '**no**'}; below {most} %: "
            f"{'yes' if all(each < most for each in shares) else '**no**'}.")
    return "\n\n".join(parts) + ("\n\nThe figure has curves without numbers. A cycle counts as not computing where no processing link runs: transfers that "
                                 "nothing hides, and the start of links. Each layer is a workload of its own.")


# Figure 6

def measure_network(context, key):
    network, board = key.split(" ")
    found = {}
    for name, how in (("fused", []), ("layers", ["--layer-by-layer"])):
        workloads = simulated(context, network, board, *how)
        found[name] = {"ms": sum(one["simulated"]["time_us"] for one in workloads) / 1e3, "bytes": sum(one["traffic_bytes"] for one in workloads)}
    return {"macs": sum(one["macs"] for one in workloads), **found}


def render_networks(printed, rows):
    body, order = [], {board: [] for board in BOARDS}
    for network in NETWORKS:
        first = rows[f"{network} {BOARDS[0]}"]
        cells = [network, f"{first['macs'] / 1e9:.2f}"]
        for board in BOARDS:
            row = rows[f"{network} {board}"]
            order[board].append((first["macs"], row["fused"]["ms"]))
            cells += [f"{row[how]['ms']:.2f} ms, {row[how]['bytes'] / 1e6:.1f} MB" for how in ("fused", "layers")]
        body.append(cells)
    pairs = lambda points: [(a, b) for i, a in enumerate(points) for b in points[i + 1:]]
    agree = {board: sum((a[0] - b[0]) * (a[1] - b[1]) > 0 for a, b in pairs(points)) for board, points in order.items()}
    total = len(pairs(order[BOARDS[0]]))
    return markdown(["network:", "GMACs", *(text for board in BOARDS for text in (f"{board}, fused", "layer by layer"))], body) + (
        "\n\nThe figure has points without numbers; the time grows with the GMACs. Here more GMACs take longer in " +
        ", ".join(f"{count} of {total} pairs on {board}" for board, count in agree.items()) + ".")


# Table 2

def measure_size(context, key):
    objects = sorted(str(path) for path in context.build.rglob("millrace_workload_interpreter_objects.dir/**/*.o"))
    lines = subprocess.run(["size", *objects], check=True, capture_output=True, text=True).stdout.splitlines()
    return {"bytes": sum(int(line.split()[0]) for line in lines[1:])}


def render_size(printed, rows):
    body = [[device, f"{before:g}", f"{after:g}", f"{change} %", f"{100 * (1 - after / before):.2f} %"]
            for device, (before, after, change) in printed["workload_code_footprint_kb"]["rows"].items()]
    return markdown(["device:", "before, KB, printed", "with workloads, KB, printed", "change, printed", "change by these sizes"], body) + (
        f"\n\nThe printed sizes are those of a whole firmware. Our interpreter, without kernels, has {rows['interpreter']['bytes'] / 1e3:.1f} KB for x86-64.")


TABLES = [
    Table("figure_4_of_tiles", PAGE, lambda _: [f"{board} {size}" for board in BOARDS for size in INPUTS], measure_layers, render_layers,
          ("tda4vm 224x224",)),
    Table("figure_6_of_tiles", PAGE, lambda _: [f"{network} {board}" for network in NETWORKS for board in BOARDS], measure_network, render_networks,
          ("squeezenet1_1 am62a",)),
    Table("table_2_of_tiles", PAGE, lambda _: ["interpreter"], measure_size, render_size, ("interpreter",), ("bytes",)),
]
