"""Chapter 4 of Kim's thesis: four detectors under deadlines on a Jetson AGX Xavier, printed beside what `millrace plan` decides."""
import json

from beside import Table, is_near, markdown, mean, near_of, off_text, results_of, run, same_text
from xavier import BOARD, POST_US, PRE_US, with_relu

PAGE = "multi.md"
SIZE = 256
DEVIATION = 0.4  # of a kernel's time: fitted, so that four times yolov2 on the GPU alone have the printed highest rate
MODELS = {"yolov2": "yolov2", "yolov2tiny": "yolov2-tiny", "yolov3tiny": "yolov3-tiny", "yolov3": "yolov3"}
CASES = {"alpha": ["yolov2"] * 4, "beta": ["yolov2", "yolov2tiny", "yolov3tiny", "yolov3"]}
PRIORITIES = [4, 2, 1, 3]  # app_0, app_3, app_1, app_2
# Of FSM-A the text says that one state runs app_0, app_1 and app_2, that FSM-B has twice its states, and in Table 4.9 that
# app_3 runs too. Assumed: the first and the last state of each direction of FSM-B.
MACHINES = {
    "A": [[0], [0, 1, 2], [3], [1, 2, 3]],
    "B": [[0], [3], [0, 1], [1, 3], [0, 2], [2, 3], [0, 1, 2], [1, 2, 3]],
    "C": [[0, 3], [0], [3], [0, 1], [1, 3], [0, 2], [2, 3], [1, 2]],
    "D": [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]}
METHODS = {"LC": "local", "BS": "baseline_gpu", "GB": "global", "SOTA": "state_of_the_art", "PR": "proposed"}
RUN_ON_THE_BOARD = ["PR", "PR-GB", "GB", "SOTA"]
FRONT = 100  # generations of each network's front
PATIENCE = 20  # generations without anything better end a search
GENERATIONS = 10  # of searches whose checks are counted; the thesis: 50
SHARES = [7 / 9, 8 / 9, 1]  # of the highest rate of GB: 35, 40 and 45 frames/s of Table 4.10
LEVELS = 8  # of Table 4.9 (b): 40 to 47 frames/s, 25 to 32
STEPS = [0, 5, 7]  # of these, those that are printed
CLOCKS = ["greedy", "search", "exhaustive"]
DRIVE_S = 10
NOTICEABLE = 5  # percent


def keys(_):
    return [f"{case} {machine}" for case in CASES for machine in MACHINES]


def system_text(context, case, machine, rates, levels):
    scale = (SIZE / 416) ** 2 / 1000
    lines = ["format: 1", f"name: FSM-{machine} {case}", "board: jetson-agx-xavier", f"levels: {levels}", "groups:"]
    for app, network in enumerate(CASES[case]):
        rate = f"[{rates[0]:.3f}, {rates[-1]:.3f}]" if levels > 1 else f"{rates[0]:.3f}"
        lines.append(f"  - {{name: app{app}, model: {with_relu(context, MODELS[network])}, size: {SIZE}, precision: [f16], rate_fps: {rate}, "
                     f"priority: {PRIORITIES[app]}, preprocess_ms: {PRE_US * scale:.3f}, postprocess_ms: {POST_US * scale:.3f}}}")
    lines.append("scenarios:")
    for number, apps in enumerate(MACHINES[machine]):
        lines.append(f"  - {{name: sc{number}, groups: [{', '.join(f'app{a}' for a in apps)}]}}")
    return "\n".join(lines) + "\n"


def deployed(context, case, machine, rates, *more, levels=None):
    path = context.folder / "system.yaml"
    path.write_text(system_text(context, case, machine, rates, levels or len(rates)))
    return json.loads(run(context, "plan", path, "--deviation", DEVIATION, "-o", context.folder / "deployment.json", "--front-generations", FRONT,
                          *([] if "--patience" in more else ["--patience", PATIENCE]), "--json", *more)[0])


def by_name(result):
    return {method["name"]: method for method in result["methods"]}


def idle_mw(context):
    return json.loads(run(context, "board", BOARD, "--json")[0])["idle_power_mw"]


