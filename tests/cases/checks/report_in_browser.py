"""What the steps of report_in_browser.case look at; see run_check.py."""

import base64
import fcntl
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

from cascade import read_png
from onnx_writer import graph_of, model_of, node, message, tensor, value

HOSTILE = "</script><img src=x onerror=\"document.title='taken'\"> 'quoted' <!-- & \u2028"
EMPTY = {"img", "br", "meta", "link", "input"}
BLANKS = {0x202f: None}  # between thousands


def make_hostile_model(path):
    """Convolutions in a row, whose names would be markup."""
    weights = struct.pack("<9f", *[0.1] * 9)
    nodes = [node("Conv", [f"t{i}", f"weights{i}"], [f"t{i + 1}"], pads=[1, 1, 1, 1])
             + message(3, f"{HOSTILE} {i}") for i in range(6)]
    graph = graph_of(nodes, [value("t0", [1, 1, 32, 32])], [value("t6", [1, 1, 32, 32])],
                     [tensor(f"weights{i}", [1, 1, 3, 3], weights) for i in range(6)])
    Path(path).write_bytes(model_of(graph))


# ---- the browser ----------------------------------------------------------------------------

class Browser:
    """Chromium with one page, by its DevTools protocol. Any message on the console, and any error,
    ends the check."""

    def __init__(self, page):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_it, self.to = os.pipe()
        self.of, of_it = os.pipe()
        high = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (to_it, of_it)]
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}",
                   "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        self.process = subprocess.Popen(
            ["chromium", *options], pass_fds=(3, 4), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: [os.dup2(high[end], 3 + end) for end in (0, 1)])
        for each in (to_it, of_it, *high):
            os.close(each)
        self.number, self.rest, self.session, self.seen = 0, b"", None, set()
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=1200, height=1600,
                 deviceScaleFactor=1, mobile=False)
        self.ask("Page.navigate", url=page if str(page).startswith("http:") else Path(page).resolve().as_uri())
        while "Page.loadEventFired" not in self.seen:
            self.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to), os.close(self.of)
        self.folder.cleanup()

    def read(self):
        """The next message; events of the page go by."""
        while b"\0" not in self.rest:
            got = os.read(self.of, 1 << 20)
            if not got:
                sys.exit("Chromium ended")
            self.rest += got
        message, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(message)
        name = message.get("method", "")
        if name in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            sys.exit(f"the page says: {json.dumps(message['params'])}")
        self.seen.add(name)
        return message

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                break
        if "error" in answer:
            sys.exit(f"{method}: {answer['error']}")
        return answer["result"]

    def elements(self):
        """As the script of the page has made them."""
        found = self.ask("Runtime.evaluate", expression="document.documentElement.outerHTML")
        return Tree(found["result"]["value"]).root


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent = tag, dict(attributes), parent
        self.children = []

    def text(self):
        return "".join(c if isinstance(c, str) else c.text() for c in self.children)

    def all(self, wanted=lambda each: True):
        for child in self.children:
            if not isinstance(child, str):
                if wanted(child):
                    yield child
                yield from child.all(wanted)

    def has(self, name):
        return name in self.attributes.get("class", "").split()


