"""Work in a process of its own: nothing can hang, take the memory or crash but this."""
import multiprocessing
import os
import traceback

CONTEXT = multiprocessing.get_context("fork")


class Failed(Exception):
    """What could not be done and why, in one line."""


def _first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}"


def _body(work, arguments, log, answer):
    """What packages print goes to the log."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(handle, stream)
    try:
        answer.send((True, work(*arguments)))
    except BaseException as error:  # the parent says it, whatever it is
        traceback.print_exc()
        answer.send((False, _first_line(error)))


def call(work, arguments, log, seconds):
    """What `work` returns; Failed if it raises, dies or takes longer."""
    mine, other = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_body, args=(work, arguments, str(log), other), daemon=True)
    process.start()
    other.close()
    try:
        if not mine.poll(seconds):
            raise Failed(f"took more than {seconds} s")
        good, value = mine.recv()
    except EOFError:
        process.join()
        raise Failed(f"died with {process.exitcode}") from None
    finally:
        process.kill()
        process.join()
    if not good:
        raise Failed(value)
    return value
