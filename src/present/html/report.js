"use strict";
// What the page shows of each kind of file, in which order. charts.js draws.

const verdicts = [], figures = [];
const add_figure = (what, ...value) => figures.push(figure(what, ...value));
const has = (kind) => data.parts.some((part) => part.kind === kind);

/// Rates of a benchmark's rows, the last of which is what the others are compared with.
function throughputs(at, rows) {
  const most = Math.max(...rows.flatMap((row) => row.rounds_fps));
  const places = common(rows.map((row) => row.throughput_fps)), last = rows.length - 1;
  return bars(rows.map((row, r) => {
    const low = Math.min(...row.rounds_fps), high = Math.max(...row.rounds_fps);
    const range = html("div", { class: "range", style: `left:${share(low, most)};width:${share(high - low, most)}` });
    const compared = row.plan_is !== undefined && r < last;
    return [row.name, bar(row.throughput_fps, most, r === last ? "plan" : "", range),
      number([...at, r, "throughput_fps"], "frames/s", { places }),
      compared ? [number([...at, r, "plan_is"], "", { places: 2 }), " ×"] : ""];
  }));
}

/// Rows: name, number of the stage, and the ways to two sizes.
function memory(file, what, rows) {
  const most = Math.max(1, ...rows.map(([, , first, second]) => look(first) + look(second)));
  const piece = (path, opacity) => html("span", { "data-value": look(path),
    style: `opacity:${opacity};width:${share(look(path), most)}` });
  section(60, "Memory by stage", file, `Of one replica. Dark: ${what[0]}. Pale: ${what[1]}.`,
    bars(rows.map(([name, stage, first, second]) => [name,
      html("div", { class: `stack ${colour(stage)}` }, piece(first, 1), piece(second, 0.45)),
      bytes(first), bytes(second)])));
}

function energy(file, at) {
  if (!look(at)?.length) return;
  const columns = [["always", "always_mj"], ["working", "working_mj"], ["together", "energy_mj"]];
  section(70, "Energy of a frame", file, "In mJ, by the board's table of power.",
    table([["device"], ...columns.map(([name]) => [name, true])],
      look(at).map((one, n) => [one.device,
        ...columns.map(([, key]) => number([...at, n, key], "", { places: 2 }))])));
}

// ---- a plan ---------------------------------------------------------------------------------

function stages_of_plan(part, i) {
  const { stages } = part.document, at = [i, "document", "stages"], facts = [i, "facts", "stages"];
  const time = (s, r, what) => {  // 0: unknown
    const path = [...at, s, what, ...(stages[s].processors ? [r] : [])];
    return look(path) > 0 ? number(path, "", { places: common(stages.flatMap((stage) => stage[what])) }) : "–";
  };
  const rows = stages.flatMap((stage, s) => processors_of(stage).map((processor, r) => [
    [swatch(s), stage.processors ? `${stage.name}.${r}` : stage.name], processor, stage.engine,
    number([...facts, s, "layers"]), stage.phases.length,
    number([...facts, s, "macs"], "", { scale: 1e6, places: 1 }),
    time(s, r, "predicted_ms"), time(s, r, "measured_ms")]));
  section(50, "Stages", part.file, "Times in ms for a frame.",
    table([["stage"], ["processor"], ["engine"], ["layers", true], ["phases", true],
      ["million MACs", true], ["predicted", true], ["measured", true]], rows));
  memory(part.file, ["weights", "slots for its results"], stages.map((stage, s) =>
    [stage.name, s, [...facts, s, "weights_bytes"], [...facts, s, "slots_bytes"]]));
}

/// Only if a profile is there; the longest first.
function times_of_layers(part, i) {
  const { layers, layer_times: times } = part.facts, shown = 60;
  const known = times?.flatMap((each, l) => (each?.together_ms > 0 ? [l] : [])) ?? [];
  if (known.length === 0) return;
  known.sort((a, b) => times[b].together_ms - times[a].together_ms);
  const most = times[known[0]].together_ms, at = [i, "facts", "layer_times"];
  const time = (l, key) => number([...at, l, key], "", { places: 4 });
  const left_out = known.length - Math.min(shown, known.length);
  section(45, "Layers", part.file, "Medians in ms of a frame: inside of the network, and as a part of its own. " +
    `Layers that share a kernel count at the first of them.${left_out > 0 ? ` ${left_out} shorter ones are left out.` : ""}`,
  table([["layer"], ["operator"], ["stage"], [""], ["in the network", true], ["alone", true], ["million MACs", true]],
    known.slice(0, shown).map((l) => [layers[l].name, layers[l].operator,
      [swatch(layers[l].stage), part.document.stages[layers[l].stage].name],
      html("div", { style: "min-width:200px" }, bar(times[l].together_ms, most, "")),
      time(l, "together_ms"), time(l, "alone_ms"),
      number([i, "facts", "layers", l, "macs"], "", { scale: 1e6, places: 2 })])));
}

