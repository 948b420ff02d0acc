"""Chapter 5 of Kim's thesis: task graphs beside four detectors on a Jetson AGX Xavier with four cores, and section 5.5.1."""
import json
import re

from beside import Table, markdown, mean, off_text, results_of, run
from xavier import BOARD, POST_US, PRE_US, with_relu

PAGE = "model-based.md"
NETWORKS = {"det1": "yolov4", "det2": "yolov2-tiny", "det3": "yolov3-tiny", "det4": "yolov4-csp"}
PRIORITIES = {"det1": 4, "det4": 3, "det2": 2, "det3": 1}
SIZE = 256
FPS = [10, 15, 20, 25]
METHODS = ["heuristic", "entire", "baseline"]
SEEDS = 3  # the mean over so many, as in the thesis
LONG = ["5.6 20", "5.6 25"]  # of which one seed takes minutes
# Worst times in ms on a core and on the GPU: assumed, the thesis prints none. Table 5.4 says on which of them each may run.
TASKS = {"ReadImage": (3, None), "cvt_BGR_NV12": (1.5, 0.3), "Rescale_1": (None, 0.4), "Bilateral": (10, 1.5),
         "cvt_NV12_BGR_1": (1.5, 0.3), "Rescale_2": (None, 0.4), "cvt_NV12_BGR_2": (1.5, 0.3), "SaveImage": (3, None)}
EDGES = [("ReadImage", "cvt_BGR_NV12"), ("cvt_BGR_NV12", "Rescale_1"), ("Rescale_1", "Bilateral"), ("Bilateral", "cvt_NV12_BGR_1"),
         ("cvt_NV12_BGR_1", "network"), ("Bilateral", "Rescale_2"), ("Rescale_2", "cvt_NV12_BGR_2"), ("cvt_NV12_BGR_2", "SaveImage")]
FIGURES = {"5.6": ("the example", 0), "5.7": ("4 random graphs", 4), "5.8": ("8 random graphs", 8), "5.9": ("16 random graphs", 16)}


def board_with_four_cores(context):
    lines = BOARD.read_text().splitlines(keepends=True)
    kept = [line for line in lines if not any(f"cores: [{core}" in line for core in (4, 5, 6, 7))]
    (context.folder / "xavier4.yaml").write_text("".join(kept).replace("[0, 1, 2, 3, 4, 5, 6, 7]", "[0, 1, 2, 3]"))


def times_text(worst):
    return f"{{worst_ms: {worst}, average_ms: {worst / 1.2:.6f}, best_ms: {worst / 1.5:.6f}}}"


def graph_text():
    lines = ["    tasks:"]
    for name, (cpu, gpu) in TASKS.items():
        on = [f"{kind}: {times_text(worst)}" for kind, worst in (("cpu", cpu), ("gpu", gpu)) if worst]
        lines.append(f"      - {{name: {name}, on: {{{', '.join(on)}}}}}")
    lines.append("    edges: [" + ", ".join(f"{{from: {a}, to: {b}}}" for a, b in EDGES) + "]")
    return "\n".join(lines) + "\n"


def random_graphs_text(graphs, fps, seed):
    """Times as printed for 16 graphs; the work of all graphs together stays the same."""
    scale = 16 // graphs
    return (f"random_graphs: {{count: {graphs}, rate_fps: {fps}, seed: {seed}, worst_us: {{cpu: [{100 * scale}, {500 * scale}], "
            f"gpu: [{10 * scale}, {100 * scale}]}}}}\n")


def system_text(context, fps, with_graph):
    scale = (SIZE / 416) ** 2 / 1000
    text = "format: 1\nname: model_based\nboard: xavier4.yaml\ngroups:\n"
    for group, network in NETWORKS.items():
        text += (f"  - name: {group}\n    model: {with_relu(context, network).name}\n    size: {SIZE}\n    precision: [f16]\n"
                 f"    rate_fps: {fps}\n    priority: {PRIORITIES[group]}\n    preprocess_ms: {PRE_US * scale:.3f}\n"
                 f"    postprocess_ms: {POST_US * scale:.3f}\n") + (graph_text() if with_graph else "")
    return text


def deployed(context, graphs, fps, seed):
    board_with_four_cores(context)
    path = context.folder / "system.yaml"
    path.write_text(system_text(context, fps, graphs == 0) + (random_graphs_text(graphs, fps, seed) if graphs else ""))
    return json.loads(run(context, "plan", path, "--method", "entire", "--compare", "--generations", 300, "--patience", 30,
                          "--front-generations", 100, "--seed", seed, "-o", context.folder / "deployment.json", "--json")[0])


def joules(context):
    """Of ten seconds of the written deployment of Entire-GA."""
    result = json.loads(run(context, "simulate", context.folder / "deployment.json", "--duration", 10, "--times", "drawn", "--json")[0])
    idle = json.loads(run(context, "board", BOARD, "--json")[0])["idle_power_mw"]
    return sum(each["busy_mj"] + each["still_mj"] for each in result["devices"]) / 1000 + idle / 100


