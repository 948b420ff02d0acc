"""What the tests share."""
import functools
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import numpy

import millrace
import millrace.__main__

MODELS = os.environ["MILLRACE_MODELS"]
DIGITS = os.path.join(MODELS, "digits.onnx")
EXAMPLES = os.environ.get("MILLRACE_EXAMPLES", os.path.join(MODELS, "..", "examples", "python"))
COMMAND = os.environ.get("MILLRACE_COMMAND") or millrace.__main__.command()


def images(count=None):
    """The held-out digits, one frame each."""
    whole = numpy.load(os.path.join(MODELS, "digits_test_images.npy")).astype(numpy.float32)
    return [image.reshape(1, 1, 8, 8) for image in whole[:count]]


def labels():
    with open(os.path.join(MODELS, "digits_test_labels.txt")) as file:
        return [int(word) for word in file.read().split()]


@functools.lru_cache(maxsize=None)
def digits_plan(search="auto"):
    return millrace.plan(DIGITS, measure=0, search=search)


@functools.lru_cache(maxsize=None)
def digits_model():
    return millrace.Model(DIGITS)


def run(*arguments, **options):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, **options)


SANITIZER = os.environ.get("MILLRACE_SANITIZER", "")  # "thread", "address" or none


def code_of_child(work):
    """0: the work came to its end in a child of fork() within half a minute."""
    if SANITIZER == "thread":
        raise unittest.SkipTest("ThreadSanitizer cannot have new threads in a child of fork()")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(30)
            work()
            code = 0
        except BaseException as error:
            print(f"in the child: {error!r}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def resident_kib():
    with open("/proc/self/status") as file:
        return int(re.search(r"VmRSS:\s*(\d+)", file.read()).group(1))


def seconds_to_end(code, after):
    """How long Ctrl-C takes to end the code, as KeyboardInterrupt."""
    # A shell's background job would ignore it.
    whole = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    whole += f"import millrace\ntry:\n    {code}\nexcept KeyboardInterrupt:\n    print('interrupted')"
    with subprocess.Popen([sys.executable, "-c", whole], stdout=subprocess.PIPE, text=True) as child:
        time.sleep(after)
        child.send_signal(signal.SIGINT)
        begin = time.monotonic()
        try:
            said = child.communicate(timeout=60)[0]
        except subprocess.TimeoutExpired:
            child.kill()
            raise
        taken = time.monotonic() - begin
    if "interrupted" not in said:
        raise AssertionError(f"was over before Ctrl-C: {code}")
    return taken