function proof_of_plan(part) {
  const { analysis } = part.facts, { origin } = part.document;
  const critical = analysis.critical_cycle.slice(0, 6).map((phase) => html("div", {},
    `${phase.phase}: ${written(phase.time_ms)} ms${phase.then ? `, ${phase.then}` : ""}`));
  const rate = analysis.throughput === null ? "unknown: the plan has no times"
    : ["one frame every ", code(analysis.throughput.period_ns.replace(/\/1$/, "")),
      " ns at best, by the graph's critical cycle"];
  section(90, "Proof and provenance", part.file, null, html("div", { class: "two" },
    terms([["graph", "cyclo-static dataflow (CSDF), an actor for each replica"],
      ["consistent", "yes: as many tokens are read as written"],
      ["free of deadlock", "yes: an iteration of the graph runs to its end"],
      ["throughput", rate], ["critical cycle", critical.length > 0 ? critical : "–"]]),
    terms([["model", origin.model], ["its hash", code(origin.network)],
      ["hash of the board", code(origin.board)], ["hash of the profile", code(origin.profile)],
      ["made by", `Millrace ${origin.version}`],
      ...Object.entries(origin.options)])));
}

function show_plan(part, i) {
  const { analysis, layers, trace } = part.facts, { stages, network: name } = part.document;
  const facts = [i, "facts", "analysis"], measured = analysis.measured.findIndex((m) => m.when === "planning");
  const processors = [...new Set(stages.flatMap(processors_of))];
  const bound = () => number([...facts, "throughput", "bound_fps"], "frames/s");
  verdicts.push([`${name} has ${plural(layers.length, "layer")} in ${plural(stages.length, "stage")} on `,
    `${processors.join(", ")}. It cannot deadlock`,
    analysis.throughput ? ["; at the predicted times it allows at most ", bound()] : "", "."]);
  if (measured >= 0)
    add_figure("measured while planning", number([...facts, "measured", measured, "throughput_fps"], "frames/s"));
  if (analysis.throughput) add_figure("bound at predicted times", bound());
  if (analysis.latency_ms !== null) add_figure("predicted for a frame alone", number([...facts, "latency_ms"], "ms"));
  add_figure("slots between stages", bytes([...facts, "buffers", "bytes"]));
  const planning = data.parts.find((other) => other.kind === "planning");
  section(40, "Network", part.file, null, network(part, planning));
  if (trace)
    section(30, "Predicted course", part.file, "The first frames, simulated at the predicted times.", gantt(trace));
  times_of_layers(part, i);
  stages_of_plan(part, i);
  energy(part.file, [...facts, "energy_per_frame"]);
  proof_of_plan(part);
}

/// Full: measured; outlined: predicted only.
function show_planning(part, i) {
  const { candidates: list, chosen } = part.document, at = [i, "document", "candidates"];
  const rate = (candidate) => 1e9 / (candidate.period_ns || candidate.bound_ns);
  const most = Math.max(...list.map(rate)), is_known = list.every((candidate) => candidate.latency_ns > 0);
  const points = list.map((candidate) => ({ name: candidate.name, x: candidate.latency_ns / 1e6,
    y: rate(candidate), full: candidate.period_ns > 0, own: candidate.name === chosen }));
  const times = (n) => ["period_ns", "bound_ns", "latency_ns"].map((key) =>
    (list[n][key] > 0 ? number([...at, n, key], "", { scale: 1e6, places: 3 }) : "–"));
  const column = (candidate) => html("div", { style: "min-width:260px" },
    bar(rate(candidate), most, candidate.period_ns > 0 ? (candidate.name === chosen ? "plan" : "") : "hollow"));
  section(80, "Candidates", part.file,
    "Bars: frames per second; full: measured, outlined: predicted only. Times in ms for a frame.",
    is_known && list.length > 1 ? scatter(points, "predicted latency in ms", "frames/s") : null,
    table([["candidate"], [""], ["measured", true], ["predicted", true], ["latency, predicted", true]],
      list.map((candidate, n) => [candidate.name, column(candidate), ...times(n)]),
      list.findIndex((candidate) => candidate.name === chosen)));
}

// ---- what was measured ----------------------------------------------------------------------

