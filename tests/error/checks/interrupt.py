"""What the steps of interrupt.case need; see run_check.py."""

import os
import socket
from pathlib import Path

from outputs import whole_lines, write_noise  # noqa: F401, which the case calls


def serve_silence():
    """A camera that takes a request and never answers; the files `port` and `asked` say so."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        Path("port.new").write_text(str(server.getsockname()[1]))
        os.rename("port.new", "port")
        reader, _ = server.accept()
        with reader:
            reader.recv(4096)
            Path("asked").touch()
            while reader.recv(4096):
                pass
