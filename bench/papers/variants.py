"""Pujol and others, "Generating and Exploiting Deep Learning Variants": how many sets of networks fit on a Jetson AGX Xavier, depending on which
of its compute elements have variants. 16,000 random sets for each of three scenarios.

The paper's modules are those of a car's software. In their place stand Darknet's nine detectors at 416 x 416 pixels, with a ReLU for what a DLA
lacks, and four small dense and recurrent networks. Times are the board file's in float16, times 1.2.
"""
import json
import subprocess
import sys

import variants_plot
from beside import PAGES, Table, markdown, results_of, run
from xavier import BOARD, with_relu

PAGE = "variants.md"
DETECTORS = ["csresnext50-panet-spp", "densenet201_yolo", "yolov2", "yolov2-tiny", "yolov3", "yolov3-tiny", "yolov4", "yolov4-csp", "yolov4-tiny"]
SMALL = ["keyword_dense_s", "keyword_dense_l", "keyword_lstm", "keyword_gru"]
NPU, TENSOR, REGULAR = "npu", "gpu.tensor_cores", "gpu.cuda_cores"
# Each set of configurations contains the one before.
SCENARIOS = {
    "NPU, tensor cores, regular cores, CPU": {
        "NPUs only as one": [f"{NPU}.together"], "NPUs": [NPU], "+ tensor cores": [NPU, TENSOR],
        "+ regular cores": [NPU, TENSOR, REGULAR], "+ CPU": [NPU, TENSOR, REGULAR, "cpu"]},
    "tensor cores, regular cores, CPU": {
        "tensor cores of 8 SMs": [f"{TENSOR}.together"], "tensor cores": [TENSOR],
        "+ regular cores": [TENSOR, REGULAR], "+ CPU": [TENSOR, REGULAR, "cpu"]},
    "regular cores, CPU": {
        "regular cores of 8 SMs": [f"{REGULAR}.together"], "regular cores": [REGULAR], "+ CPU": [REGULAR, "cpu"]}}
THRESHOLDS = {0: [0.25 * i for i in range(1, 17)], 1: [0.125 * i for i in range(1, 17)], 2: [0.125 * i for i in range(1, 17)]}
SETS = 1000  # for each point; 16,000 for each scenario, as in the paper
SHOWN = ["cores0-1", "cores0-1..cores2-3", "cores0-1..cores4-5", "gpu/0:cuda_cores", "gpu/0..gpu/1:cuda_cores", "gpu/0:tensor_cores",
         "gpu/0..gpu/1:tensor_cores", "dla0", "dla0..dla1"]


def keys(_):
    return [f"{scenario} {threshold:g}" for scenario in THRESHOLDS for threshold in THRESHOLDS[scenario]]


def answered(words):
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(words)}\n{done.stderr}")
    return done.stdout


def admitted(context):
    """What `millrace plan --method admission` says of one instance of each network."""
    answered([context.build / "bench/keyword_networks", context.folder])
    models = [with_relu(context, name) for name in DETECTORS]
    models += 2 * [context.folder / f"{name}.onnx" for name in SMALL]  # half of the paper's modules are small
    groups = [{"name": f"{i} {model.stem}", "model": model.name, "rate_fps": 1, "precision": ["f16"]} for i, model in enumerate(models)]
    system = context.folder / "networks.json"
    system.write_text(json.dumps({"format": 1, "name": "networks", "groups": groups,
                                  "scenarios": [{"name": "all", "groups": [group["name"] for group in groups]}]}))
    text = run(context, "plan", system, "--method", "admission", "--board", BOARD, "--reserved-cores", 2, "--goal", "any", "--no-table", "--json")[0]
    path = context.folder / "times.json"
    path.write_text(text)
    return path, json.loads(text)


def measure_times(context, key):
    report = admitted(context)[1]
    names = [processor["name"] for processor in report["processors"]]
    return {"names": [name for name in names if name in SHOWN], "rows": [
        [group["name"].split(" ")[1], [variant.get("time_ns") for name, variant in zip(names, group["variants"]) if name in SHOWN]]
        for group in report["groups"][:len(DETECTORS) + len(SMALL)]]}


def render_times(printed, rows):
    row = rows["all"]
    body = [[name, *(f"{time / 1e6:.3g}" if time else "-" for time in times)] for name, times in row["rows"]]
    return markdown(["network:", *row["names"]], body) + "\n\nMilliseconds, with the margin; of equal processors the first."


