#!/usr/bin/env python3
"""The element `millrace` in pipelines of gst-launch-1.0.

  element_test.py NAME --millrace PATH --source PROJECT_FOLDER --plugins FOLDER [--buffers N]

NAME: inspect, pipelines, boxes, errors, leaks, overhead, harness (with --harness PROGRAM). Ends with 77 where something is missing that it needs.
"""
import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
MESSAGE = re.compile(r'Got message #\d+ from element "(\w+)" \(element\): millrace, frame=\(guint64\)(\d+), '
                     r'timestamp=.*?running-time=\(guint64\)(\d+), json=\(string\)("(?:[^"\\]|\\.)*"|[^;,]+)')


class Test:
    def __init__(self, options):
        self.millrace, self.source = Path(options.millrace).resolve(), Path(options.source).resolve()
        self.buffers = options.buffers
        self.program = options.harness and Path(options.harness).resolve()
        self.environment = {**os.environ, "GST_PLUGIN_PATH": str(Path(options.plugins).resolve()),
                            "GST_REGISTRY": str(Path("registry.bin").resolve()), "XDG_CACHE_HOME": str(Path("cache").resolve())}

    def launch(self, pipeline, fails=False, **more):
        """What it said, and the findings by element: (frame, running time, JSON)."""
        run = subprocess.run(["gst-launch-1.0", "-m", *pipeline.split()], env={**self.environment, **more},
                             capture_output=True, text=True, timeout=900)
        if (run.returncode != 0) != fails or run.returncode in (-6, -11):
            sys.exit(f"{pipeline}: exit {run.returncode}\n{run.stdout[-3000:]}\n{run.stderr[-3000:]}")
        found = {}
        for name, frame, time, text in MESSAGE.findall(run.stdout):
            if text.startswith('"'):
                text = re.sub(r"\\(.)", r"\1", text[1:-1])
            found.setdefault(name, []).append((int(frame), int(time), json.loads(text)))
        return run, found

    def command(self, *words):
        return subprocess.run([self.millrace, *words], env=self.environment, check=True, capture_output=True, text=True, timeout=900).stdout

    def digits(self, name="app.yaml"):
        """An application and its plan, on one core."""
        text = (self.source / "examples/applications/digits.yaml").read_text()
        Path(name).write_text(text.replace("../../models", str(self.source / "models")))
        if not Path("digits.plan.json").exists():
            self.command("plan", str(self.source / "models/digits.onnx"), "--processors", "core0", "--search", "one-processor",
                         "--measure", "0", "-o", "digits.plan.json")
        return f"millrace config={name} plan=digits.plan.json"

    # ---- the tests ----

    def inspect(self):
        run = subprocess.run(["gst-inspect-1.0", "millrace"], env=self.environment, capture_output=True, text=True, check=True)
        for word in ("Long-name", "Neural networks by Millrace", "Filter/Analyzer/Video", "{ (string)RGB, (string)BGR, (string)GRAY8 }",
                     "config ", "model ", "kind ", "head ", "labels ", "threshold ", "plan ", "processors ", "draw ", "post-messages ", "qos ", "stats "):
            if word not in run.stdout:
                sys.exit(f"gst-inspect-1.0 does not show '{word.strip()}':\n{run.stdout}")

    def pipelines(self):
        element, n = self.digits(), 12
        source = f"videotestsrc num-buffers={n}"
        size = "width=320,height=240,framerate=30/1"
        self.launch(f"videotestsrc num-buffers={n} ! video/x-raw,{size} ! jpegenc ! avimux ! filesink location=clip.avi")
        self.launch(f"videotestsrc num-buffers=4 pattern=ball ! video/x-raw,{size} ! pngenc ! multifilesink location=p%02d.png")
        kinds = {
            "RGB": (f"{source} ! video/x-raw,format=RGB,{size} ! {element} ! fakesink", n),
            "BGR": (f"{source} ! video/x-raw,format=BGR,{size} ! {element} ! fakesink", n),
            "grey": (f"{source} ! video/x-raw,format=GRAY8,{size} ! {element} ! fakesink", n),
            "rows with gaps": (f"{source} ! video/x-raw,format=RGB,width=321,height=241 ! {element} ! fakesink", n),
            "a file": (f"filesrc location=clip.avi ! decodebin ! videoconvert ! {element} ! fakesink", n),
            "pictures": (f"multifilesrc location=p%02d.png caps=image/png,framerate=5/1 ! pngdec ! videoconvert ! {element} ! fakesink", 4),
            "a tee": (f"{source} ! video/x-raw,format=RGB,{size} ! tee name=t t. ! queue ! {element} ! fakesink t. ! queue ! fakesink", n),
            "two in a row": (f"{source} ! video/x-raw,format=RGB,{size} ! {element} name=a ! {element} name=b ! fakesink", n),
            "drawn": (f"{source} ! video/x-raw,format=RGB,{size} ! {element} draw=true ! jpegenc ! multifilesink location=d%02d.jpg", n),
            "a queue before it": (f"{source} ! video/x-raw,format=RGB,{size} ! queue leaky=downstream max-size-buffers=200 ! {element} ! fakesink", n),
            "live": (f"videotestsrc is-live=true num-buffers={n} ! video/x-raw,format=RGB,{size} ! {element} qos=false ! fakesink sync=true", n),
            "other caps": (f"concat name=c ! {element} ! fakesink videotestsrc num-buffers=5 ! video/x-raw,format=RGB,{size} ! c. "
                           f"videotestsrc num-buffers=7 ! video/x-raw,format=RGB,width=640,height=480,framerate=30/1 ! c.", n),
            "one buffer": (f"videotestsrc num-buffers=1 ! video/x-raw,format=RGB,{size} ! {element} ! fakesink", 1),
            "a model": (f"{source} ! video/x-raw,format=RGB,{size} ! millrace model={self.source}/models/digits.onnx kind=classify "
                        f"plan=digits.plan.json ! fakesink", n),
        }
        for kind, (pipeline, expected) in kinds.items():
            _, found = self.launch(pipeline)
            for name, findings in found.items() or [("none", [])]:
                frames = [frame for frame, _, _ in findings]
                times = [time for _, time, _ in findings]
                if frames != list(range(expected)):
                    sys.exit(f"{kind}: {len(findings)} findings of {expected} by {name}: {frames}\n{pipeline}")
                if times != sorted(times) or not all(len(each["classes"]) >= 3 for _, _, each in findings):
                    sys.exit(f"{kind}: {findings}")
            print(f"{kind}: {len(found)} x {expected}")
        same = [self.launch(kinds[kind][0])[1]["millrace0"][0][2] for kind in ("RGB", "BGR")]
        if same[0] != same[1]:
            sys.exit(f"RGB and BGR differ: {same}")

    def boxes(self):
        """Pictures without loss: the element and `millrace run` find the same."""
        models = self.source.parent / "shared/models"
        if not (models / "onnx/yolox_nano.onnx").exists():
            sys.exit(SKIPPED)
        Path("pictures").mkdir()
        files = [models / f"images/{name}.jpg" for name in ("dog", "person", "horses", "bus", "eagle", "giraffe")]
        for number, file in enumerate(files):
            self.launch(f"filesrc location={file} ! jpegdec ! videoconvert ! pngenc ! filesink location=pictures/{number:02}.png")
        model = models / "onnx/yolox_nano.onnx"
        self.command("plan", str(model), "--processors", "core0", "--search", "one-processor", "--measure", "0", "-o", "x.plan.json")
        self.command("detect", str(model), "pictures", "--set", "application.head=yolox", "--application", "x.yaml")
        lines = [json.loads(line) for line in self.command("run", "x.yaml", "--plan", "x.plan.json", "-o", "-").splitlines()]
        _, found = self.launch("multifilesrc location=pictures/%02d.png caps=image/png,framerate=1/1 ! pngdec ! videoconvert ! "
                               "millrace config=x.yaml plan=x.plan.json ! fakesink")
        findings = [each for _, _, each in found["millrace0"]]
        _, found = self.launch("multifilesrc location=pictures/%02d.png caps=image/png,framerate=1/1 ! pngdec ! videoconvert ! "
                               f"millrace model={model} head=yolox plan=x.plan.json ! fakesink")
        if findings != [each for _, _, each in found["millrace0"]]:
            sys.exit("a model alone finds something else")
        count, worst = 0, 0.0
        if len(lines) != len(files) or len(findings) != len(files):
            sys.exit(f"{len(lines)} lines, {len(findings)} findings of {len(files)} pictures")
        for line, each in zip(lines, findings):
            if len(line["detections"]) != len(each["detections"]):
                sys.exit(f"{line['source']}: {len(line['detections'])} boxes by run, {len(each['detections'])} by the element")
            for a, b in zip(line["detections"], each["detections"]):
                if a["class"] != b["class"] or a.get("label") != b.get("label"):
                    sys.exit(f"{a} {b}")
                count += 1
                worst = max([worst, abs(a["probability"] - b["probability"])] + [abs(a["box"][k] - b["box"][k]) for k in a["box"]])
        print(f"{count} boxes, largest difference {worst:.2g}")
        if count < 10 or worst > 0.01:
            sys.exit("boxes differ")

    def errors(self):
        source = "videotestsrc num-buffers=2 ! video/x-raw,format=RGB"
        for properties, words in (("", "set one of the properties config and model"), ("config=none.yaml", "none.yaml"),
                                  ("model=none.onnx", "none.onnx"), ("config=a.yaml model=b.onnx", "set one of")):
            run, _ = self.launch(f"{source} ! millrace {properties} ! fakesink", fails=True)
            if words not in run.stderr + run.stdout:
                sys.exit(f"millrace {properties}: no '{words}' in\n{run.stderr}")
        # Downstream refuses: the pipeline ends with its error, and nothing hangs.
        run, _ = self.launch(f"videotestsrc num-buffers=100 ! video/x-raw,format=RGB,width=320,height=240 ! {self.digits()} ! "
                             "identity error-after=5 ! fakesink", fails=True)

    def leaks(self):
        """No object of GStreamer is left, and memory stays flat."""
        element = self.digits()
        size = "width=64,height=48,framerate=30/1"
        run, found = self.launch(f"videotestsrc num-buffers={self.buffers} ! video/x-raw,format=RGB,{size} ! {element} post-messages=false ! fakesink",
                                 GST_TRACERS="leaks(check-refs=false)", GST_DEBUG="GST_TRACER:7", GST_DEBUG_NO_COLOR="1")
        alive = [line for line in run.stderr.splitlines() if ":0:: object-alive" in line]
        if alive:
            sys.exit("\n".join(alive[:20]))
        peaks = []
        for buffers in (self.buffers // 10, self.buffers):
            run = subprocess.Popen(["gst-launch-1.0", "-q", *f"videotestsrc num-buffers={buffers} ! video/x-raw,format=RGB,{size} ! {element} ! fakesink".split()],
                                   env=self.environment, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(run.pid, 0)
            assert status == 0
            peaks.append(usage.ru_maxrss / 1024)
        print(f"{self.buffers} buffers; {peaks[0]:.0f} MiB with a tenth of them, {peaks[1]:.0f} MiB with all")
        if peaks[1] > 1.1 * peaks[0] + 8:
            sys.exit("memory grows")

    def harness(self):
        """The program with GStreamer's own checks; each in a process of its own."""
        self.digits()
        run = subprocess.run([self.program], env={**self.environment, "CONFIG": "app.yaml", "PLAN": "digits.plan.json"}, capture_output=True, text=True)
        print(run.stdout, run.stderr)
        if run.returncode != 0 or "100%" not in run.stdout:
            sys.exit("the program fails")

    def overhead(self):
        """Processor time a frame of 640x480: with the element less without it, less what the network alone takes."""
        element, n = self.digits(), self.buffers
        source = f"videotestsrc pattern=black num-buffers={n} ! video/x-raw,format=RGB,width=640,height=480"
        times = []
        for middle in ("identity", f"{element} post-messages=false"):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.launch(f"{source} ! {middle} ! fakesink")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        print(f"{1e6 * (times[1] - times[0]) / n:.0f} us of processor time a frame, with the network and its start")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    for option in ("--millrace", "--source", "--plugins"):
        parser.add_argument(option, required=True)
    parser.add_argument("--buffers", type=int, default=10_000)
    parser.add_argument("--harness")
    options = parser.parse_args()
    if not shutil.which("gst-launch-1.0"):
        sys.exit(SKIPPED)
    for path in ("millrace", "source", "plugins", "harness"):
        setattr(options, path, str(Path(getattr(options, path) or "").resolve()))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        getattr(Test(options), options.name)()
        os.chdir("/")


if __name__ == "__main__":
    main()