def drive_joules(context, machine, levels):
    """By level the energy of ten seconds, each scenario as long as the others, of the deployment that was written last."""
    joules = []
    for level in range(levels):
        script = context.folder / "drive.txt"
        states = len(MACHINES[machine])
        script.write_text("".join(f"{DRIVE_S * state / states:.6f} sc{state} {level}\n" for state in range(states)))
        result = json.loads(run(context, "simulate", context.folder / "deployment.json", "--scenario-script", script, "--duration", DRIVE_S,
                                "--times", "drawn", "--json")[0])
        joules.append(sum(each["busy_mj"] + each["still_mj"] for each in result["devices"]) / 1000 + idle_mw(context) * DRIVE_S / 1e6)
    return joules


# Table 4.4

def measure_front(context, key):
    path = context.folder / "system.yaml"
    path.write_text(f"format: 1\nname: one\nboard: jetson-agx-xavier\ngroups:\n  - {{name: app, model: {with_relu(context, MODELS[key])}, "
                    f"size: {SIZE}, precision: [f16], rate_fps: 1}}\n")
    group = json.loads(run(context, "plan", path, "--deviation", DEVIATION, "-o", context.folder / "deployment.json", "--json")[0])["groups"][0]
    return {name: group[name] for name in ("layers", "cut_points", "candidates", "plans")}


def render_front(printed, rows):
    body = []
    for network, (layers, cuts, candidates, plans) in printed["multi_application_pareto"]["rows"].items():
        row = rows[network]
        body.append([network, layers, row["layers"], cuts, row["cut_points"], candidates, f"{row['candidates']:.0f}", plans, row["plans"],
                     f"{100 * plans / candidates:.1f} %", f"{100 * row['plans'] / row['candidates']:.1f} %"])
    return markdown(["network:", "layers, printed", "here", "cut points, printed", "here", "candidates, printed", "here", "plans of the front, printed",
                     "here", "share, printed", "here"], body)


# Tables 4.5 to 4.7: what is given

def measure_clocks(context, key):
    devices = json.loads(run(context, "board", BOARD, "--json")[0])["devices"]
    return {"clocks_mhz": next(device["clocks_mhz"] for device in devices if device["name"] == {"cpu": "carmel"}.get(key, key))}


def render_clocks(printed, rows):
    body = []
    for name, clocks in printed["xavier_frequencies_mhz"]["rows"].items():
        here = rows[name]["clocks_mhz"]
        body.append([name, ", ".join(f"{clock:g}" for clock in clocks), "the same" if here == clocks else "**other clocks**"])
    return markdown(["processor:", "MHz, printed:", "of the board file:"], body)


def render_given(printed, _):
    table = printed["multi_application_given"]
    states = lambda machine: "; ".join(",".join(map(str, state)) for state in machine)
    body = [[f"FSM-{machine}", states(table["machines"][machine]) if machine in table["machines"] else "not printed",
             "the same" if table["machines"].get(machine) == MACHINES[machine] else f"**{states(MACHINES[machine])}**"] for machine in MACHINES]
    cases = [[case, ", ".join(table["cases"][case]), "the same" if table["cases"][case] == CASES[case] else "**other networks**"] for case in CASES]
    return (markdown(["machine:", "applications of each state, printed:", "here:"], body) + "\n\n" +
            markdown(["case:", "networks, printed:", "here:"], cases))


# Tables 4.8 to 4.10 and the figures of energy

def measure_rates(context, key):
    case, machine = key.split(" ")
    fastest = by_name(deployed(context, case, machine, [20], "--compare", "--max-rate"))
    return {"max_rate": {method: {"fps": found["max_rate"]["fps"], "together_fps": found["max_rate"]["together_fps"]}
                         for method, found in fastest.items() if found["max_rate"]},
            "plans": fastest["PR"]["max_rate"]["plans"][0]}


def rates_of(key):
    """Up to the highest that GB, SOTA and BS reach."""
    fastest = results_of(BY_NAME["table_4_8"])[key]["max_rate"]
    return [share * min(fastest[method]["fps"] for method in ("GB", "SOTA", "BS")) for share in SHARES]


