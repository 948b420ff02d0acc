"""What serves a run: metrics, the live page, MQTT, notices to a service manager. See run_check.py."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree
from pathlib import Path

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)')


def make_application(pictures="100", rate="25", name="app.yaml", more=""):
    """Digits of a folder with so many pictures, as if a camera sent them."""
    source = Path(os.environ["SOURCE"])
    folder = Path("pictures")
    folder.mkdir(exist_ok=True)
    files = sorted((source / "models/digits_images").iterdir())
    for number in range(int(pictures)):
        target = folder / f"{number:04}{files[number % len(files)].suffix}"
        if not target.exists():
            shutil.copy(files[number % len(files)], target)
    text = (source / "examples/applications/digits.yaml").read_text()
    text = text.replace("../../models/digits.onnx", str(source / "models/digits.onnx"))
    text = text.replace("  images: ../../models/digits_images", f"  images: pictures\n  rate_fps: {rate}{more}")
    Path(name).write_text(text)


class Running:
    """`millrace run` with the addresses that it notes."""

    def __init__(self, *words, **more):
        self.said = open("said", "w+")
        self.process = subprocess.Popen(["millrace", "run", *words], stdout=open("lines", "w"), stderr=self.said, **more)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def address(self, what):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            found = re.search(rf"{what}: (http://\S+)", Path("said").read_text())
            if found:
                return found.group(1)
            time.sleep(0.02)
        raise SystemExit(f"no address of the {what}: {Path('said').read_text()}")

    def end(self):
        code = self.process.wait(timeout=120)
        return code, Path("lines").read_text(), Path("said").read_text()


def get(address):
    with urllib.request.urlopen(address, timeout=10) as answer:
        return answer.headers.get("Content-Type"), answer.read()


def samples_of(text):
    """By name and labels; each line is checked against the text format's own rules."""
    samples, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            assert name not in types and kind in ("counter", "gauge", "histogram"), line
            types[name] = kind
        elif not line.startswith("# HELP "):
            found = SAMPLE.fullmatch(line)
            assert found, f"no sample: {line}"
            name, labels, value = found.groups()
            family = re.sub(r"_(bucket|sum|count)$", "", name)
            assert types.get(name) or types.get(family) == "histogram", f"no type before {line}"
            assert (name, labels) not in samples, f"twice: {line}"
            samples[name, labels] = float(value)
    return samples


def parsed_by_client(text):
    """The same by Prometheus' own library for Python, where it is."""
    sys.path.append("/usr/lib/python3/dist-packages")  # of the distribution, for another Python
    try:
        from prometheus_client.parser import text_string_to_metric_families as parse
    except ImportError:
        return "no prometheus_client here"
    found = {(s.name, tuple(sorted(s.labels.items()))): s.value for family in parse(text) for s in family.samples}
    return "as the client reads" if len(found) == len(samples_of(text)) else f"{len(found)} samples"


def total(samples, name):
    return sum(value for (each, _), value in samples.items() if each == name)