class Tree(HTMLParser):
    """The elements of a page that a browser wrote, which closes all of them."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = self.open = Element("", [], None)
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        child = Element(tag, attributes, self.open)
        self.open.children.append(child)
        if tag not in EMPTY:
            self.open = child

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.tag == tag, (self.open.tag, tag)
            self.open = self.open.parent

    def handle_data(self, text):
        self.open.children.append(text)


def dom_of(page):
    with Browser(page) as browser:
        return browser.elements()


# ---- what should be there -------------------------------------------------------------------

def command(*words):
    return json.loads(subprocess.run(["millrace", *words, "--json"], check=True, text=True,
                                     capture_output=True).stdout)


def latencies_of(events):
    """By nearest rank, from the trace itself."""
    found = sorted(e["args"]["latency_ms"] for e in events if e["ph"] == "b")
    ranked = {f"{name}_ms": found[max(1, math.ceil(part * len(found))) - 1]
              for name, part in (("p50", .5), ("p90", .9), ("p99", .99), ("p99.9", .999))}
    return {"frames": len(found), "mean_ms": sum(found) / len(found), "maximum_ms": found[-1],
            **ranked}


def stages_of(plan, analysis):
    """What stages hold, from what `inspect` and `analyze` say."""
    layers = {each["name"]: each for each in command("inspect", plan["origin"]["model"])["layers"]}
    result = []
    for stage in plan["stages"]:
        own = [layers[name] for phase in stage["phases"] for name in phase["layers"]]
        slots = {c["tensor"]: c["capacity"] * c["slot_bytes"] for c in analysis["channels"]
                 if re.fullmatch(re.escape(stage["name"]) + r"(\.\d+)?(, phase \d+)?", c["from"])}
        result.append({"layers": len(own), "macs": sum(each["macs"] for each in own),
                       "weights_bytes": 4 * sum(each["parameters"] for each in own),
                       "slots_bytes": sum(slots.values())})
    return result


def times_of_layers(plan, profile):
    """Medians on the first processor of each layer's stage, in its precision."""
    result = {}
    for stage in plan["stages"]:
        name = (stage.get("processors") or [stage.get("processor")])[0]["name"]
        for layer in (each for phase in stage["phases"] for each in phase["layers"]):
            precision = plan.get("variants", {}).get(layer, "f32").partition(":")[0]
            rows, = [each["layers"] for each in profile["processors"]
                     if each["processor"]["name"] == name and each["precision"] == precision]
            row = rows[profile["layers"].index(layer)]
            result[layer] = {f"{key}_ms": row[key]["median_ns"] / 1e6 for key in ("together", "alone")}
    return result


def application_part(file):
    """Of an application with one network, whose model is in the line that begins so."""
    model = re.search(r"^ *model: (.*)$", Path(file).read_text(), re.M)[1]
    layers = command("inspect", model)["layers"]
    sums = {key: sum(each[key] for each in layers) for key in ("macs", "parameters")}
    return {"document": {"kind": "application"}, "facts": {"network": {"layers": len(layers), **sums}}}


def expected_part(file):
    """The same as in the page, from what other commands say."""
    if file.endswith(".yaml"):
        return application_part(file)
    document = json.loads(Path(file).read_text())
    if "traceEvents" in document:
        return {"document": None, "facts": {"latencies": latencies_of(document["traceEvents"])}}
    facts = {}
    if "stages" in document and "channels" in document or document["kind"] == "deployment":
        facts["analysis"] = command("analyze", file)
    if "kind" not in document:
        facts["stages"] = stages_of(document, facts["analysis"])
    return {"document": document, "facts": facts}


# ---- the comparison -------------------------------------------------------------------------

def looked_up(parts, path):
    for key in path:
        parts = parts[key]
    return parts


def compare_numbers(root, parts):
    """Each number that is shown is that of the files, as far as its digits go."""
    paths = set()
    for shown in root.all(lambda each: each.has("n")):
        path, scale = json.loads(shown.attributes["data-at"]), float(shown.attributes["data-scale"])
        text = shown.text().translate(BLANKS)
        places = len(text.partition(".")[2])
        right = looked_up(parts, path)
        if abs(float(text) - right / scale) > 0.5000001 * 10 ** -places:
            sys.exit(f"{path}: the page shows {text}, the file says {right / scale}")
        paths.add(json.dumps(path))
    return paths


def require(paths, *wanted):
    for path in wanted:
        if json.dumps(path) not in paths:
            sys.exit(f"the page does not show {path}")


