"""What long calls say while they work."""
import logging
import sys

log = logging.getLogger("millrace")


class Progress:
    """Shows a bar on the terminal, or in a notebook; notes also go to the logger "millrace".

    A class of your own may have the same two functions. They run on the calling thread; what they
    raise ends the call.
    """

    def __init__(self, stream=None):
        self._stream = stream or sys.stderr
        self._width = 0

    def note(self, text):
        """A sentence that a person should know."""
        self._clear()
        print(text, file=self._stream)
        log.info(text)

    def progress(self, task, share, text):
        """`share` of the task, 0 to 1, is done; `text` such as the best so far."""
        filled = round(20 * share)
        line = f"{task} [{'#' * filled}{'.' * (20 - filled)}] {share:4.0%} {text}"[:100]
        self._stream.write("\r" + line.ljust(self._width))
        self._width = len(line)
        self._stream.flush()

    def _clear(self):
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._width = 0

    def close(self):
        self._clear()
        self._stream.flush()


class _Logged:
    """Notes go to the logger alone."""

    def note(self, text):
        log.info(text)

    def progress(self, task, share, text):
        pass

    def close(self):
        pass


def _in_notebook():
    try:
        return get_ipython().__class__.__name__ == "ZMQInteractiveShell"
    except NameError:
        return False


class listening:
    """The listener for `progress`: None, as the terminal is; True or False; or an object."""

    def __init__(self, progress):
        if progress is None:
            progress = sys.stderr is not None and sys.stderr.isatty() or _in_notebook()
        self._listener = (Progress() if progress else _Logged()) if isinstance(progress, bool) else progress

    def __enter__(self):
        return self._listener

    def __exit__(self, *_):
        close = getattr(self._listener, "close", None)
        if close:
            close()
