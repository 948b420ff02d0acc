"""One architecture after the other, each variant with what came of it."""
import json
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import answers, child, export, inputs


@dataclass
class Result:
    name: str
    package: str
    variant: dict
    exported: bool = False
    imported: bool = False
    right: bool = False
    error: float | None = None
    verified: bool | None = None  # the plan and random mappings equal the reference engine
    verify_error: float | None = None
    trivial: list = field(default_factory=list)
    operators: list = field(default_factory=list)
    reason: str = ""
    seconds: float = 0.0


@dataclass
class Settings:
    binary: Path
    keep: Path | None
    export_seconds: int
    run_seconds: int
    verify: int = 0  # random mappings; 0: no verification


def file_name(entry, variant):
    words = [entry["name"], f"opset{variant['opset']}", variant["exporter"], variant["batch"]]
    return ".".join(words + (["simplified"] if variant["simplified"] else [])) + ".onnx"


def preload(entries):
    """The packages, once; children share them."""
    import importlib
    for maker in sorted({entry["maker"] for entry in entries}):
        module = importlib.import_module(f"deployed.makers.{maker}")
        getattr(module, "preload", lambda: None)()


def _answer(result, entry, model, folder, settings):
    arrays = inputs.arrays(entry, export.batch_of(result.variant), export.FRAME_SEED)
    expected = child.call(answers.by_onnxruntime, (model, arrays), folder / "log",
                          settings.run_seconds)
    result.operators = answers.operators_of(model)
    found = answers.by_millrace(settings.binary, model, arrays, expected, folder,
                                settings.run_seconds)
    result.imported = True
    difference = answers.compare(found, expected, entry.get("ranked", False))
    result.error = difference.error
    result.trivial = difference.trivial
    result.right = difference.error <= answers.TOLERANCE
    if not result.right:
        result.reason = f"differs by {difference.error:.2g}"
    elif difference.trivial:
        result.reason = f"says little: {', '.join(difference.trivial)} is empty or constant"


def _verify(result, entry, model, folder, settings):
    result.verified = False
    arrays = inputs.arrays(entry, export.batch_of(result.variant), export.FRAME_SEED)
    result.verify_error = answers.verify(settings.binary, model, arrays, folder, settings.verify,
                                         settings.run_seconds)
    result.verified = True


def _attempt(entry, variant, folder, settings):
    result = Result(entry["name"], entry["package"], variant)
    begin = time.monotonic()
    model = (settings.keep or folder) / file_name(entry, variant)
    try:
        if not model.exists():
            child.call(export.export, (entry, variant, model), model.with_suffix(".log"),
                       settings.export_seconds)
        result.exported = True
        _answer(result, entry, model, folder, settings)
        if settings.verify:
            _verify(result, entry, model, folder, settings)
    except child.Failed as reason:
        result.reason = str(reason)
    result.seconds = time.monotonic() - begin
    return result


def attempt(entry, variant, settings):
    with tempfile.TemporaryDirectory(prefix="millrace-coverage-") as folder:
        return _attempt(entry, variant, Path(folder), settings)


def entries_of(path):
    return json.loads(path.read_text())["architectures"]
