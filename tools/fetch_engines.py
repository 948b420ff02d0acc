#!/usr/bin/env python3
"""Fetches libraries that engines load when they are asked for.

  tools/fetch_engines.py NAME... [--into FOLDER]

  cuda           NVIDIA's libraries for the engine cuda, from PyPI: 1 GB to fetch, 1.7 GB on disk.
                 NVIDIA's licences hold. The GPU's driver must be there already
  cuda12         the same for drivers from 525 on; cuda is for drivers from 580 on
  onnxruntime    ONNX Runtime for cores, from PyPI: 78 MB
  webgpu         its WebGPU plug-in for GPUs with Vulkan, from PyPI: 16 MB
  software-gpu   SwiftShader, a Vulkan driver that computes on cores, out of the package
                 chromium-common of Debian: 32 MB to fetch. To try things, not for speed

Without --into, all goes to build/engines, where programs in the folder build look. Nothing is
installed, and no setting of the system is changed. Needs pip, and for software-gpu apt-get.
"""
import argparse
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
FROM_PYPI = {
    "cuda": ("nvidia-cuda-nvrtc", "nvidia-cublas", "nvidia-cudnn-cu13"),
    "cuda12": ("nvidia-cuda-nvrtc-cu12", "nvidia-cublas-cu12", "nvidia-cudnn-cu12"),
    "onnxruntime": ("onnxruntime",),
    "webgpu": ("onnxruntime-ep-webgpu",),
}
DRIVER_PACKAGE = "chromium-common"
DRIVER_FILES = ("libvk_swiftshader.so", "vk_swiftshader_icd.json", "libvulkan.so.1")


def run(command, **options):
    print("+", *command, flush=True)
    try:
        subprocess.run(command, check=True, **options)
    except FileNotFoundError:
        sys.exit(f"{command[0]}: there is no such command; install it and try again")
    except subprocess.CalledProcessError as error:
        sys.exit(f"{command[0]} failed with {error.returncode}; its last lines say why")


def fetch_packages(packages, folder):
    """The wheels' files, without what they depend on: only Python needs that. All at once, since pip
    replaces folders that packages share."""
    if importlib.util.find_spec("pip") is None:
        sys.exit("this python3 has no pip; install it with 'apt-get install python3-pip' and try again")
    run([sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--no-deps", "--target",
         str(folder), *packages])


def fetch_driver(folder):
    with tempfile.TemporaryDirectory() as work:
        # apt-get as root hands downloads to a user of its own, who must be able to write here.
        Path(work).chmod(0o777)
        run(["apt-get", "download", DRIVER_PACKAGE], cwd=work)
        package, = Path(work).glob("*.deb")
        run(["dpkg-deb", "--extract", str(package), work])
        folder.mkdir(parents=True, exist_ok=True)
        for name in DRIVER_FILES:
            found = sorted(Path(work, "usr").rglob(name))
            if not found:
                sys.exit(f"{package.name} has no {name} any more; another Vulkan driver is "
                         "mesa-vulkan-drivers from Debian 13 on")
            shutil.copy(found[0], folder / name)


def print_next(names, folder):
    print("\nWhat to type next:")
    if folder != PROJECT / "build" / "engines":
        for library in sorted((folder / "onnxruntime" / "capi").glob("libonnxruntime.so*")):
            print(f"  export MILLRACE_ONNXRUNTIME={library}")
        if "cuda" in names or "cuda12" in names:
            print(f"  export MILLRACE_CUDA={folder}")
    if "software-gpu" in names:
        driver = folder / "vulkan"
        print(f"  export VK_DRIVER_FILES={driver / 'vk_swiftshader_icd.json'}")
        print(f"  export LD_LIBRARY_PATH={driver}    # unless the package libvulkan1 is installed")
        print("  export ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1")
    print("  build/release/bin/millrace board          # lists the engines and what they reach")


def main():
    names = [*FROM_PYPI, "software-gpu"]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=names, metavar="NAME")
    parser.add_argument("--into", type=Path, default=PROJECT / "build" / "engines")
    options = parser.parse_args()
    folder = options.into.resolve()
    for name in options.names:
        if name in FROM_PYPI:
            fetch_packages(FROM_PYPI[name], folder)
        else:
            fetch_driver(folder / "vulkan")
    print_next(options.names, folder)


if __name__ == "__main__":
    main()