def measure_power(context, key):
    case, machine = key.split(" ")
    rates = rates_of(key)
    tuned = by_name(deployed(context, case, machine, rates, "--compare"))
    joules = {}
    for method in RUN_ON_THE_BOARD:
        found = deployed(context, case, machine, rates, "--method", method)["methods"][0]
        joules[method] = drive_joules(context, machine, len(rates)) if found["feasible"] else None
    return {"rates": rates, "joules": joules, "power_mw": {method: [level["power_mw"] for level in found["levels"]] for method, found in tuned.items()}}


def render_rates(printed, rows):
    table = printed["multi_application_max_fps"]
    body, pairs = [], []
    for key in keys(None):
        case, machine = key.split(" ")
        cells = [key]
        for method, name in METHODS.items():
            value = table[case][name]
            value = value["ABCD".index(machine)] if isinstance(value, list) else value
            found = rows[key]["max_rate"][method]
            here = found["together_fps"] if method in ("GB", "SOTA") else found["fps"]
            pairs.append((here, value))
            cells += [value, f"{here:.0f}", off_text(here, value)]
        gb = table["global_in_states"][case]["ABCD".index(machine)]
        cells += [gb, f"{rows[key]['max_rate']['GB']['fps']:.0f}", off_text(rows[key]["max_rate"]["GB"]["fps"], gb)]
        pairs.append((rows[key]["max_rate"]["GB"]["fps"], gb))
        body.append(cells)
    columns = [text for method in [*METHODS, "GB in the states"] for text in (f"{method}, printed", "here", "off")]
    orders, far = [], []
    for key, row in rows.items():
        fps = {name: found["fps"] for name, found in row["max_rate"].items()}
        if not fps["PR"] >= fps["GB"] >= fps["SOTA"] >= fps["BS"]:
            orders.append(key)
        if fps["PR"] < 0.95 * fps["LC"]:
            far.append(key)
    gains = lambda of: [100 * (row["max_rate"]["PR"]["fps"] / row["max_rate"][of]["fps"] - 1) for row in rows.values()]
    together = [100 * (row["max_rate"]["PR"]["fps"] / row["max_rate"]["GB"]["together_fps"] - 1) for row in rows.values()]
    return markdown(["case:", *columns], body) + (
        f"\n\nWithin 20 %: {near_of(pairs)}. GB and SOTA are with all four networks at once, as printed. PR >= GB >= SOTA >= BS in the states: "
        f"{'**not for ' + ', '.join(orders) + '**' if orders else 'everywhere'}. PR within 5 % of LC: "
        f"{'**not for ' + ', '.join(far) + '**' if far else 'everywhere'} (printed: not for alpha C).\n\n"
        f"PR beside BS: {min(gains('BS')):.0f} to {max(gains('BS')):.0f} % higher rates, printed 15 to 86 %. "
        f"PR beside GB with all at once: up to {max(together):.0f} %, printed 40 %.")


def render_decision(printed, rows):
    table = printed["multi_application_decision"]
    body = [[f"{app} ({case})", table["mapping"][case][number], rows[f"{case} A"]["plans"][app]]
            for case in CASES for number, app in enumerate(sorted(rows[f"{case} A"]["plans"]))]
    return markdown(["application:", "printed:", "here:"], body) + "\n\nLayers have other numbers here, since there are more of them."


def measure_tuning(context, key):
    """Table 4.9 (b): the plans for the highest rate, and the clocks of the last state below it."""
    fastest = results_of(BY_NAME["table_4_8"])[f"{key} A"]["max_rate"]["PR"]["fps"]
    lowest = {"alpha": 40 / 47, "beta": 25 / 32}[key] * fastest
    # A little below the highest rate: the search does not start from its plans.
    found = deployed(context, key, "A", [lowest * 0.99, fastest * 0.99], "--method", "PR", levels=LEVELS)["methods"][0]
    return {"fps": [0.99 * (lowest + step * (fastest - lowest) / (LEVELS - 1)) for step in STEPS], "feasible": found["feasible"],
            "clocks_mhz": [found["levels"][step]["scenarios"][-1]["clocks_mhz"] for step in STEPS],
            "power_mw": [found["levels"][step]["scenarios"][-1]["power_mw"] for step in STEPS]}


