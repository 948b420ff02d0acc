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
