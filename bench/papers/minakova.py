"""Tables of Minakova's thesis (2022, Table 3.2) and paper (2020, Table 2): a Jetson TX2 with CPU and GPU, predicted from each by itself.

For each network and processor one factor, the share of the arithmetic peak, is fitted to the printed throughput of that processor alone. Then a
plan for both is searched with the model, and simulated. The column printed for both is only compared with.
"""
import json

from beside import HERE, Table, markdown, published, run

PAGE = "tx2.md"
POINTS = 15  # percentage points that a predicted gain may be off
CORES = 5    # of the thesis's platform
BOARD, CORES_BOARD = HERE / "jetson_tx2_together.yaml", HERE / "jetson_tx2_cores.yaml"
EQUAL_CORES = ("core0", "core3", "core4", "core5")
RATIO = 0.95  # of the fitness's rate, that a plan has at least
YEARS = {"2022": "jetson_tx2_throughput", "2020": "jetson_tx2_throughput_2020"}


def keys(printed):
    return [f"{year} {network}" for year, name in YEARS.items() for network in printed[name]["rows"]]


def stages_of(plan):
    return json.loads(plan.read_text())["stages"]


def processors_of(stage):
    return stage.get("processors", [stage.get("processor")])


def frames_per_second(context, network, board, plan):
    """Of the best plan that is found, simulated with the model's times."""
    run(context, "plan", network, "--board", board, "-o", plan)
    return json.loads(run(context, "simulate", plan, "--json")[0])["plans"][0]["throughput_fps"]


def layers_on_cpu(plan):
    return sum(len(phase["layers"]) for stage in stages_of(plan)
               if any(processor["kind"] == "cpu" for processor in processors_of(stage)) for phase in stage["phases"])


def cores_of(plan):
    """The number of cores that have a stage."""
    return len({processor["name"] for stage in stages_of(plan) for processor in processors_of(stage) if processor["kind"] == "cpu"})


def times_of(context, network, board, profile):
    """By processor, the modelled nanoseconds of every kernel."""
    run(context, "profile", network, "--board", board, "-o", profile)
    return [[layer["together"]["median_ns"] for layer in entry["layers"]] for entry in json.loads(profile.read_text())["processors"]]


def rate_of_divisible_kernels(cpu, gpu):
    """Frames per second if any part of a kernel could run on either, and nothing had to cross: what the CPU does best, for the time saved
    on the GPU, goes there first."""
    on_cpu, on_gpu = 0.0, float(sum(gpu))
    for here, there in sorted(zip(cpu, gpu), key=lambda pair: pair[0] / pair[1] if pair[1] else 0):
        share = min(1.0, (on_gpu - on_cpu) / (here + there)) if here + there else 0
        on_cpu, on_gpu = on_cpu + share * here, on_gpu - share * there
    return 1e9 / max(on_cpu, on_gpu)


def on_cores(context, network, cpu, gpu, feeding):
    """On the thesis's platform, by the share of the GPU's time that its core is busy for it."""
    given, board, plan = (context.folder / end for end in ("given.yaml", "fitted.yaml", "cores.plan.json"))
    text = CORES_BOARD.read_text()
    assert text.count("feeding: 1,") == 1, CORES_BOARD
    given.write_text(text.replace("feeding: 1,", f"feeding: {feeding},"))
    core = f"{CORES * 1e6 / cpu:.3f}us"
    run(context, "profile", network, "--board", given, "--fit", board, "--total", f"denver={core}", "--total", f"a57={core}",
        "--total", f"gpu={1e6 / gpu:.3f}us")
    fps = frames_per_second(context, network, board, plan)
    return {"fps": fps, "cores": cores_of(plan)}


def measure(context, key):
    year, network = key.split(" ")
    cpu, gpu, _ = published()[YEARS[year]]["rows"][network]
    board, plan = context.folder / "board.yaml", context.folder / "plan.json"
    run(context, "profile", network, "--board", BOARD, "--fit", board, "--total", f"cpu={1e6 / cpu:.3f}us", "--total", f"gpu={1e6 / gpu:.3f}us")
    row = {"fps": frames_per_second(context, network, board, plan), "layers_on_cpu": layers_on_cpu(plan),
           "at_most": rate_of_divisible_kernels(*times_of(context, network, board, context.folder / "profile.json"))}
    if year == "2022":
        row.update(unfed=on_cores(context, network, cpu, gpu, 0), fed=on_cores(context, network, cpu, gpu, 1))
    return row