def measure_point(context, key):
    scenario, threshold = key.split(" ")
    kinds = [",".join(each) for each in list(SCENARIOS.values())[int(scenario)].values()]
    seed = 1 + 100 * int(scenario) + int(float(threshold) * 1000)
    return json.loads(answered([context.build / "bench/admission_sets", admitted(context)[0], threshold, SETS, seed, *kinds]))


def points_of(rows):
    return [[rows[f"{scenario} {threshold:g}"] for threshold in THRESHOLDS[scenario]] for scenario in THRESHOLDS]


def percent(points, curve):
    return 100 * sum(point["fitting"][curve] for point in points) / sum(point["sets"] for point in points)


def render_sets(printed, rows):
    parts = []
    for (name, curves), points in zip(SCENARIOS.items(), points_of(rows)):
        body = [[f"{point['threshold']:g}", f"{point['instances'] / point['sets']:.1f}",
                 *(f"{100 * fitting / point['sets']:.1f} %" for fitting in point["fitting"])] for point in points]
        sets = sum(point["sets"] for point in points)
        body.append(["all", f"{sum(point['instances'] for point in points) / sets:.1f}", *(f"{percent(points, curve):.1f} %" for curve in range(len(curves)))])
        unknown = sum(sum(point["unknown"]) for point in points)
        parts.append(f"### {name}\n\n" + markdown(["least utilisation", "networks", *curves], body) +
                     f"\n\n{sets} sets; {unknown} answers ran out of their time.")
    return "\n\n".join(parts)


def render_findings(printed, rows):
    table = printed["variants_schedulability"]
    first, second, third = points_of(rows)
    gap = lambda points, one, other: max(100 * (point["fitting"][other] - point["fitting"][one]) / point["sets"] for point in points)
    mean_of = lambda points: sum(point["fitting_instances"] for point in points) / max(1, sum(point["fitting"][-1] for point in points))
    most = lambda points: [point["instances"] / point["sets"] for point in points]
    verdict = lambda is_so: "yes" if is_so else "**no**"
    tensor_over, cpus = gap(second, 1, 2), gap(second, -2, -1)
    low, high = table["mean_instances"]["with_nvdla"]
    low2, high2 = table["mean_instances"]["without_nvdla"]
    spans = [(min(most(points)), max(most(points))) for points in (first, second)]
    body = [
        ["NPUs used one by one beat both as one cluster", verdict(gap(first, 0, 1) > 0), f"by up to {gap(first, 0, 1):.1f} points"],
        ["enabling the GPU improves largely over NPUs alone", verdict(percent(first, 2) - percent(first, 1) > percent(first, 4) - percent(first, 2)),
         f"{percent(first, 1):.1f} to {percent(first, 2):.1f} % of all sets"],
        ["flexible tensor cores improve significantly over 8 SMs", verdict(gap(second, 0, 1) >= 10), f"by up to {gap(second, 0, 1):.1f} points"],
        ["regular cores still improve over tensor cores", verdict(tensor_over > 0), f"by up to {tensor_over:.1f} points"],
        ["CPUs bring a marginal improvement to GPU cores", verdict(cpus < 10), f"by up to {cpus:.1f} points, {gap(third, -2, -1):.1f} where there are no tensor cores"],
        [f"{low} to {high} networks on average with NPUs", verdict(low <= spans[0][0] and spans[0][1] <= high), f"{spans[0][0]:.0f} to {spans[0][1]:.0f}"],
        [f"{low2} to {high2} networks without", verdict(low2 <= spans[1][0] and spans[1][1] <= high2), f"{spans[1][0]:.0f} to {spans[1][1]:.0f}"],
        [f"{table['task_sets_per_scenario']} sets for each scenario", verdict(all(sum(p["sets"] for p in points) == table["task_sets_per_scenario"]
                                                                                   for points in (first, second, third))),
         ", ".join(str(sum(point["sets"] for point in points)) for points in (first, second, third))]]
    return markdown(["finding of the paper:", "so here:", "here:"], body)


def plot():
    return variants_plot.svg(SCENARIOS, points_of(results_of(TABLES[1])))


TABLES = [
    Table("variant_times", PAGE, lambda _: ["all"], measure_times, render_times, ("all",)),
    Table("variant_sets", PAGE, keys, measure_point, render_sets, ("2 0.25",)),
]
TABLES += [Table("variant_findings", PAGE, None, None, render_findings, source="variant_sets")]
