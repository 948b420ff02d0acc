"""A program that sleeps until it is told to run a slice: it reads seconds, one number per line, and
answers each with a line of JSON. `millrace bench --on-request` and serve.py are such programs."""
import json
import os
import select
import subprocess
import tempfile
import time

from .failed import Failed, reason_of

OPENING_S = 600
SLICE_S = 300


class Worker:
    def __init__(self, command, cores, environment=None):
        self._errors = tempfile.TemporaryFile()
        self._rest = b""
        self._process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._errors, env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, cores))
        try:
            self.opened = self._answer(OPENING_S)
        except Failed:
            self.close()
            raise

    @property
    def pid(self):
        return self._process.pid

    def run(self, seconds):
        """One slice: frames, elapsed_s, latencies_ms."""
        try:
            self._process.stdin.write(f"{seconds}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Failed(self._reason()) from None
        return self._answer(SLICE_S + seconds)

    def close(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self._errors.close()

    def _answer(self, patience_s):
        deadline = time.monotonic() + patience_s
        stream = self._process.stdout.fileno()
        while b"\n" not in self._rest:
            ready, _, _ = select.select([stream], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise Failed(f"no answer within {patience_s:.0f} s")
            piece = os.read(stream, 1 << 20)
            if not piece:
                raise Failed(self._reason())
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def _reason(self):
        code = self._process.wait()
        self._errors.seek(0)
        text = self._errors.read().decode(errors="replace")
        return reason_of(text) if text.strip() else f"ended with the exit code {code}"