function latencies_of_bench(part, at) {
  const { rows } = part.document, last = rows.length - 1;
  const all = rows.flatMap((row) => marks.map((mark) => row.latency[`${mark}_ms`]));
  const low = Math.log(Math.min(...all)), range = Math.log(Math.max(...all)) - low || 1;
  const dots = (row, r) => html("div", { class: `track dots ${r === last ? "plan" : ""}` }, marks.map((mark) =>
    html("span", { class: "dot", title: mark,
      style: `left:${share(Math.log(row.latency[`${mark}_ms`]) - low, range)}` })));
  section(20, "Latency beside the baselines", part.file, "In ms. Dots: the same on a logarithmic scale.",
    table([[""], ...marks.map((mark) => [mark, true]), [""]], rows.map((row, r) => [row.name,
      ...marks.map((mark) => number([...at, r, "latency", `${mark}_ms`], "", { places: 1 })), dots(row, r)]), last));
}

function show_bench(part, i) {
  const { rows, stages } = part.document, at = [i, "document", "rows"], last = rows.length - 1;
  if (last < 0) return;
  let best = -1;
  for (let r = 0; r < last; ++r) if (best < 0 || rows[r].throughput_fps > rows[best].throughput_fps) best = r;
  const rate = () => number([...at, last, "throughput_fps"], "frames/s");
  verdicts.push(["Measured: ", rate(), best < 0 ? "." : [", ", number([...at, best, "plan_is"], "", { places: 2 }),
    ` times the best baseline, “${rows[best].name}”.`]]);
  add_figure("benchmark", rate());
  add_figure("99th percentile of latency", number([...at, last, "latency", "p99_ms"], "ms"));
  section(10, "Beside the baselines", part.file,
    "Medians of the rounds; the line spans all rounds. Last: how many times as fast the plan is.",
    throughputs(at, rows));
  latencies_of_bench(part, at);
  const names = [...new Set(stages.map((stage) => stage_of(stage.name)))];
  memory(part.file, ["weights", "intermediate tensors"], stages.map((stage, s) =>
    [stage.name, names.indexOf(stage_of(stage.name)), [i, "document", "stages", s, "weights_bytes"],
      [i, "document", "stages", s, "arena_bytes"]]));
  energy(part.file, [i, "document", "energy_per_frame"]);
}

function show_application(part, i) {
  const { rows, busy, bottleneck } = part.document, at = [i, "document", "rows"], last = rows.length - 1;
  const steps = [["latency", "latency_ms"], ["reading", "reading_ms"], ["pre-processing", "pre_processing_ms"],
    ["stages", "stages_ms"], ["post-processing", "post_processing_ms"], ["waiting", "waiting_ms"]];
  const rate = () => number([...at, last, "throughput_fps"], "frames/s");
  verdicts.push(["The application takes ", rate(), `; the busiest part is ${bottleneck}.`]);
  add_figure("application", rate());
  add_figure("mean latency", number([...at, last, "latency_ms"], "ms"));
  section(10, "One technique after the other", part.file, "Medians of the rounds; the line spans all rounds.",
    throughputs(at, rows));
  section(20, "Where a frame's time goes", part.file, "Means in ms.",
    table([[""], ...steps.map(([name]) => [name, true])], rows.map((row, r) =>
      [row.name, ...steps.map(([, key]) => number([...at, r, key], "", { places: 3 }))]), last));
  section(50, "Utilisation", part.file, null, bars(busy.map((one, n) => [`${one.name} (${one.on})`,
    bar(one.busy, 1, one.name === bottleneck ? "plan" : ""), percent([i, "document", "busy", n, "busy"])])));
}

function show_run(part, i) {
  const latencies = [i, "facts", "latencies"];
  if (part.document)
    verdicts.push([number([i, "document", "frames"], "frames"), " at ",
      number([i, "document", "throughput_fps"], "frames/s"), "."]);
  if (!part.facts.latencies) return;
  if (!has("bench")) {
    add_figure("median latency", number([...latencies, "p50_ms"], "ms"));
    add_figure("99th percentile of latency", number([...latencies, "p99_ms"], "ms"));
  }
  section(20, "Latency", part.file, null, histogram(latencies));
}

function show_trace(part, i) {
  section(30, "What ran when", part.file, null, gantt(part.facts.trace));
  show_run(part, i);
}

// ---- an application -------------------------------------------------------------------------

/// What one of its networks is.
function network_of(part, i, key) {
  const at = [i, "facts", key], { name, inputs, outputs } = part.facts[key];
  return terms([["network", name], ["layers", number([...at, "layers"])],
    ["MACs", number([...at, "macs"], "million", { scale: 1e6, places: 1 })],
    ["parameters", number([...at, "parameters"], "million", { scale: 1e6, places: 2 })],
    ["inputs", inputs.join(", ")], ["outputs", outputs.join(", ")]]);
}

