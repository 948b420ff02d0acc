"use strict";
// What the page is drawn with. Its data are the JSON document that stands in it. Texts become text
// nodes or values of attributes, never markup. Each number carries its place in the document
// (data-at).

const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page"), tip = document.getElementById("tip");
const colours = 8, wide = 1080;
const sections = [];  // with their places in the page

// ---- elements -------------------------------------------------------------------------------

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {}))
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined));
  return element;
}
const html = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const label = (x, y, text, attributes) => svg("text", { x, y, ...attributes }, text);
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const colour = (index) => `s${index % colours}`;
const swatch = (index) => html("span", { class: `swatch ${colour(index)}` });

// ---- numbers --------------------------------------------------------------------------------

const look = (path) => path.reduce((value, key) => value?.[key], data.parts);

/// Four digits, but no more than three behind the point of what is above 1.
function digits(value) {
  if (Number.isInteger(value)) return 0;
  const before = Math.floor(Math.log10(Math.abs(value) || 1)) + 1;
  return before > 0 ? Math.max(0, Math.min(3, 4 - before)) : Math.min(9, 3 - before);
}
const written = (value, places = digits(value)) =>
  value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places })
    .replaceAll(",", "\u202f");

/// The number at the path, which the test compares with what is shown.
function number(path, unit = "", { scale = 1, places } = {}) {
  const value = look(path);
  if (typeof value !== "number") return html("span", { class: "soft" }, "–");
  const text = html("span", { class: "n", "data-at": JSON.stringify(path), "data-scale": scale,
    title: value }, written(value / scale, places));
  return unit === "" ? text : [text, html("span", { class: "unit" }, unit)];
}
function bytes(path) {
  const size = look(path) ?? 0;
  const [scale, unit] =
    size >= 1 << 20 ? [1 << 20, "MiB"] : size >= 1024 ? [1024, "KiB"] : [1, "B"];
  return number(path, unit, { scale, places: scale === 1 ? 0 : size / scale < 100 ? 2 : 1 });
}
const percent = (path) => number(path, "%", { scale: 0.01, places: 1 });
/// So many places that the largest of these has four digits.
const common = (values) => digits(Math.max(...values.filter((v) => v !== null), 1e-9) + 1e-9);

// ---- building blocks ------------------------------------------------------------------------

function section(order, title, source, lead, ...children) {
  sections.push({ order, node: html("section", { "data-section": title },
    html("div", { class: "head" }, html("h2", {}, title), html("span", { class: "source" }, source)),
    lead ? html("p", { class: "lead" }, lead) : null, ...children) });
}

/// Columns: [title, whether numbers stand in it]; rows: lists of cells.
function table(columns, rows, chosen = -1) {
  const side = (c) => ({ class: columns[c][1] ? "right" : null });
  return html("div", { class: "scroll" }, html("table", {},
    html("thead", {}, html("tr", {}, columns.map(([title], c) => html("th", side(c), title)))),
    html("tbody", {}, rows.map((row, r) => html("tr", { class: r === chosen ? "chosen" : null },
      row.map((cell, c) => html("td", side(c), cell)))))));
}

const legend = (items) =>
  html("div", { class: "legend" }, items.map((item) => html("span", {}, item)));
const figure = (what, ...value) =>
  html("div", {}, html("b", {}, value), html("span", { class: "what" }, what));
const terms = (pairs) => html("dl", {}, pairs.map(([term, ...value]) =>
  [html("dt", {}, term), html("dd", {}, value)]));
const code = (text) => html("code", {}, text || "–");

const share = (value, most) => `${(100 * value / most).toFixed(3)}%`;
/// A bar of `value` on a scale that ends at `most`, and what lies on it.
const bar = (value, most, kind, ...more) => html("div", { class: "track" },
  html("div", { class: `bar ${kind}`, style: `width:${share(value, most)}`, "data-value": value }),
  more);
/// Rows of a chart of bars: a name, a bar, and values.
const bars = (rows) => html("div", { class: `bars of-${rows[0]?.length}` }, rows.map(([name, drawn, ...values]) => [
  html("div", { class: "name" }, name), drawn,
  values.map((value) => html("div", { class: "right" }, value))]));

function tools(view) {
  const button = (text, what, act) => {
    const made = html("button", { type: "button", title: what, "aria-label": what }, text);
    made.addEventListener("click", act);
    return made;
  };
  return html("div", { class: "tools" }, button("+", "Zoom in", () => view.zoom(1.5)),
    button("−", "Zoom out", () => view.zoom(1 / 1.5)), button("↔", "Show all", () => view.all()));
}

