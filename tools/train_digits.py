#!/usr/bin/python3
"""Trains the small digits network of models/ and exports it to ONNX.

Needs Debian's python3-numpy, python3-sklearn (which carries the data) and python3-onnx.

  tools/train_digits.py            train (minutes on one core), write models/digits*
  tools/train_digits.py --check    accuracy of the committed network on the held-out images
"""
import argparse
import pathlib
import struct
import sys
import time
import zlib

import numpy as np

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
SEED = 1
HELD_OUT = 360
PICTURES = 12

# Convolutions: name, input channels, output channels; all 3x3 with padding 1.
CONVS = [("conv1", 1, 32), ("conv2", 32, 32), ("conv3", 32, 64), ("conv4", 64, 64)]
CLASSES = 10
FEATURES = 64 * 4 * 4


def load():
    """Images [N,1,8,8] in [0,1] and labels, split into training and held-out ones."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[:, None]
    return train_test_split(images, digits.target, test_size=HELD_OUT, random_state=SEED,
                            stratify=digits.target)


def initial_weights(rng):
    weights = {}
    for name, inputs, outputs in CONVS:
        scale = np.sqrt(2.0 / (9 * inputs))
        weights[name + ".weight"] = rng.normal(0, scale, (outputs, inputs, 3, 3))
        weights[name + ".bias"] = np.zeros(outputs)
    weights["fc.weight"] = rng.normal(0, np.sqrt(1.0 / FEATURES), (CLASSES, FEATURES))
    weights["fc.bias"] = np.zeros(CLASSES)
    return {name: value.astype(np.float32) for name, value in weights.items()}


def columns(x):
    """[N,C,H,W] -> [N,H,W,C*9]: the 3x3 neighbourhood of each pixel."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    n, c, h, w = x.shape
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, c * 9)


def conv(x, weight, bias):
    n, _, h, w = x.shape
    cols = columns(x)
    y = cols @ weight.reshape(len(weight), -1).T + bias
    return y.reshape(n, h, w, -1).transpose(0, 3, 1, 2), cols


def conv_gradient(dy, cols, weight):
    """Gradients of input, weight and bias."""
    flat = dy.transpose(0, 2, 3, 1).reshape(-1, dy.shape[1])
    dweight = (flat.T @ cols).reshape(weight.shape)
    flipped = weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    dx, _ = conv(dy, flipped, 0)
    return dx, dweight, flat.sum(axis=0)