function show_application_file(part, i) {
  const { steps } = part.document, { application: name, network: first, of_crops: second } = part.facts;
  verdicts.push([`The application ${name} has the network ${first.name}`,
    second ? `, and ${second.name} for what that finds.` : ".",
    has("plan") || has("application_bench") ? "" : " It has no plan here: `run` makes one."]);
  add_figure("layers", number([i, "facts", "network", "layers"]));
  add_figure("multiply-accumulates of a frame", number([i, "facts", "network", "macs"], "million", { scale: 1e6 }));
  section(5, "Application", part.file, "What the file says; everything else has its default.",
    table([["step"], ["key"], ["value"]], steps.flatMap((step) => step.settings.map(([key, value], n) =>
      [n === 0 ? html("b", {}, step.name) : "", code(key), value]))),
    html("div", { class: second ? "two" : null }, network_of(part, i, "network"),
      second ? network_of(part, i, "of_crops") : null));
}

// ---- a deployment ---------------------------------------------------------------------------

/// Of a scenario at a level.
function operation_card(one, at) {
  const groups = one.groups.map((group, g) => {
    const most = Math.max(group.deadline_ms, group.bound_ms ?? 0);
    const holds = group.slack_ms !== null && group.slack_ms >= 0;
    const seen = group.simulated_ms === null ? []
      : html("div", { class: "tick", style: `left:${share(group.simulated_ms, most)}` });
    const time = (key, unit) => number([...at, "groups", g, key], unit);
    return [group.group, bar(group.bound_ms ?? most, most, holds ? "good-bar" : "bad-bar", seen),
      [time("simulated_ms"), " ≤ ", time("bound_ms"), " of ", time("deadline_ms", "ms")]];
  });
  const processors = one.processors.map((processor, p) => [processor.processor,
    bar(Math.min(processor.utilisation, 1), 1, ""), percent([...at, "processors", p, "utilisation"])]);
  const clocks = Object.keys(one.clocks_mhz).map((device) =>
    [html("span", {}, `${device} `, number([...at, "clocks_mhz", device], "MHz"))]);
  return html("div", { class: "card" }, html("h3", {}, `${one.scenario}, level ${one.level} `,
    html("span", { class: one.schedulable ? "good" : "bad" }, one.schedulable ? "holds" : one.reason)),
  bars([...groups, ...processors]), one.power_mw === null && clocks.length === 0 ? null
    : legend([["expected power ", number([...at, "power_mw"], "mW")], ...clocks]));
}

/// What a bound of a chain consists of: pieces one after the other, from `begin` on.
function pieces_of(pieces, x, y) {
  let begin = 0;
  return pieces.map(({ group, what, ms, kind }) => {
    const from = x(begin), to = x(begin += ms);
    return svg("g", { "data-tip": `${group}: ${what}\n${written(ms, 3)} ms` },
      svg("rect", { x: from, y, width: Math.max(to - from - 1, 1), height: 26, rx: 3, class: kind }),
      to - from > 14 + 7 * group.length ? label((from + to) / 2, y + 17.5, group,
        { class: kind.startsWith("fill") ? "on" : "", "text-anchor": "middle", "pointer-events": "none" }) : null);
  });
}

/// Of a chain in a scenario at a level: what its reaction and its data age consist of at worst, and what is allowed.
function chain_picture(chain) {
  const left = 96, right = wide - 24, allowed = [chain.reaction_limit_ms, chain.age_limit_ms];
  const most = 1.02 * Math.max(chain.reaction_ms ?? 0, chain.age_ms ?? 0, ...allowed.map((ms) => ms ?? 0));
  const x = (ms) => left + ms / most * (right - left);
  const waits = chain.parts.map(({ group, gap_ms }, n) =>
    ({ group, what: "waits for its next frame", ms: gap_ms, kind: `tint ${colour(n)}` }));
  const works = chain.parts.map(({ group, response_ms }, n) =>
    ({ group, what: "from a frame to its end", ms: response_ms, kind: `fill ${colour(n)}` }));
  const rows = [["reaction", chain.reaction_ms, waits.flatMap((wait, n) => [wait, works[n]])],
    ["data age", chain.age_ms, works.flatMap((work, n) => n + 1 < works.length ? [work, waits[n]] : [work])]];
  const [times, places] = ticks(0, most);
  return html("figure", {}, svg("svg", { viewBox: `0 0 ${wide} 132`, role: "img", "aria-label": `Chain ${chain.chain}` },
    times.map((ms) => [svg("line", { x1: x(ms), x2: x(ms), y1: 8, y2: 104, class: "grid" }),
      label(x(ms), 122, `${written(ms, places)} ms`, { "text-anchor": "middle" })]),
    rows.map(([name, ms, pieces], row) => [label(0, 34 + 46 * row, name),
      ms === null ? label(left, 34 + 46 * row, "no bound") : pieces_of(pieces, x, 16 + 46 * row),
      allowed[row] === null ? null : svg("line", { x1: x(allowed[row]), x2: x(allowed[row]), y1: 10 + 46 * row,
        y2: 48 + 46 * row, class: "mark", "data-tip": `allowed: ${written(allowed[row])} ms` })])));
}