/// Dragging moves; buttons, keys, and the wheel with Ctrl zoom.
function steered(picture, view, caption) {
  const scale = () => wide / picture.clientWidth;
  const box = html("figure", { class: "moves", tabindex: 0 }, picture, tools(view),
    html("figcaption", {}, caption));
  picture.addEventListener("pointerdown", (event) => picture.setPointerCapture(event.pointerId));
  picture.addEventListener("pointermove", (event) => {
    if (picture.hasPointerCapture(event.pointerId))
      view.move(event.movementX * scale(), event.movementY * scale());
  });
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const at = picture.getBoundingClientRect();
    view.zoom(Math.exp(-event.deltaY / 300), (event.clientX - at.x) * scale(),
      (event.clientY - at.y) * scale());
  }, { passive: false });
  const keys = { "+": () => view.zoom(1.5), "-": () => view.zoom(1 / 1.5), 0: () => view.all(),
                 ArrowLeft: () => view.move(80, 0), ArrowRight: () => view.move(-80, 0),
                 ArrowUp: () => view.move(0, 60), ArrowDown: () => view.move(0, -60) };
  box.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  return box;
}

document.addEventListener("pointermove", (event) => {
  const text = event.buttons === 0 && event.target.closest?.("[data-tip]")?.getAttribute("data-tip");
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  const below = event.clientY + 18 + tip.offsetHeight < innerHeight;
  tip.style.top = `${below ? event.clientY + 18 : event.clientY - 12 - tip.offsetHeight}px`;
});

// ---- the Gantt chart ------------------------------------------------------------------------

const stage_of = (name) => name.replace(/\.\d+$/, "");  // of a replica

/// Round numbers from one to the other, and how many places they have.
function ticks(from, to, count = 8) {
  const raw = (to - from) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const result = [];
  for (let k = Math.ceil(from / step); k * step <= to; ++k) result.push(k * step);
  return [result, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))];
}

/// Where a Gantt chart is: it shows the times between `from` and `to`.
function window_of(begin, end, first, left, right) {
  return {
    from: begin, to: first, draw: null,
    x(time) { return left + (time - this.from) / (this.to - this.from) * (right - left); },
    move(dx) {
      const by = -dx / (right - left) * (this.to - this.from);
      const possible = Math.max(begin - this.from, Math.min(end - this.to, by));
      this.from += possible, this.to += possible, this.draw();
    },
    zoom(factor, at = (left + right) / 2) {
      const length = Math.max(1, Math.min((this.to - this.from) / factor, end - begin));
      const part = (at - left) / (right - left), fixed = this.from + part * (this.to - this.from);
      this.from = Math.max(begin, Math.min(fixed - part * length, end - length));
      this.to = this.from + length, this.draw();
    },
    all() { this.from = begin, this.to = end, this.draw(); },
  };
}

function text_of_firing(trace, [stage, phase, frame, frames, begin, length]) {
  const { plan, name } = trace.stages[stage];
  return `${trace.plans[plan]}: ${name}\nphase ${phase}, frame ${frame}` +
    `${frames > 1 ? ` and ${frames - 1} more` : ""}\n` +
    `${written(length / 1000, 3)} ms from ${written(begin / 1000, 3)} ms on`;
}

/// Of a processor. Firings that are narrower than what can be seen are left out.
function firings_in(view, trace, firings, kinds, { y, left, right }) {
  const drawn = [];
  let busy = 0, last = -1;
  for (const firing of firings) {
    const [stage, , frame, , begin, length] = firing;
    if (begin > view.to) break;
    const from = Math.max(view.x(begin), left), to = Math.min(view.x(begin + length), right);
    if (to <= left) continue;
    busy += to - from;
    if (to - last < 0.4) continue;
    last = to;
    drawn.push(svg("rect", { x: from, y, width: Math.max(to - from - 0.7, 0.5), height: 28,
      rx: to - from > 8 ? 3 : 0, class: `fill ${kinds[stage]}${frame % 2 ? " odd" : ""}`,
      "data-tip": text_of_firing(trace, firing) }));
    if (to - from > 8 + 7 * String(frame).length)
      drawn.push(label((from + to) / 2, y + 18.5, frame,
        { class: "on", "text-anchor": "middle", "pointer-events": "none" }));
  }
  return [drawn, busy / (right - left)];
}