def compare_bars(root):
    """In each chart, lengths are in proportion to the numbers."""
    charts = 0
    for chart in root.all(lambda each: each.has("bars")):
        scales = set()
        for bar in chart.all(lambda each: "data-value" in each.attributes and each.has("bar")):
            length = float(re.search(r"width: ?([\d.]+)%", bar.attributes["style"])[1])
            amount = float(bar.attributes["data-value"])
            if length > 0.5 and not chart.parent.has("card"):
                scales.add(round(amount / length, 9))
        if scales and max(scales) > 1.01 * min(scales):
            sys.exit(f"bars are not in proportion: {scales}")
        charts += bool(scales)
    return charts


def compare_firings(root, trace):
    """Each bar of the chart is a firing of the trace, and says so."""
    events = {(e["args"]["stage"], e["args"]["phase"], e["args"]["frame"], e["dur"], e["ts"])
              for e in trace["traceEvents"] if e["ph"] == "X" and "phase" in e["args"]}
    firing = re.compile(r"[^\n]*: (\S+)\nphase (\d+), frame (\d+)[^\n]*\n(\S+) ms from (\S+) ms on")
    section, = root.all(lambda each: each.attributes.get("data-section") == "What ran when")
    found = [firing.fullmatch(each.attributes["data-tip"].translate(BLANKS))
             for each in section.all(lambda each: each.tag == "rect")]
    for match in found:
        stage, phase, frame, length, begin = match.groups()
        if not any(e[:3] == (stage, int(phase), int(frame)) and abs(e[3] / 1e3 - float(length)) < 6e-4
                   and abs(e[4] / 1e3 - float(begin)) < 6e-4 for e in events):
            sys.exit(f"the trace has no firing {match[0]!r}")
    return len(found)


def compare_network(root, plan):
    layers = command("inspect", plan["origin"]["model"])["layers"]
    drawn = list(root.all(lambda each: "data-layer" in each.attributes))
    assert len(drawn) == len(layers), (len(drawn), len(layers))
    for box, layer in zip(drawn, layers):
        tip = box.attributes["data-tip"].translate(BLANKS)
        for text in (layer["name"], layer["operator"], layer["output"],
                     f"{layer['macs']} MACs", f"{layer['parameters']} parameters",
                     f"{layer['written_bytes']} bytes"):
            assert text in tip, (text, tip)
    return len(drawn)


def is_profile(file):
    return file.endswith("profile.json")


def add_layer_times(part, profile):
    """To what is known of a plan."""
    plan = part["document"]
    times = times_of_layers(plan, profile)
    part["facts"]["layer_times"] = [times[name] for name in profile["layers"]]
    part["facts"]["layers"] = command("inspect", plan["origin"]["model"])["layers"]


def shows(page, *files):
    """Every number of the page is that of the files, and the page has what such files give; and it
    looks right."""
    profiles = [json.loads(Path(each).read_text()) for each in files if is_profile(each)]
    files = [each for each in files if not is_profile(each)]
    parts = [expected_part(file) for file in files]
    with Browser(page) as browser:
        root = browser.elements()
        looks_right(browser, Path(page).stem)
    for part in parts:
        if profiles and "kind" not in (part["document"] or {"kind": 0}):
            add_layer_times(part, profiles[0])
    paths = compare_numbers(root, parts)
    print(f"{len(paths)} numbers, {compare_bars(root)} charts of bars")
    for i, part in enumerate(parts):
        document = part["document"]
        if document is None:
            require(paths, *([i, "facts", "latencies", key] for key in part["facts"]["latencies"]))
            print(compare_firings(root, json.loads(Path(files[i]).read_text())), "firings")
        elif "kind" not in document:
            require(paths, [i, "facts", "analysis", "latency_ms"],
                    [i, "facts", "analysis", "throughput", "bound_fps"])
            print(compare_network(root, document), "layers")
            times = part["facts"].get("layer_times", [])
            slow = [l for l, each in enumerate(times) if each["together_ms"] > 0]
            require(paths, *([i, "facts", "layer_times", l, key] for l in slow
                             for key in ("together_ms", "alone_ms")))
            print(len(slow), "with times")
        elif document["kind"] == "application":
            require(paths, *([i, "facts", "network", key] for key in part["facts"]["network"]))
        elif document["kind"] in ("bench", "application_bench"):
            require(paths, *([i, "document", "rows", r, "throughput_fps"]
                             for r in range(len(document["rows"]))))
        elif document["kind"] == "planning":
            require(paths, *([i, "document", "candidates", c, "bound_ns"]
                             for c in range(len(document["candidates"]))))
        else:
            require(paths, *([i, "facts", "analysis", "operations", o, "groups", g, "bound_ms"]
                             for o, one in enumerate(part["facts"]["analysis"]["operations"])
                             for g in range(len(one["groups"]))))