def measure_figure(context, key):
    figure, fps = key.split(" ")
    found = {method: {"utilisation": [], "seconds": []} for method in METHODS}
    energies, bounds, plans = [], [], {}
    for seed in range(1, 2 if key in LONG else SEEDS + 1):
        result = deployed(context, FIGURES[figure][1], int(fps), seed)
        methods = {method["name"]: method for method in result["mappings"]["methods"]}
        for method in METHODS:
            found[method]["utilisation"].append(methods[method]["utilisation"] if methods[method]["feasible"] else None)
            found[method]["seconds"].append(methods[method]["seconds"])
        bounds.append(result["mappings"]["least_utilisation"])
        energies.append(joules(context) if methods["entire"]["feasible"] else None)
        plans = {NETWORKS[group["name"]]: {"plans": group["plans"], "layers": group["layers"]}
                 for group in result["groups"] if group["name"] in NETWORKS}
    return {"methods": found, "least": bounds, "joules": energies, "plans": plans}


def of_all(values):
    """The mean in percent, where every seed has one."""
    return None if any(value is None for value in values) else 100 * mean(values)


def render_figures(printed, rows):
    worse = printed["model_based"]["baseline_worse_percent"]
    parts, ordered, below, only_here, slower = [], 0, [], 0, []
    at_least = printed["model_based"]["time_ratio_at_least"]
    for figure, (title, _) in FIGURES.items():
        body = []
        for fps in (each for each in FPS if f"{figure} {each}" in rows):
            row = rows[f"{figure} {fps}"]
            share = {method: of_all(row["methods"][method]["utilisation"]) for method in METHODS}
            least = min((each for each in share.values() if each is not None), default=None)
            fastest = min(mean(row["methods"][method]["seconds"]) for method in METHODS)
            infinite = [share[method] if share[method] is not None else float("inf") for method in ("entire", "heuristic", "baseline")]
            ordered += infinite[0] <= min(infinite[1:])
            gain = None
            if share["entire"] is not None and share["baseline"] is not None:
                gain = 100 * (share["baseline"] / share["entire"] - 1)
                below.append(gain)
            only_here += share["baseline"] is None and share["entire"] is not None
            slower.append(mean(row["methods"]["entire"]["seconds"]) / mean(row["methods"]["heuristic"]["seconds"]))
            text = "-" if gain is None else f"{gain:.1f} %"
            if figure == "5.6" and fps <= 20:
                text = f"{worse[0]} to {worse[1]} %, " + (text if gain is not None and worse[0] - 1 <= gain <= worse[1] + 1 else f"**{text}**")
            printed_found = "none" if figure == "5.6" and fps == 25 else "a mapping" if figure == "5.6" else "not printed"
            here_found = "none" if share["baseline"] is None else "a mapping"
            energy = [each for each in row["joules"] if each is not None]
            body.append([fps] + [f"{share[m]:.2f} ({share[m] / least:.2f})" if share[m] is not None else "-" for m in METHODS] + [
                f"{100 * mean(row['least']):.2f}", text, printed_found,
                here_found if printed_found in (here_found, "not printed") else f"**{here_found}**"] + [
                    f"{mean(row['methods'][m]['seconds']) / fastest:.1f}" for m in METHODS] + [
                        f"{mean(energy):.0f}" if energy else "-", len(row["joules"])])
        parts.append(f"### Figure {figure}: {title}\n\n" + markdown(
            ["frames/s", *(f"{method}, %" for method in METHODS), "lower bound, %", "baseline above entire, printed, here:", "baseline finds, printed:",
             "here:", *(f"time, {method}" for method in METHODS), "J of 10 s", "seeds"], body))
    return "\n\n".join(parts) + (
        f"\n\nThe largest utilisation, at worst times, and in brackets beside the smallest of the row. It is the mean over the seeds, \"-\" where one of them "
        f"found none. The thesis draws bars without numbers. Entire-GA is best in {ordered} of {len(rows)} cases, in all as printed. Baseline is "
        f"{min(below):.1f} to {max(below):.1f} % above it where both find a mapping; in {only_here} cases only Entire-GA or Heuristic+GA finds one. Times are "
        f"beside the fastest of the row, on a machine that others used too. Entire-GA takes " +
        (f"{min(slower):.1f} to {max(slower):.1f}" if min(slower) > at_least else f"**{min(slower):.1f} to {max(slower):.1f}**") +
        f" times as long as Heuristic+GA; printed, more than {at_least} times.")


def render_candidates(printed, rows):
    body = []
    for network, (layers, candidates) in printed["model_based"]["networks"].items():
        here = next(iter(rows.values()))["plans"][network]
        body.append([network, layers, here["layers"], candidates, here["plans"], off_text(here["plans"], candidates)])
    return markdown(["network:", "layers, printed", "here", "candidates, printed", "here", "off"], body)