/// Firings: [stage, phase, frame, frames at once, begin, length], in microseconds.
function gantt(trace) {
  const left = 104, right = wide - 84, top = 24, row = 38;
  const height = top + row * trace.processors.length + 34;
  const kind_of = ({ plan, name }) => `${trace.plans.length > 1 ? `${trace.plans[plan]} ` : ""}${stage_of(name)}`;
  const names = [...new Set(trace.stages.map(kind_of))];
  const kinds = trace.stages.map((stage) => colour(names.indexOf(kind_of(stage))));
  const processors = [...trace.processors].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const rows = processors.map((processor) => trace.firings
    .filter((f) => trace.stages[f[0]].processor === processor).sort((a, b) => a[4] - b[4]));
  const begin = Math.min(...rows.map((firings) => firings[0]?.[4] ?? Infinity));
  const end = trace.firings.reduce((last, f) => Math.max(last, f[4] + f[5]), begin + 1);
  const longest = Math.max(...rows.map((firings) => firings.length)), few = 24;
  const first = longest > 1.25 * few ? begin + (end - begin) * few / longest : end;
  const view = window_of(begin, end, first, left, right);
  const picture = svg("svg", { viewBox: `0 0 ${wide} ${height}`, role: "img", "aria-label": "Gantt chart" });
  view.draw = () => {
    const [times, places] = ticks(view.from / 1000, view.to / 1000);
    picture.replaceChildren(...times.flatMap((time) => [
      svg("line", { x1: view.x(time * 1000), x2: view.x(time * 1000), y1: 12, y2: height - 28, class: "grid" }),
      label(view.x(time * 1000), height - 10, written(time, places), { "text-anchor": "middle", class: "soft" })]),
    label(right + 12, height - 10, "ms", { class: "soft" }),
    ...rows.flatMap((firings, r) => {
      const y = top + row * r, [drawn, busy] = firings_in(view, trace, firings, kinds, { y, left, right });
      return [label(left - 12, y + 18.5, processors[r], { "text-anchor": "end" }), ...drawn,
        label(right + 12, y + 18.5, `${Math.round(100 * busy)} % busy`, { class: "soft" })];
    }));
  };
  view.draw();
  const hidden = trace.firings_left_out > 0 ? ` ${trace.firings_left_out} later firings are left out.` : "";
  const begins = first < end ? " The first firings are shown." : "";
  return [legend(names.map((name, n) => [swatch(n), name])), steered(picture, view,
    `Numbers are frames. Drag to move; Ctrl and wheel, + and − zoom.${begins}${hidden}`)];
}

// ---- latencies ------------------------------------------------------------------------------

const marks = ["p50", "p90", "p99", "p99.9", "maximum"];

function histogram(path) {
  const { histogram: { from_ms, width_ms, counts } } = look(path);
  const left = 56, right = wide - 24, top = 70, bottom = 250, most = Math.max(...counts);
  const end = from_ms + width_ms * counts.length;
  const x = (ms) => left + (ms - from_ms) / (end - from_ms) * (right - left);
  const [times, places] = ticks(from_ms, end, 10), [levels] = ticks(0, most, 4);
  const y = (count) => bottom - count / most * (bottom - top);
  const edge_of = (bin) => written(from_ms + bin * width_ms);
  const picture = svg("svg", { viewBox: `0 0 ${wide} 292`, role: "img", "aria-label": "Latency histogram" },
    levels.filter(Number.isInteger).map((n) => [svg("line", { x1: left, x2: right, y1: y(n), y2: y(n), class: "grid" }),
      label(left - 10, y(n) + 4, written(n), { "text-anchor": "end", class: "soft" })]),
    counts.map((count, c) => svg("rect", { class: "fill plan", x: x(from_ms + c * width_ms) + 0.5, y: y(count),
      width: (right - left) / counts.length - 1, height: bottom - y(count), "data-value": count,
      "data-tip": `${plural(count, "frame")}\n${edge_of(c)} to ${edge_of(c + 1)} ms` })),
    times.map((t) => label(x(t), bottom + 18, written(t, places), { "text-anchor": "middle", class: "soft" })),
    label(right, bottom + 36, "latency in ms", { "text-anchor": "end", class: "soft" }),
    label(left - 10, top - 14, "frames", { "text-anchor": "end", class: "soft" }),
    marks.slice(0, 3).map((name, m) => {
      const at = x(look([...path, `${name}_ms`]));
      const flip = at > right - 40;
      return [svg("line", { x1: at, x2: at, y1: top - 44 + 15 * m, y2: bottom, class: "mark" }),
        label(at + (flip ? -5 : 5), top - 36 + 15 * m, name, { "text-anchor": flip ? "end" : "start" })];
    }));
  const values = marks.map((name) => look([...path, `${name}_ms`]));
  const columns = ["frames", "mean, ms", ...marks.map((mark) => `${mark}, ms`)];
  return [html("figure", {}, picture), table(columns.map((name) => [name, true]),
    [[number([...path, "frames"]), number([...path, "mean_ms"], "", { places: common(values) }),
      ...marks.map((name) => number([...path, `${name}_ms`], "", { places: common(values) }))]])];
}