function show_chains(part, operations, at) {
  const shown = operations.flatMap((one, o) => one.chains.map((chain, c) =>
    ({ one, chain, path: [...at, "operations", o, "chains", c] }))).filter(({ chain }) => chain.parts.length > 0);
  if (shown.length === 0) return;
  section(20, "Chains", part.file,
    "At worst. Coloured: from a group's frame to its end; pale: until its next frame; line: what is allowed.",
    shown.map(({ one, chain, path }) => html("div", { class: "card" },
      html("h3", {}, `${chain.chain} in ${one.scenario}, level ${one.level}: reaction `, number([...path, "reaction_ms"], "ms"),
        ", data age ", number([...path, "age_ms"], "ms")), chain_picture(chain))));
}

function show_deployment(part, i) {
  const { system, assignments, board, method, contention } = part.document, { analysis } = part.facts;
  const facts = [i, "facts", "analysis"], holds = analysis.schedulable;
  const scenarios = new Set(analysis.operations.map((one) => one.scenario)).size;
  verdicts.push([`${system.name ?? part.file}: `, html("span", { class: holds ? "good" : "bad" },
    holds ? "every deadline holds" : "a deadline may be missed"),
  ` for ${plural(assignments.length, "group")} in ${plural(scenarios, "scenario")} on ${board.name}.`]);
  section(10, "Response times, utilisation and power", part.file,
    "Coloured: the bound; the whole width is the deadline. Mark: the longest simulated response. Grey: utilisation.",
    html("div", { class: "cards" }, analysis.operations.map((one, o) =>
      operation_card(one, [...facts, "operations", o]))));
  show_chains(part, analysis.operations, facts);
  const times = ["worst_ms", "average_ms", "best_ms"];
  section(50, "Tasks", part.file, "Times in ms at the highest clocks.",
    table([["group"], ["task"], ["processor"], ["step"], ["worst", true], ["average", true], ["best", true],
      ["priority", true]], assignments.flatMap((assignment, a) => assignment.tasks.map((task, t) =>
      [assignment.group, task.name, task.processor, task.step,
        ...times.map((key) => number([i, "document", "assignments", a, "tasks", t, key], "", { places: 3 })),
        assignment.priority]))));
  section(90, "Proof and provenance", part.file, null, terms([
    ["bounds", "response-time analysis of all tasks: no response is longer"],
    ["task times", contention === "modelled" ? "modelled from the board" : `measured ${contention}`],
    ["method", method], ["board", [board.name, " ", code(board.hash)]],
    ["controller", [number([...facts, "overhead_ms"], "ms"), " of each deadline"]]]));
}

// ---- the page -------------------------------------------------------------------------------

const show = { plan: show_plan, planning: show_planning, bench: show_bench, run: show_run,
  application_bench: show_application, application: show_application_file, trace: show_trace, deployment: show_deployment };
data.parts.forEach((part, i) => show[part.kind](part, i));

const absent = has("plan") ? [["bench", "baselines", "bench ⟨json⟩"], ["planning", "candidates", "plan ⟨json⟩"],
  ["trace", "a recorded course", "run ⟨trace⟩"]].filter(([kind]) => !has(kind)) : [];
page.replaceChildren(html("div", { class: "kicker" }, "Millrace report"),
  html("h1", {}, document.title.replace(/ – Millrace report$/, "")),
  ...verdicts.map((sentence) => html("p", { class: "verdict" }, sentence)),
  html("div", { class: "figures" }, figures),
  ...sections.sort((a, b) => a.order - b.order).map((each) => each.node),
  html("footer", {}, `Written by Millrace ${data.version} from ${data.parts.map((part) => part.file).join(", ")}.`,
    absent.length > 0 ? [" More files show more:", absent.map(([, what, verb], n) =>
      [n > 0 ? ", " : " ", what, " (", code(verb), ")"]), "."] : ""));