def render_processors(printed, _):
    body = []
    for task, where in printed["model_based"]["tasks"].items():
        here = [kind for kind, time in zip(("cpu", "gpu"), TASKS[task]) if time]
        body.append([task, ", ".join(where), "the same" if here == where else f"**{', '.join(here)}**",
                     ", ".join(f"{time} ms" for time in TASKS[task] if time)])
    return markdown(["task:", "may run on, printed:", "here:", "worst times, assumed:"], body)


# Section 5.5.1

def resnet152_cfg():
    """The architecture of He and others for Darknet: bottlenecks of 3, 8, 36 and 3, the stride in the 3x3 convolution."""
    parts = ["[net]\nwidth=224\nheight=224\nchannels=3\nbatch=1"]

    def convolution(filters, size, stride, activation):
        parts.append(f"[convolutional]\nbatch_normalize=1\nfilters={filters}\nsize={size}\nstride={stride}\npad=1\nactivation={activation}")

    convolution(64, 7, 2, "relu")
    parts.append("[maxpool]\nsize=2\nstride=2")
    for stage, blocks in enumerate((3, 8, 36, 3)):
        width = 64 * 2 ** stage
        for number in range(blocks):
            stride = 2 if stage and number == 0 else 1
            convolution(width, 1, 1, "relu")
            convolution(width, 3, stride, "relu")
            convolution(4 * width, 1, 1, "linear")
            if number:  # Darknet adds what has the same shape; the first of a stage has a projection
                parts.append("[shortcut]\nfrom=-4\nactivation=relu")
            else:
                parts.append("[route]\nlayers=-4")
                convolution(4 * width, 1, stride, "linear")
                parts.append("[shortcut]\nfrom=-3\nactivation=relu")
    parts.append("[avgpool]")
    parts.append("[convolutional]\nfilters=1000\nsize=1\nstride=1\npad=1\nactivation=linear")
    parts.append("[softmax]")
    return "\n\n".join(parts) + "\n"


def measure_sdf(context, key):
    """The network in one piece, and as a graph with an actor for each layer, each of which is launched and passes tensors."""
    model = context.folder / "resnet152.cfg"
    model.write_text(resnet152_cfg())
    profile, plan = context.folder / "resnet152.profile.json", context.folder / "resnet152.plan.json"
    run(context, "profile", model, "--board", BOARD, "--precision", key, "--processors", "gpu", "-o", profile)
    gpu = json.loads(profile.read_text())["processors"][0]
    alone = [layer["alone"]["median_ns"] + gpu["borders"]["launch_ns"] for layer in gpu["layers"]]
    run(context, "plan", model, "--board", BOARD, "--precision", key, "--devices", "gpu", "-o", plan)
    sdf = run(context, "export", plan, "--sdf")[0]
    edges = len(re.findall(r"->", sdf))
    channels = edges * gpu["borders"]["border_ns"]
    return {"layers": len(gpu["layers"]), "edges": edges, "whole_us": (gpu["whole"]["median_ns"] + gpu["borders"]["launch_ns"]) / 1000,
            "layers_us": sum(alone) / 1000, "channels_us": channels / 1000}


def render_sdf(printed, rows):
    slow, fast = (printed["model_based"]["resnet152_fps"][name] for name in ("sdf_l", "tensorrt"))
    body = []
    for precision, row in rows.items():
        piece, layers, graph = (1e6 / each for each in (row["whole_us"], row["layers_us"], row["layers_us"] + row["channels_us"]))
        body.append([precision, row["layers"], row["edges"], fast, f"{piece:.0f}", off_text(piece, fast), slow, f"{layers:.0f}", f"{graph:.0f}",
                     off_text(graph, slow), f"{fast / slow:.1f}", f"{piece / graph:.1f}"])
    return markdown(["precision:", "layers", "edges", "TensorRT, printed", "in one piece here", "off", "SDF/L, printed", "layer by layer here",
                     "with a channel for each edge", "off", "times as fast, printed", "here"], body) + (
        "\n\nFrames per second of Resnet152 on the GPU; the thesis prints no precision. Our SDF graph is that of `millrace export --sdf`, with an actor "
        "for each layer. A channel costs what the model takes for a tensor between two stages, which is fitted to DLAs. Without it, launching "
        "each layer by itself costs little, since most layers are large.")


TABLES = [
    Table("section_5_5_1", PAGE, lambda _: ["f32", "f16", "int8"], measure_sdf, render_sdf, ("f32", "f16", "int8")),
    Table("figures_5_6", PAGE, lambda _: [f"{figure} {fps}" for figure in FIGURES for fps in FPS], measure_figure, render_figures, (), ("seconds",),
          can_lack_rows=True),
    Table("table_5_3", PAGE, None, None, render_candidates, source="figures_5_6", can_lack_rows=True),
    Table("table_5_4", PAGE, None, None, render_processors),
]
BY_NAME = {table.name: table for table in TABLES}
