"""Who takes part: every peer in the settings that may be its best."""
from dataclasses import asdict, dataclass, field

NAMES = {"millrace": "Millrace", "onnxruntime": "ONNX Runtime", "openvino": "OpenVINO",
         "ncnn": "ncnn", "python": "Millrace, Python"}


@dataclass
class Contender:
    peer: str
    precision: str
    setting: str
    batch: int = 1
    text: str = ""  # the setting as the table says it
    missing: str = ""  # why there are no figures
    answers: dict = field(default_factory=dict)
    slices: list = field(default_factory=list)

    def describe(self):
        return {**asdict(self), "name": NAMES[self.peer]}


def millrace(precisions, cores):
    for precision in precisions or ["f32"]:
        yield Contender("millrace", precision, "plan", text="plan")
        yield Contender("millrace", precision, "plan, one frame",
                        text="plan, one frame at a time")
        if cores > 1:
            yield Contender("millrace", precision, "together",
                            text="all cores as one, one frame at a time")


def python(precisions):
    for precision in precisions or ["f32"]:
        yield Contender("python", precision, "plan", text="plan, Session.map")


def onnxruntime(batches, cores):
    for batch in batches:
        yield Contender("onnxruntime", "f32", "all cores", batch,
                        f"one session, {threads(cores)}")
        if cores > 1:
            yield Contender("onnxruntime", "f32", "per core", batch, "one session per core")


def openvino(batches):
    for precision in ("f32", "bf16"):
        for batch in batches:
            for hint in ("latency", "throughput"):
                if batch == 1 or hint == "throughput":
                    yield Contender("openvino", precision, hint, batch, f"{hint} hint")


def ncnn(cores):
    for precision in ("f32", "f16"):
        yield Contender("ncnn", precision, "all cores", text=threads(cores))
        if cores > 1:
            yield Contender("ncnn", precision, "per core", text="one inference per core")


def threads(count):
    return "one thread" if count == 1 else f"{count} threads"


def all_of(options):
    """options: peers, precision, batch, cores."""
    cores = len(options.cores)
    found = {"millrace": millrace(options.precision, cores),
             "onnxruntime": onnxruntime(options.batch, cores),
             "python": python(options.precision),
             "openvino": openvino(options.batch), "ncnn": ncnn(cores)}
    return [contender for peer in options.peers for contender in found[peer]]