def judgement(points, both, at_most):
    if abs(points) <= POINTS:
        return "near"
    return "**printed**" if both > at_most else "**the model**"


def render(printed, rows, year):
    body, signs, near = [], 0, 0
    for network, (cpu, gpu, both) in printed[YEARS[year]]["rows"].items():
        row = rows[f"{year} {network}"]
        gain = lambda fps: fps / max(cpu, gpu) - 1
        points = 100 * (gain(row["fps"]) - gain(both))
        signs += (gain(both) > 0) == (gain(row["fps"]) > 0)
        near += abs(points) <= POINTS
        percent = lambda value: f"{100 * value:+.1f} %"
        body.append([network, f"{cpu:g}", f"{gpu:g}", f"{both:g}", f"{row['fps']:.1f}", percent(gain(both)), percent(gain(row["fps"])),
                     percent(gain(row["at_most"])), percent(gain(cpu + gpu)), f"{points:+.1f}", judgement(points, both, row["at_most"]),
                     row["layers_on_cpu"]])
    return markdown(["network:", "CPU", "GPU", "both, printed", "both, plan here", "gain, printed", "here", "at most, by the model", "sum of the rates",
                     "points off", "the odd one:", "layers on the CPU"], body) + (
        f"\n\nThe right sign for {signs} of {len(body)}, within {POINTS} percentage points {near} of {len(body)}.")


def render_cores(printed, rows):
    body = []
    for network, (cpu, gpu, both) in printed[YEARS["2022"]]["rows"].items():
        row = rows[f"2022 {network}"]
        gain = lambda fps: f"{100 * (fps / max(cpu, gpu) - 1):+.1f} %"
        cells = [network, f"{both:g}", gain(both), gain(row["fps"])]
        for view in ("unfed", "fed"):
            cells += [f"{row[view]['fps']:.1f}", gain(row[view]["fps"]), row[view]["cores"]]
        body.append(cells)
    return markdown(["network:", "both, printed", "gain, printed", "CPU as a whole, here", "five cores, unfed", "gain", "cores with a stage",
                     "one core feeds", "gain", "cores with a stage"], body)


def measure_search(context, network):
    """The papers' own search: no contiguous parts in the first generation, a population of 1000, 500 epochs at most."""
    plan = context.folder / "plan.json"
    found = json.loads(run(context, "plan", network, "--board", "jetson-tx2", "--processors", ",".join(EQUAL_CORES), "--search", "genetic",
                           "--set", "search.contiguous=0", "--json", "-o", plan)[0])
    chosen = next(each for each in found["candidates"] if each["name"] == found["chosen"])
    simulated = json.loads(run(context, "simulate", plan, "--json")[0])["plans"][0]["throughput_fps"]
    return {"fitness_ms": chosen["fitness_ns"] / 1e6, "plan_ms": chosen["bound_ns"] / 1e6, "chosen": found["chosen"],
            "simulated_ms": 1e3 / simulated, "lower_bound_ms": found["lower_bound_ns"] / 1e6,
            "phases": sum(len(stage["phases"]) for stage in stages_of(plan))}


def render_search(printed, rows):
    body, kept_words = [], 0
    for network in printed[YEARS["2022"]]["rows"]:
        row = rows[network]
        ratio = row["fitness_ms"] / max(row["plan_ms"], row["simulated_ms"])
        kept_words += ratio >= RATIO
        body.append([network] + [f"{row[name]:.1f}" for name in ("fitness_ms", "plan_ms", "simulated_ms")] + [f"{ratio:.3f}", f"{row['lower_bound_ms']:.1f}",
                     row["phases"], row["chosen"]])
    return markdown(["network:", "ms a frame, fitness", "plan, by its graph", "plan, simulated", "rate of the fitness", "lower bound", "phases", "chosen:"], body) + (
        f"\n\nThe plan has at least {RATIO} of the rate that the fitness says for {kept_words} of {len(body)}.")


TABLES = [
    Table("table_3_2", PAGE, keys, measure, lambda printed, rows: render(printed, rows, "2022"), ("2022 resnet18", "2020 resnet18")),
    Table("table_2_of_2020", PAGE, None, None, lambda printed, rows: render(printed, rows, "2020"), source="table_3_2"),
    Table("table_3_2_cores", PAGE, None, None, render_cores, source="table_3_2"),
    Table("search_fitness", PAGE, lambda printed: list(printed[YEARS["2022"]]["rows"]), measure_search, render_search, ("resnet18",)),
]
