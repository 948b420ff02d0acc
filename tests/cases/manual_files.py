"""Small models, pictures and files under the names that the pages of the manual use."""
import re
import shutil
import struct
import subprocess

MODELS = ("model", "my_model", "net", "digits", "resnet18")
PLANS = ("resnet18", "other", "a", "b", "my_model", "model")
CONFIGURATION = """[net]
width=32
height=32
channels=3
[convolutional]
filters=18
size=1
stride=1
activation=linear
[yolo]
mask=0,1,2
anchors=4,4, 8,8, 16,16
classes=1
num=3
"""
DIGITS = """format: 1
network: {model: my_model.onnx}
input: {images: pictures}
preprocess: {colours: grey}
postprocess: {kind: top_k}
"""
STREET = """format: 1
network: {model: yolo11n.onnx}
input: {video: street.avi}
preprocess: {colours: grey}
postprocess: {kind: detect}
labels: [digit]
"""
BOXES = """{"images": [{"id": 1, "file_name": "street_000000.png", "width": 128, "height": 128}],
"annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [4, 4, 8, 8], "area": 64, "iscrowd": 0}],
"categories": [{"id": 1, "name": "digit"}]}
"""


def restore(folder, source):
    """Models under the names of larger ones, which a command may have written."""
    for name in MODELS:
        shutil.copy(source / "models/digits.onnx", folder / f"{name}.onnx")


def write_darknet(folder):
    (folder / "yolov4.cfg").write_text(CONFIGURATION)
    (folder / "trained").mkdir()
    weights = struct.pack("<iiiq", 0, 2, 0, 0) + struct.pack("<72f", *([0.01] * 72))
    (folder / "trained/v4.weights").write_bytes(weights)


def write_video(folder, source, environment):
    """street.avi: the sheet of digits of examples/cascade, twelve times."""
    (folder / "sheets").mkdir()
    for number in range(12):
        shutil.copy(source / "examples/cascade/sheet.png", folder / f"sheets/{number}.png")
    (folder / "film.yaml").write_text(STREET.replace("video: street.avi", "images: sheets, rate_fps: 25")
                                      .replace("detect}", "detect, threshold: 1}")
                                      + "output: {video: street.avi}\n")
    done(["millrace", "run", "film.yaml"], folder, environment)


def done(command, folder, environment):
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)


def write_plans(folder, environment):
    done(["millrace", "plan", "model.onnx", "--measure", "0", "-o", "resnet18.plan.json"], folder, environment)
    for name in PLANS[1:]:
        shutil.copy(folder / "resnet18.plan.json", folder / f"{name}.plan.json")
    done(["millrace", "bench", "resnet18.plan.json", "--no-baselines", "--duration", "0.2", "--rounds", "2",
          "--trace", "trace.json"], folder, environment)


def write_systems(folder, source, text):
    """Blocks of YAML whose first line names their file; the first one of the page about task graphs."""
    for block in re.findall(r"^```yaml\n(.*?)^```", text, re.S | re.M):
        named = re.match(r"# (\S+\.yaml)\n", block)
        if named and named[1] != "street.yaml":
            (folder / named[1]).write_text(re.sub(r"model: (squeezenet1_1|mobilenet_v2)", "model: digits.onnx", block))
        elif "name: inspection" in block:
            (folder / "inspection.yaml").write_text(block.replace("squeezenet1_1", "digits.onnx"))
    shutil.copytree(source / "examples/robot", folder / "robot")
    robots = [*(folder / "robot").glob("*.yaml")]
    for path in robots:
        path.write_text(path.read_text().replace("../../models/", str(source / "models") + "/"))


def write(folder, source, text, environment):
    restore(folder, source)
    (folder / "models").symlink_to(source / "models")
    for name in ("pictures", "images"):
        shutil.copytree(source / "models/digits_images", folder / name)
    shutil.copy(source / "examples/cascade/finder.onnx", folder / "yolo11n.onnx")
    (folder / "street.yaml").write_text(STREET)
    (folder / "my_app.yaml").write_text(DIGITS)
    (folder / "annotations.json").write_text(BOXES)
    write_darknet(folder)
    write_video(folder, source, environment)
    write_plans(folder, environment)
    write_systems(folder, source, text)