def shows_markup_as_text(page):
    """Names that would be markup stand there as text, and nothing of them happened."""
    root = dom_of(page)
    usual = {"html": 1, "script": 3, "img": 0, "style": 1}
    for tag, count in usual.items():
        found = sum(1 for _ in root.all(lambda each: each.tag == tag))
        assert found == count, (tag, found)
    title, = root.all(lambda each: each.tag == "title")
    assert "taken" not in title.text(), title.text()
    tips = [each.attributes["data-tip"] for each in root.all(lambda e: "data-layer" in e.attributes)]
    assert sum(HOSTILE[:30] in tip for tip in tips) == 6, tips
    print("text")


def looks_right(browser, name):
    """Screenshots in light and dark, and a print; kept as NAME.light.png and so on."""
    for mode, paper in (("light", b"\xff\xff\xff"), ("dark", b"\x14\x18\x1c")):
        browser.ask("Emulation.setEmulatedMedia",
                    features=[{"name": "prefers-color-scheme", "value": mode}])
        file = f"{name}.{mode}.png"
        Path(file).write_bytes(base64.b64decode(browser.ask("Page.captureScreenshot")["data"]))
        width, height, pixel, rows = read_png(file, most=200)  # decoding takes time
        assert (width, height) == (1200, 1600)
        assert rows[2][:3] == paper, rows[2][:3]
        inked = sum(row[x:x + pixel] != rows[2][:pixel] for row in rows[::2]
                    for x in range(0, width * pixel, 4 * pixel))
        assert inked > 200, inked
    printed = base64.b64decode(browser.ask("Page.printToPDF")["data"])
    Path(f"{name}.pdf").write_bytes(printed)
    assert printed.startswith(b"%PDF")
    print("light, dark and print")


STEERING = """<script>
const act = (element, kind, more) => element.dispatchEvent(new PointerEvent(kind,
  { bubbles: true, clientX: 500, clientY: 100, ...more }));
const charts = [...document.querySelectorAll("figure.moves")], told = [];
for (const chart of charts) {
  const state = () => chart.querySelector("svg").innerHTML;
  const [nearer, farther, all] = chart.querySelectorAll("button"), states = [state()];
  for (const step of [() => all.click(), () => nearer.click(), () => farther.click(),
      () => chart.dispatchEvent(new KeyboardEvent("keydown", { key: "+" })),
      () => chart.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" })),
      () => all.click()]) { step(); states.push(state()); }
  const [, whole, near, back, key, moved, again] = states;
  told.push(whole !== near && near !== back && key !== back && moved !== key && again === whole);
}
act(document.querySelector("[data-tip]"), "pointermove");
document.body.dataset.told = JSON.stringify([told, document.getElementById("tip").textContent]);
</script>"""


def can_be_steered(page):
    """Buttons and keys zoom and move each picture, and pointing at a part tells about it."""
    copy = Path(page).with_suffix(".steered.html")
    copy.write_text(Path(page).read_text() + STEERING)
    body, = dom_of(copy).all(lambda each: each.tag == "body")
    told, tip = json.loads(body.attributes["data-told"])
    assert told and all(told), told
    assert tip, tip
    print(len(told), "pictures")