def render_tuning(printed, rows):
    table, body, falls = printed["multi_application_decision"]["clocks_mhz"], [], []
    for case in CASES:
        row = rows[case]
        for number, (fps, cpu, gpu) in enumerate(table[case]):
            clocks = row["clocks_mhz"][number] if row["feasible"] else {}
            body.append([case, fps, f"{row['fps'][number]:.1f}", cpu, clocks.get("carmel", "-"), gpu, clocks.get("gpu", "-"), "1395.2 (text)",
                         clocks.get("dla", "-"), f"{row['power_mw'][number]:.0f}" if row["feasible"] else "-"])
        falls.append(row["feasible"] and all(a["gpu"] <= b["gpu"] for a, b in zip(row["clocks_mhz"], row["clocks_mhz"][1:])))
    most = all(clocks["dla"] == 1395.2 for case in CASES for clocks in rows[case]["clocks_mhz"])
    return markdown(["case:", "frames/s, printed", "here", "CPU MHz, printed", "here", "GPU MHz, printed", "here", "DLA MHz, printed:", "here",
                     "mW in this state"], body) + (
        f"\n\nThe GPU's clock falls with the rate: {'yes' if all(falls) else '**no**'}, as printed. The DLAs always at their highest clock, as the "
        f"thesis finds: {'yes' if most else '**no**'}.")


def render_constraints(printed, rows):
    table = printed["multi_application_constraints"]["rows"]
    body = [[case, machine, ", ".join(map(str, table[case][machine])), ", ".join(f"{rate:.0f}" for rate in rates_of(f"{case} {machine}"))]
            for case in CASES for machine in MACHINES]
    return markdown(["case:", "machine:", "frames/s, printed:", "here:"], body)


def ratios(row, method, of):
    own = row["power_mw"]["PR"]
    return [a / b for a, b in zip(of, own) if a and b]


def render_power(printed, rows):
    names, body, savings = ["LC", "PR-GB", "GB", "SOTA", "BS"], [], {"GB": [], "SOTA": []}
    for key, row in rows.items():
        cells = [key, ", ".join(f"{rate:.0f}" for rate in row["rates"]), ", ".join(f"{power:.0f}" for power in row["power_mw"]["PR"])]
        for name in names:
            each = ratios(row, name, row["power_mw"][name])
            cells.append(f"{mean(each):.2f}" if each else "misses")
            if name in savings:
                savings[name] += [1 - 1 / ratio for ratio in each]
        body.append(cells)
    return markdown(["case:", "rates, frames/s:", "PR, mW:", *names], body) + (
        "\n\nThe thesis draws bars without numbers. PR saves on average " +
        ", ".join(f"{100 * mean(each):.0f} % beside {name}" for name, each in savings.items()) +
        ". \"misses\": these plans miss a deadline in some state.")


def render_joules(printed, rows):
    low, high = printed["multi_application_energy_saving_percent"]["measured"]
    body, savings, gaps = [], [], []
    for key, row in rows.items():
        found = row["joules"]
        cells = [key, ", ".join(f"{rate:.0f}" for rate in row["rates"])]
        for method in RUN_ON_THE_BOARD:
            cells.append(", ".join(f"{each:.1f}" for each in found[method]) if found[method] else "misses")
        for method in ("GB", "SOTA"):
            if found[method]:
                saving = 100 * (1 - sum(found["PR"]) / sum(found[method]))
                savings.append(saving)
                cells.append(f"{saving:.0f} %" if low <= saving <= high else f"**{saving:.0f} %**")
            else:
                cells.append("-")
        if found["PR-GB"]:
            gaps.append(100 * (sum(found["PR-GB"]) / sum(found["PR"]) - 1))
        body.append(cells)
    inside = sum(low <= saving <= high for saving in savings)
    return markdown(["case:", "rates, frames/s:", *(f"{method}, J:" for method in RUN_ON_THE_BOARD), "PR saves beside GB", "beside SOTA"], body) + (
        f"\n\nJoules of {DRIVE_S} s, each state as long as the others, at random times between best and worst, with {4} W of all else. Printed: "
        f"{low} to {high} % saved, and no noticeable gap between PR and PR-GB. Here {min(savings):.0f} to {max(savings):.0f} % saved, {inside} of "
        f"{len(savings)} in that range; PR-GB takes " + (f"{min(gaps):+.0f} to {max(gaps):+.0f} %." if max(gaps) <= NOTICEABLE else
                                                         f"**{min(gaps):+.0f} to {max(gaps):+.0f} %**."))