// ---- the network ----------------------------------------------------------------------------

/// Columns by depth, in lines of so many columns, every second line backwards.
function placed(layers, columns) {
  const depth = [], lane = [], taken = new Map(), lanes = [];
  layers.forEach((layer, i) => {
    depth[i] = layer.after.reduce((most, b) => Math.max(most, depth[b] + 1), 0);
    const used = taken.get(depth[i]) ?? taken.set(depth[i], new Set()).get(depth[i]);
    lane[i] = layer.after.length > 0 ? lane[layer.after[0]] : 0;
    if (used.has(lane[i])) for (lane[i] = 0; used.has(lane[i]);) ++lane[i];
    used.add(lane[i]);
    const line = Math.floor(depth[i] / columns);
    lanes[line] = Math.max(lanes[line] ?? 0, lane[i] + 1);
  });
  const above = lanes.reduce((sums, n) => [...sums, sums.at(-1) + n * 42 + 26], [0]);
  const nodes = layers.map((_, i) => {
    const line = Math.floor(depth[i] / columns), column = depth[i] % columns;
    return { line, x: (line % 2 ? columns - 1 - column : column) * 142, y: above[line] + lane[i] * 42 };
  });
  return { nodes, width: columns * 142 - 24, height: above.at(-1) - 34 };
}

function edge(from, to) {
  const w = 118, h = 32, back = from.line % 2 ? -1 : 1;
  if (from.line === to.line) {
    const x1 = from.x + (back > 0 ? w : 0), x2 = to.x + (back > 0 ? 0 : w), y1 = from.y + h / 2, y2 = to.y + h / 2;
    const far = Math.abs(x2 - x1) > 30 && y1 === y2 ? 30 : 0;  // around what lies between
    const bend = (16 + far) * back;
    return `M${x1} ${y1}C${x1 + bend} ${y1 + far} ${x2 - bend} ${y2 + far} ${x2} ${y2}`;
  }
  const x1 = from.x + w / 2, x2 = to.x + w / 2, y1 = from.y + h, y2 = to.y;
  return `M${x1} ${y1}C${x1} ${y1 + 18} ${x2} ${y2 - 18} ${x2} ${y2}`;
}

const processors_of = (stage) => (stage.processors ?? [stage.processor]).map((p) => p.name);
const cut = (text, most) => text.length <= most ? text : `…${text.slice(1 - most)}`;

/// "0.021 ms in the network, 0.025 ms alone", of a layer that a profile has.
function time_of_layer(times) {
  if (times?.kernel_of) return `in one kernel with ${times.kernel_of}`;
  return times && `${written(times.together_ms, 4)} ms in the network` +
    (times.alone_ms === null ? "" : `, ${written(times.alone_ms, 4)} ms alone`);
}