def wait_for(look, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise SystemExit("nothing after a long while")


def metrics(application="app.yaml"):
    with Running(application, "--metrics", ":0") as run:
        address = run.address("metrics")

        def look():
            kind, body = get(address)
            assert kind.startswith("text/plain; version=0.0.4"), kind
            return (body.decode(), samples_of(body.decode())) if total(samples_of(body.decode()), "millrace_frames_total") > 20 else None
        text, first = wait_for(look)
        second = samples_of(get(address)[1].decode())
        print("rising:", all(second[key] >= value for key, value in first.items() if key[0].endswith("_total")))
        count, frames = total(second, "millrace_frame_latency_seconds_count"), total(second, "millrace_frames_total")
        buckets = [value for (name, _), value in second.items() if name == "millrace_frame_latency_seconds_bucket"]
        print("histogram:", buckets == sorted(buckets) and buckets[-1] == count, "frames:", abs(count - frames) <= 1)
        print("client:", parsed_by_client(text))
        print("busy:", total(second, "millrace_stage_busy_seconds_total") > 0, "memory:", total(second, "process_resident_memory_bytes") > 1e6)
        wait_for(lambda: total(samples_of(get(address)[1].decode()), "millrace_frames_total") > 300)
        rate = total(samples_of(get(address)[1].decode()), "millrace_frame_rate")
        print("rate:", 15 < rate < 35 or rate)
        host = address.split("/")[2].rsplit(":", 1)[0]
        print("host:", host)
        code, lines, _ = run.end()
        print("exit", code, len(lines.splitlines()), "lines")


def view(application="app.yaml"):
    with Running(application, "--view", ":0", "--metrics", ":0") as run:
        address = run.address("live view")
        print("page:", get(address)[0], b"<title>Millrace</title>" in get(address)[1])
        state = wait_for(lambda: (lambda s: s if s["inputs"] and s["inputs"][0]["frames"] > 20 else None)(json.loads(get(address + "state.json")[1])))
        print("state:", state["application"], state["running"], len(state["stages"]) > 0, 0 < state["inputs"][0]["mean_latency_ms"] < 5000)
        kind, body = get(address + "picture.jpg")
        print("picture:", kind, body[:2] == b"\xff\xd8" and body[-2:] == b"\xff\xd9")
        kind, body = get(address + "gantt.svg")
        tree = ElementTree.fromstring(body)
        print("gantt:", kind, len(tree.findall(".//{http://www.w3.org/2000/svg}rect")) > 3)
        stream(address + "stream")
        print("missing:", missing(address + "nothing"))
        print("exit", run.end()[0])


def missing(address):
    try:
        return get(address)
    except urllib.error.HTTPError as error:
        return error.code


def status(address):
    """Without what follows, as a stream has no end."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def stream(address, wanted=8):
    """Parts of multipart/x-mixed-replace, each of them another picture."""
    with urllib.request.urlopen(address, timeout=10) as answer:
        boundary = answer.headers.get_param("boundary")
        pictures = []
        while len(pictures) < wanted:
            assert answer.readline() == b"--" + boundary.encode() + b"\r\n"
            head = dict(line.decode().strip().split(": ") for line in iter(answer.readline, b"\r\n"))
            pictures.append(answer.read(int(head["Content-Length"])))
            assert answer.readline() == b"\r\n"
        print("stream:", answer.headers.get_content_type(), all(p[:2] == b"\xff\xd8" for p in pictures), len(set(pictures)) > 1)


def page_in_browser(application="app.yaml"):
    from report_in_browser import Browser
    with Running(application, "--view", ":0") as run:
        address = run.address("live view")
        with Browser(address) as browser:
            def evaluate(expression):
                return browser.ask("Runtime.evaluate", expression=expression)["result"].get("value")
            wait_for(lambda: evaluate("document.querySelector('figure img')?.naturalWidth > 0"))
            print("picture:", evaluate("document.querySelector('figure img').naturalWidth") > 0)
            wait_for(lambda: evaluate("document.getElementById('gantt').naturalWidth > 0"))
            print("gantt:", evaluate("document.getElementById('gantt').naturalWidth") > 0)
            caption = evaluate("document.querySelector('figcaption').textContent")
            print("caption:", re.fullmatch(r"[\d.]+ frames/s, \d+ frames, [\d.]+ ms from picture to findings, \d+ dropped", caption) is not None or caption)
            before = evaluate("document.querySelector('figcaption').textContent")
            wait_for(lambda: evaluate("document.querySelector('figcaption').textContent") != before)
            print("stages:", evaluate("document.querySelectorAll('#stages tr').length") > 0, evaluate("document.title"))


def deployment(file="robot.json"):
    with Running(file, "--duration", "4s", "--metrics", ":0") as run:
        address = run.address("metrics")
        samples = wait_for(lambda: (lambda s: s if total(s, "millrace_group_frames_total") > 20 else None)(samples_of(get(address)[1].decode())))
        names = sorted(labels for name, labels in samples if name == "millrace_deadline_misses_total")
        print(names)
        print("deadlines:", all(value > 0 for (name, _), value in samples.items() if name == "millrace_group_deadline_seconds"))
        run.end()


def make_deployment(rate="25", name="robot"):
    """Of a group with app.yaml and one with a model alone, which has no pictures."""
    Path(f"{name}.yaml").write_text(f"format: 1\nname: {name}\ngroups:\n  - {{name: front, application: app.yaml, rate_fps: {rate}}}\n"
                                    "  - {name: side, model: digits.onnx, rate_fps: 10}\n"
                                    "scenarios: [{name: patrol, groups: [front, side]}]\n")
    done = subprocess.run(["millrace", "plan", f"{name}.yaml", "--samples", "20", "-o", f"{name}.json"], capture_output=True, text=True)
    print("planned:", done.returncode == 0 or done.stderr)


def state_of(address, frames=20):
    """When each group has so many frames."""
    def look():
        state = json.loads(get(address + "state.json")[1])
        return state if state["groups"] and all(group["frames"] > frames for group in state["groups"]) else None
    return wait_for(look)


def view_of_deployment(file="robot.json"):
    """Rates are there at the first look, too."""
    with Running(file, "--view", ":0", "--metrics", ":0", "--output", "out", "--duration", "60s") as run:
        address = run.address("live view")
        state = state_of(address)
        front, side = state["groups"]
        print("groups:", state["deployment"], front["name"], side["name"], all(0 < g["mean_response_ms"] <= g["largest_response_ms"] for g in (front, side)),
              "bounds:", all(0 < g["bound_ms"] < g["deadline_ms"] for g in (front, side)), "rates:", 15 < front["rate_fps"] < 35, 5 < side["rate_fps"] < 15)
        print("inputs:", [(each["group"], each["name"]) for each in state["inputs"]], state["inputs"][0]["frames"] > 10)
        busy = {each["group"]: each["utilisation"] for each in state["stages"] if each["utilisation"] > 0}
        print("stages:", sorted(busy), all(each <= 1 for each in busy.values()))
        kind, body = get(address + "picture.jpg")
        print("picture:", kind, body[:2] == b"\xff\xd8")
        body = get(address + "gantt.svg")[1]
        bars = ElementTree.fromstring(body).findall(".//{http://www.w3.org/2000/svg}rect")
        print("gantt:", len(bars) > 20, b"front" in body, b"side" in body)
        stream(address + "stream")
        samples = samples_of(get(address + "metrics")[1].decode())  # one address for both
        print("metrics:", all((name, f'group="{group}"') in samples for group in ("front", "side") for name in (
            "millrace_group_bound_seconds", "millrace_group_rate", "millrace_group_largest_response_seconds")),
            samples["millrace_frames_total", 'group="front"'] > 10, ("millrace_frames_total", 'group="side"') in samples)
        interrupted(run)


def interrupted(run):
    """By Ctrl-C: it ends within a second."""
    begin = time.monotonic()
    run.process.send_signal(signal.SIGINT)
    code, lines, _ = run.end()
    spent = time.monotonic() - begin
    print("ended:", spent < 1.5 or spent, "exit", code, "report:", "front" in lines)


def taken_port(file="robot.json"):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = "127.0.0.1:%d" % server.getsockname()[1]
        done = subprocess.run(["millrace", "run", file, "--view", address, "--duration", "1s"], capture_output=True, text=True)
    print("taken:", f"{address}: cannot be listened at; another program may have the port" in done.stderr and ":0 for any that is free" in done.stderr,
          "exit", done.returncode)


def make_noise(side=1000, count=6):
    """Large pictures that do not compress well."""
    folder = Path("noise")
    folder.mkdir()
    for number in range(count):
        (folder / f"{number}.ppm").write_bytes(f"P6 {side} {side} 255\n".encode() + os.urandom(3 * side * side))
    Path("app.yaml").write_text(Path("app.yaml").read_text().replace("images: pictures", "images: noise"))


def readers_that_stop(file="robot.json"):
    """More of them than there are streams, and one that sends no request: results come out as before, and the end comes at once."""
    with Running(file, "--view", ":0", "--output", "out", "--duration", "60s") as run:
        address = run.address("live view")
        host, port = address.split("/")[2].split(":")
        state_of(address, 5)
        readers = [socket.create_connection((host, int(port))) for _ in range(11)]
        for reader in readers[:10]:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.sendall(b"GET /stream HTTP/1.1\r\nHost: here\r\n\r\n")
        refused = wait_for(lambda: status(address + "stream") == 503)
        before, begin = state_of(address, 5), time.monotonic()
        time.sleep(3)
        after, spent = state_of(address, 5), time.monotonic() - begin
        rate = (after["inputs"][0]["frames"] - before["inputs"][0]["frames"]) / spent
        print("refused:", refused, "rate:", 6 < rate < 14 or rate, "missed:", after["groups"][0]["missed"] == before["groups"][0]["missed"])
        print("picture:", get(address + "picture.jpg")[1][:2] == b"\xff\xd8")
        interrupted(run)


def page_of_deployment(file="robot.json"):
    from report_in_browser import Browser
    with Running(file, "--view", ":0", "--output", "out", "--duration", "100s") as run:
        with Browser(run.address("live view")) as browser:
            def evaluate(expression):
                return browser.ask("Runtime.evaluate", expression=expression)["result"].get("value")
            wait_for(lambda: evaluate("document.querySelector('figure img')?.naturalWidth > 0"))
            print("pictures:", evaluate("document.querySelectorAll('figure img').length"), evaluate("document.querySelector('figcaption').textContent").split(":")[0])
            wait_for(lambda: evaluate("document.getElementById('gantt').naturalWidth > 0"))
            rows = json.loads(evaluate("JSON.stringify([...document.querySelectorAll('#groups tbody tr')].map(r => [...r.cells].map(c => c.textContent)))"))
            print("groups:", [row[0] for row in rows], all(re.fullmatch(r"[\d.]+ ms", text) for row in rows for text in row[3:7]) or rows)
            before = rows[0][2]
            wait_for(lambda: evaluate("document.querySelector('#groups tbody td:nth-child(3)').textContent") != before)
            print("stages:", evaluate("document.querySelectorAll('#stages tr').length") > 1, evaluate("document.title"))
        interrupted(run)


def page_of_many(count=9):
    """A browser has few connections: all pictures are there all the same, and figures change."""
    from report_in_browser import Browser
    text = Path("app.yaml").read_text()
    inputs = "".join(f"  - {{images: pictures, rate_fps: 5, name: c{i}}}\n" for i in range(int(count)))
    Path("many.yaml").write_text(re.sub(r"input:\n(  .*\n)+", f"input:\n{inputs}", text))
    with Running("many.yaml", "--view", ":0") as run:
        with Browser(run.address("live view")) as browser:
            def evaluate(expression):
                return browser.ask("Runtime.evaluate", expression=expression)["result"].get("value")
            wait_for(lambda: evaluate("[...document.querySelectorAll('figure img')].filter(image => image.naturalWidth > 0).length") == int(count))
            before = evaluate("document.querySelector('figcaption').textContent")
            wait_for(lambda: evaluate("document.querySelector('figcaption').textContent") != before)
            print("pictures:", evaluate("document.querySelectorAll('figure img').length"))


def notices(application="app.yaml"):
    """What a service manager hears."""
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind("notify")
    manager.settimeout(60)
    environment = {**os.environ, "NOTIFY_SOCKET": str(Path("notify").resolve()), "WATCHDOG_USEC": "400000"}
    heard = []
    with Running(application, env=environment) as run:
        while not heard or heard[-1] != "STOPPING=1":
            heard.append(manager.recv(4096).decode())
        print("first:", heard[0].splitlines()[0], "signs:", heard[1:-1].count("WATCHDOG=1") >= 5, "others:", set(heard[1:-1]) - {"WATCHDOG=1"})
        print("exit", run.end()[0])


def terminated(application="app.yaml"):
    """As `systemctl stop` does: the lines so far are kept, and the exit code is 0 for a camera."""
    with Running(application, "--metrics", ":0") as run:
        address = run.address("metrics")
        wait_for(lambda: total(samples_of(get(address)[1].decode()), "millrace_frames_total") > 5)
        run.process.send_signal(signal.SIGTERM)
        code, lines, _ = run.end()
        print("exit", code, "lines:", len(lines.splitlines()) > 5)


def log_lines(path="said"):
    """Whether each line of standard error is JSON with time, level and text."""
    lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
    print("all:", all(set(line) == {"time_utc", "level", "text"} for line in lines), "levels:", sorted({line["level"] for line in lines}))


class Broker:
    """A real mosquitto on the loopback."""

    def __init__(self, port, more=""):
        self.port = port
        Path("mosquitto.conf").write_text(f"listener {port} 127.0.0.1\n" + (more or "allow_anonymous true\n"))
        self.start()

    def start(self):
        program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        self.process = subprocess.Popen([program, "-c", "mosquitto.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(self.answers)

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def stop(self):
        self.process.terminate()
        self.process.wait()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def published(application="app.yaml"):
    """What mosquitto_sub hears is what the run wrote."""
    broker = Broker(free_port())
    heard = open("heard", "w")
    subscriber = subprocess.Popen(["mosquitto_sub", "-p", str(broker.port), "-q", "1", "-t", "street/#", "-F", "%t %p"], stdout=heard)
    time.sleep(0.5)
    with Running(application, "--mqtt", f"127.0.0.1:{broker.port}/street/left") as run:
        code, lines, said = run.end()
    time.sleep(0.5)
    subscriber.terminate()
    subscriber.wait()
    got = Path("heard").read_text().splitlines()
    print("equal:", got == ["street/left " + line for line in lines.splitlines()], len(got), "exit", code)
    print(said)
    broker.stop()


def published_by_groups(file="robot.json"):
    """Each group has a topic, on which its lines come as they are in its file."""
    broker = Broker(free_port())
    heard = open("heard", "w")
    subscriber = subprocess.Popen(["mosquitto_sub", "-p", str(broker.port), "-q", "1", "-t", "robot/#", "-F", "%t %p"], stdout=heard)
    time.sleep(0.5)
    with Running(file, "--mqtt", f"127.0.0.1:{broker.port}/robot", "--output", "out", "--duration", "3s") as run:
        code, _, said = run.end()
    time.sleep(0.5)
    subscriber.terminate()
    subscriber.wait()
    got, lines = Path("heard").read_text().splitlines(), Path("out/front.jsonl").read_text().splitlines()
    print("equal:", len(lines) > 40 and got == ["robot/front " + line for line in lines], "exit", code in (0, 1))
    print("said:", "group 'side' has no application, so nothing is published of it" in said)
    broker.stop()


def broker_that_goes(file="robot.json"):
    """It is gone in the middle and at the end: the deployment goes on and ends at once, and what the broker did not get is counted."""
    broker = Broker(free_port())
    with Running(file, "--mqtt", f"127.0.0.1:{broker.port}/robot", "--output", "out", "--duration", "60s") as run:
        time.sleep(2)
        broker.stop()
        wait_for(lambda: "is gone" in Path("said").read_text())
        broker.start()
        wait_for(lambda: "is back" in Path("said").read_text())
        broker.stop()
        time.sleep(1)
        begin = time.monotonic()
        run.process.send_signal(signal.SIGINT)
        code, _, said = run.end()
        spent = time.monotonic() - begin
    lost = re.search(r"did not get (\d+) of (\d+) lines", said)
    lines = len(Path("out/front.jsonl").read_text().splitlines())
    print("ended:", spent < 2 or spent, "exit", code, "counted:", lost is not None and int(lost.group(2)) == lines and 0 < int(lost.group(1)) < lines or said)


def broker_that_restarts(application="app.yaml"):
    """Lines of while it is gone arrive when it is back."""
    broker = Broker(free_port(), "allow_anonymous true\n")
    with Running(application, "--mqtt", f"127.0.0.1:{broker.port}/street") as run:
        wait_for(lambda: len(Path("lines").read_text().splitlines()) > 10)
        broker.stop()
        wait_for(lambda: "is gone" in Path("said").read_text())
        broker.start()
        wait_for(lambda: "is back" in Path("said").read_text())
        code, lines, said = run.end()
    print("lost:", "did not get" in said, "exit", code, len(lines.splitlines()), "lines")
    broker.stop()