# Table 4.11

def measure_searches(context, key):
    case, machine = key.split(" ")
    rates = rates_of(key)[-1:]
    found = {}
    for how in CLOCKS:
        method = deployed(context, case, machine, rates, "--clocks", how, "--generations", GENERATIONS, "--patience", 0)["methods"][0]
        checks = [scenario["checks"] for level in method["levels"] for scenario in level["scenarios"]]
        found[how] = {"checks": sum(checks), "combinations": method["evaluated"], "power_mw": method["power_mw"],
                      "ms": 1e3 * method["clock_seconds"] / max(1, method["clock_searches"]), "seconds": method["seconds"]}
    return found


def render_searches(printed, rows):
    table, body, ratios_here, same = printed["multi_application_fitness_seconds"], [], [], 0
    for key, row in rows.items():
        case, machine = key.split(" ")
        heuristic, brute, total, brute_total = table[case][machine]
        ratio = row["exhaustive"]["checks"] / row["greedy"]["checks"]
        ratios_here.append(ratio)
        is_same = row["search"]["power_mw"] == row["exhaustive"]["power_mw"]
        greedy_same = row["greedy"]["power_mw"] == row["exhaustive"]["power_mw"]
        same += is_same
        body.append([key, heuristic, f"{row['greedy']['ms'] / 1000:.5f}", brute, f"{row['exhaustive']['ms'] / 1000:.4f}", f"{brute / heuristic:.0f}",
                     f"{row['greedy']['checks']}, {row['search']['checks']}, {row['exhaustive']['checks']}", f"{ratio:.0f}", total,
                     f"{row['greedy']['seconds']:.2f}", brute_total, f"{row['exhaustive']['seconds']:.2f}",
                     "yes" if greedy_same else "**no**", "yes" if is_same else "**no**"])
    return markdown(["case:", "s a fitness by the heuristic, printed", "here", "by all clocks, printed", "here", "times as long, printed",
                     "checks here: greedy, search, all:", "times as many", "s of 50 generations, printed", f"of {GENERATIONS} here",
                     "by all clocks, printed", "here", "greedy finds the best:", "search does:"], body) + (
        f"\n\nChecks are tests of schedulability for the combination that was chosen; they do not depend on the machine. The seconds do: others used it "
        f"at the same time. All clocks need {min(ratios_here):.0f} to {max(ratios_here):.0f} times as many checks as the greedy search; printed, in time, "
        f"at least 26 times. The thesis finds the same result with both.")


TABLES = [
    Table("table_4_4", PAGE, lambda printed: list(printed["multi_application_pareto"]["rows"]), measure_front, render_front,
          ("yolov2tiny", "yolov3tiny")),
    Table("table_4_7", PAGE, lambda printed: list(printed["xavier_frequencies_mhz"]["rows"]), measure_clocks, render_clocks, ("dla", "gpu", "cpu")),
    Table("table_4_8", PAGE, keys, measure_rates, render_rates),
    Table("figure_4_7", PAGE, keys, measure_power, render_power, can_lack_rows=True),
    Table("table_4_9b", PAGE, lambda printed: list(CASES), measure_tuning, render_tuning),
    Table("table_4_11", PAGE, keys, measure_searches, render_searches, ("alpha D",), ("ms", "seconds"), can_lack_rows=True),
    Table("table_4_5", PAGE, None, None, render_given),
    Table("table_4_9a", PAGE, None, None, render_decision, source="table_4_8"),
    Table("table_4_10", PAGE, None, None, render_constraints, source="table_4_8"),
    Table("figure_4_9", PAGE, None, None, render_joules, source="figure_4_7", can_lack_rows=True),
]
BY_NAME = {table.name: table for table in TABLES}