function network(part, planning) {
  const { layers, layer_times } = part.facts, stages = part.document.stages;
  const tall = 760, sizes = [7, 8, 10, 12, 15, 18, 22, 27, 33, 40].map((c) => placed(layers, c));
  const fit = (size) => Math.min(1, (wide - 32) / size.width, (tall - 32) / size.height);
  const best = sizes.reduce((a, b) => (fit(b) > fit(a) ? b : a));
  const height = Math.min(tall, best.height * fit(best) + 32);
  const why = new Map((planning?.document.why ?? []).map((w) => [w.layer, w.reasons]));
  const tip_of = (layer, i) => {
    const stage = stages[layer.stage], phase = stage.phases[layer.phase];
    const processors = processors_of(stage).join(", ");
    const time = [phase.predicted_ms ?? []].flat().map((t) => `${written(t)} ms`).join(", ");
    return [layer.name, `${layer.operator}, output ${layer.output}`,
      `${written(layer.macs)} MACs, ${written(layer.parameters)} parameters, ` +
        `${written(layer.written_bytes)} bytes written`,
      `${stage.name}, phase ${layer.phase}, on ${processors}; ${stage.engine}, ${layer.variant}`,
      time_of_layer(layer_times?.[i]),
      time && `its phase has ${plural(phase.layers.length, "layer")}: ${time} for a frame, predicted`,
      ...(why.get(layer.name) ?? [])].filter(Boolean).join("\n");
  };
  const group = svg("g", {},
    layers.flatMap((layer, i) => layer.after.map((before) => svg("path", { class: "edge",
      d: edge(best.nodes[before], best.nodes[i]), "marker-end": "url(#tip-of-edge)" }))),
    layers.map((layer, i) => svg("g", { "data-layer": i, "data-tip": tip_of(layer, i),
      transform: `translate(${best.nodes[i].x} ${best.nodes[i].y})` },
      svg("rect", { width: 118, height: 32, rx: 5, class: `tint ${colour(layer.stage)}` }),
      label(9, 13.5, cut(layer.name, 16), { "font-size": 11 }),
      label(9, 26, layer.operator, { "font-size": 10, class: "soft" }))));
  const picture = svg("svg", { viewBox: `0 0 ${wide} ${height}`, role: "img", "aria-label": "Network" },
    svg("defs", {}, svg("marker", { id: "tip-of-edge", viewBox: "0 0 8 8", refX: 7, refY: 4,
      markerWidth: 6, markerHeight: 6, orient: "auto" },
      svg("path", { d: "M0 0L8 4L0 8z", style: "fill:var(--soft)" }))), group);
  let k, x, y;
  const draw = () => group.setAttribute("transform", `translate(${x} ${y}) scale(${k})`);
  const view = {
    move(dx, dy) { x += dx, y += dy, draw(); },
    zoom(factor, at = wide / 2, high = height / 2) {
      const next = Math.max(0.1, Math.min(4, k * factor));
      x = at - (at - x) * next / k, y = high - (high - y) * next / k, k = next, draw();
    },
    all() { k = fit(best), x = (wide - best.width * k) / 2, y = (height - best.height * k) / 2, draw(); },
  };
  view.all();
  return [legend(stages.map((stage, s) => [swatch(s), `${stage.name} on ${processors_of(stage).join(", ")}`])),
    steered(picture, view,
      "Point at a layer to read about it. Lines run to and fro: every second one from right to left.")];
}

// ---- points ---------------------------------------------------------------------------------

/// Points { name, x, y, full, own }: a high y and a low x are good. The line joins those that no
/// other point beats.
function scatter(points, across, up) {
  const left = 60, right = wide - 190, top = 26, bottom = 270;
  const most_x = 1.08 * Math.max(...points.map((p) => p.x)), most_y = 1.08 * Math.max(...points.map((p) => p.y));
  const x = (value) => left + value / most_x * (right - left), y = (value) => bottom - value / most_y * (bottom - top);
  const beats = (a, b) => a.x <= b.x && a.y >= b.y && (a.x < b.x || a.y > b.y);
  const front = points.filter((p) => !points.some((q) => beats(q, p))).sort((a, b) => a.x - b.x);
  const [columns, places] = ticks(0, most_x), [lines, digits_up] = ticks(0, most_y, 5);
  return html("figure", {}, svg("svg", { viewBox: `0 0 ${wide} 310`, role: "img", "aria-label": `${up}, ${across}` },
    lines.map((value) => [svg("line", { x1: left, x2: right, y1: y(value), y2: y(value), class: "grid" }),
      label(left - 10, y(value) + 4, written(value, digits_up), { "text-anchor": "end", class: "soft" })]).flat(),
    columns.map((value) => label(x(value), bottom + 18, written(value, places),
      { "text-anchor": "middle", class: "soft" })),
    label(right, bottom + 36, across, { "text-anchor": "end", class: "soft" }), label(left, 14, up, { class: "soft" }),
    svg("path", { class: "front", d: `M${front.map((p) => `${x(p.x)} ${y(p.y)}`).join("L")}` }),
    points.map((p) => svg("g", { class: p.own ? "plan" : "" },
      svg("circle", { cx: x(p.x), cy: y(p.y), r: p.own ? 7 : 5, class: p.full ? "point" : "point open",
        "data-tip": `${p.name}\n${written(p.y)} ${up}, ${written(p.x)} ms` }),
      label(x(p.x) + 11, y(p.y) + 4, p.name, { "font-weight": p.own ? 600 : null })))));
}