def max_pool(x):
    """2x2 with stride 2; also the mask of the maxima."""
    n, c, h, w = x.shape
    blocks = x.reshape(n, c, h // 2, 2, w // 2, 2)
    y = blocks.max(axis=(3, 5))
    mask = blocks == y[:, :, :, None, :, None]
    return y, mask


def max_pool_gradient(dy, mask):
    n, c, h, _, w, _ = mask.shape
    share = mask / mask.sum(axis=(3, 5), keepdims=True)
    return (share * dy[:, :, :, None, :, None]).astype(np.float32).reshape(n, c, 2 * h, 2 * w)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def forward(weights, x):
    """Probabilities [N,10] and what the backward pass needs."""
    def layer(name, value):
        return conv(value, weights[name + ".weight"], weights[name + ".bias"])

    a1, c1 = layer("conv1", x)
    r1 = np.maximum(a1, 0)
    a2, c2 = layer("conv2", r1)
    r2 = np.maximum(a2, 0)
    p, mask = max_pool(r2)
    a3, c3 = layer("conv3", p)
    r3 = np.maximum(a3, 0)
    a4, c4 = layer("conv4", r3)
    r4 = np.maximum(a4 + r3, 0)
    flat = r4.reshape(len(x), -1)
    return softmax(flat @ weights["fc.weight"].T + weights["fc.bias"]), (
        r1, r2, r3, r4, (c1, c2, c3, c4), mask, flat)


def backward(weights, kept, dlogits):
    r1, r2, r3, r4, (c1, c2, c3, c4), mask, flat = kept
    grads = {"fc.weight": dlogits.T @ flat, "fc.bias": dlogits.sum(axis=0)}

    def layer(name, dy, cols):
        dx, grads[name + ".weight"], grads[name + ".bias"] = conv_gradient(
            dy, cols, weights[name + ".weight"])
        return dx

    d4 = (dlogits @ weights["fc.weight"]).reshape(r4.shape) * (r4 > 0)
    d3 = (layer("conv4", d4, c4) + d4) * (r3 > 0)
    d2 = max_pool_gradient(layer("conv3", d3, c3), mask) * (r2 > 0)
    d1 = layer("conv2", d2, c2) * (r1 > 0)
    layer("conv1", d1, c1)
    return grads


def shifted(images, rng):
    """Each image moved by up to one pixel in each direction."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moves = rng.integers(0, 3, (len(images), 2))
    return np.stack([image[:, y:y + 8, x:x + 8] for image, (y, x) in zip(padded, moves)])


class Adam:
    """Adam with decoupled weight decay."""

    def __init__(self, weights):
        self.first = {name: np.zeros_like(value) for name, value in weights.items()}
        self.second = {name: np.zeros_like(value) for name, value in weights.items()}
        self.step_count = 0

    def step(self, weights, grads, rate):
        self.step_count += 1
        correction = np.sqrt(1 - 0.999 ** self.step_count) / (1 - 0.9 ** self.step_count)
        for name, grad in grads.items():
            self.first[name] += 0.1 * (grad - self.first[name])
            self.second[name] += 0.001 * (grad * grad - self.second[name])
            change = correction * self.first[name] / (np.sqrt(self.second[name]) + 1e-8)
            decay = 1e-3 * weights[name] if name.endswith("weight") else 0
            weights[name] -= (rate * (change + decay)).astype(np.float32)


def train(images, labels, epochs, rng, batch=64):
    weights = initial_weights(rng)
    adam = Adam(weights)
    targets = np.eye(CLASSES, dtype=np.float32)[labels] * 0.95 + 0.05 / CLASSES
    for epoch in range(epochs):
        start, loss = time.time(), 0.0
        rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * epoch / epochs))
        order = rng.permutation(len(images))
        for first in range(0, len(order), batch):
            chosen = order[first:first + batch]
            probabilities, kept = forward(weights, shifted(images[chosen], rng))
            loss -= float((targets[chosen] * np.log(probabilities + 1e-9)).sum())
            dlogits = ((probabilities - targets[chosen]) / len(chosen)).astype(np.float32)
            adam.step(weights, backward(weights, kept, dlogits), rate)
        print(f"epoch {epoch + 1}/{epochs}: loss {loss / len(order):.4f}, "
              f"{time.time() - start:.1f} s", flush=True)
    return weights


def accuracy(weights, images, labels):
    return float((forward(weights, images)[0].argmax(axis=1) == labels).mean())


def export(weights):
    """The trained network as an ONNX model, checked."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    def convolution(name, source, target):
        return helper.make_node("Conv", [source, name + ".weight", name + ".bias"], [target],
                                name=name, kernel_shape=[3, 3], pads=[1, 1, 1, 1])

    def relu(number, source):
        return helper.make_node("Relu", [source], [f"relu{number}.out"], name=f"relu{number}")

    nodes = [
        convolution("conv1", "image", "conv1.out"), relu(1, "conv1.out"),
        convolution("conv2", "relu1.out", "conv2.out"), relu(2, "conv2.out"),
        helper.make_node("MaxPool", ["relu2.out"], ["pool.out"], name="pool",
                         kernel_shape=[2, 2], strides=[2, 2]),
        convolution("conv3", "pool.out", "conv3.out"), relu(3, "conv3.out"),
        convolution("conv4", "relu3.out", "conv4.out"),
        helper.make_node("Add", ["conv4.out", "relu3.out"], ["add.out"], name="add"),
        relu(4, "add.out"),
        helper.make_node("Flatten", ["relu4.out"], ["flatten.out"], name="flatten", axis=1),
        helper.make_node("Gemm", ["flatten.out", "fc.weight", "fc.bias"], ["fc.out"], name="fc",
                         transB=1),
        helper.make_node("Softmax", ["fc.out"], ["probabilities"], name="softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, CLASSES])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()])
    model = helper.make_model(graph, producer_name="tools/train_digits.py",
                              opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    onnx.checker.check_model(model, full_check=True)
    return model


def png(image):
    """A grey 8-bit PNG of an image [8,8] in [0,1]."""
    pixels = np.rint(image * 255).astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I",
                                                                        zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9))
            + chunk(b"IEND", b""))


def write(weights, images, labels):
    (MODELS / "digits.onnx").write_bytes(export(weights).SerializeToString(deterministic=True))
    np.save(MODELS / "digits_test_images.npy", np.ascontiguousarray(images))
    (MODELS / "digits_test_labels.txt").write_text("".join(f"{label}\n" for label in labels))
    folder = MODELS / "digits_images"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    first_of_each = [int(np.argmax(labels == digit)) for digit in range(CLASSES)]
    others = [index for index in range(len(labels)) if index not in first_of_each]
    for index in first_of_each + others[:PICTURES - CLASSES]:
        name = f"digit_{labels[index]}_frame_{index:03}.png"
        (folder / name).write_bytes(png(images[index, 0]))


def check():
    """Accuracy of the committed files; the exit status says whether it is at least 98.5 %."""
    import onnx
    from onnx import numpy_helper

    model = onnx.load(MODELS / "digits.onnx")
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    images = np.load(MODELS / "digits_test_images.npy")
    labels = np.loadtxt(MODELS / "digits_test_labels.txt", dtype=int)
    right = accuracy(weights, images, labels)
    print(f"{right * 100:.2f} % of {len(labels)} held-out images")
    return 0 if right >= 0.985 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only check the committed network")
    parser.add_argument("--epochs", type=int, default=40)
    options = parser.parse_args()
    if options.check:
        return check()
    train_images, test_images, train_labels, test_labels = load()
    weights = train(train_images, train_labels, options.epochs, np.random.default_rng(SEED))
    print(f"training {accuracy(weights, train_images, train_labels) * 100:.2f} %, "
          f"held-out {accuracy(weights, test_images, test_labels) * 100:.2f} %")
    write(weights, test_images, test_labels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
