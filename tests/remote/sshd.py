#!/usr/bin/env python3
"""Commands over a real sshd give what the same commands give on the board.

  sshd.py --millrace PATH --source PROJECT_FOLDER

sshd serves the loopback of a network namespace, in a second root: a mount namespace with an empty home and
empty folders for temporary files. Skipped (77) without sshd (package openssh-server) or without the right to make namespaces.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77
PORT = 2222
SSHD = shutil.which("sshd", path="/usr/sbin:/sbin:" + os.environ["PATH"])
SECOND_ROOT = """set -e
mount --make-rprivate /
mount --bind "$0/board" "$1"
mount -t tmpfs none /var/tmp
[ -d /run/sshd ] || mkdir -p /run/sshd
exec "$2" -D -e -f "$0/sshd_config"
"""


def missing():
    if SSHD is None or shutil.which("ssh") is None:
        return "sshd and ssh; install the package openssh-server"
    tried = subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True)
    if tried.returncode != 0 or os.geteuid() != 0:
        return "the right to make namespaces, which root has"
    return None


def prepare(folder, home):
    (folder / "board" / ".ssh").mkdir(parents=True, mode=0o700)
    (folder / "work").mkdir()
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    keys = folder / "board" / ".ssh" / "authorized_keys"
    keys.write_text((folder / "user.pub").read_text())
    keys.chmod(0o600)
    (folder / "sshd_config").write_text(
        f"Port {PORT}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile {folder}/pid\n"
        f"AuthorizedKeysFile {home}/.ssh/authorized_keys\nStrictModes no\nUsePAM no\n"
        f"PasswordAuthentication yes\nPermitRootLogin yes\n")
    host = (folder / "host.pub").read_text().split()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{PORT} {host[0]} {host[1]}\n")
    for name, key in (("ssh_config", folder / "user"), ("without_key", "none")):
        (folder / name).write_text(
            f"Host board\n  HostName 127.0.0.1\n  Port {PORT}\n  User {os.environ.get('USER', 'root')}\n"
            f"  IdentityFile {key}\n  IdentitiesOnly yes\n  IdentityAgent none\n"
            f"  UserKnownHostsFile {folder}/known_hosts\n")


def check(words, holds):
    print("ok  " if holds else "FAIL", words, flush=True)
    return holds


class Session:
    """Commands over ssh, and the same ones typed on the board."""

    def __init__(self, folder, millrace):
        self.folder, self.millrace = folder, millrace
        self.environment = dict(os.environ, HOME=str(folder / "home"), XDG_CACHE_HOME=str(folder / "cache"),
                                MILLRACE_SSH=f"ssh -F {folder}/ssh_config")

    def afar(self, *words, ssh=None):
        environment = dict(self.environment, **({"MILLRACE_SSH": ssh} if ssh else {}))
        return subprocess.run([self.millrace, *words, "--on", "board", "--set",
                               f"afar.program={self.millrace}"], cwd=self.folder / "work", env=environment,
                              capture_output=True, text=True, timeout=300)

    def there(self, *words):
        environment = {"HOME": str(self.folder / "board"), "PATH": os.environ["PATH"]}
        return subprocess.run([self.millrace, *words], cwd=self.folder / "work", env=environment,
                              capture_output=True, text=True, timeout=300)

    def compare(self, *words, output=None, streams=True):
        """The same exit code, output and file from both."""
        results = []
        for run in (self.afar, self.there):
            made = run(*words)
            place = self.folder / "work" / output if output else None
            content = place.read_bytes() if place and place.exists() else None
            content = content and re.sub(rb'"latency_ms":[0-9.e-]+,', b"", content)
            if place:
                place.unlink(missing_ok=True)
            results.append((made.returncode, made.stdout if streams else "", content))
        if results[0] != results[1]:
            print(results[0], results[1], sep="\n")
        return check(f"{' '.join(words)}: as on the board", results[0] == results[1] and results[0][0] == 0)


def commands(session, source):
    work = session.folder / "work"
    (work / "app.yaml").write_text(
        (source / "examples/applications/digits.yaml").read_text().replace("../../models", "models"))
    shutil.copytree(source / "models", work / "models")
    good = check("zoo", session.there("zoo", "mobilenet_v2", "-o", "mobilenet_v2.onnx").returncode == 0)
    good &= check("profile over ssh", session.afar("profile", "mobilenet_v2.onnx", "--duration", "0.05").returncode == 0)
    good &= session.compare("profile", "mobilenet_v2.onnx", "-o", "x.json", output="x.json")
    good &= session.compare("plan", "mobilenet_v2.onnx", "--measure", "0", "-o", "p.json", output="p.json")
    session.there("plan", "mobilenet_v2.onnx", "--measure", "0", "-o", "m.plan.json")
    good &= session.compare("verify", "m.plan.json")
    good &= session.compare("run", "m.plan.json", "--random", "3", "-o", "r.jsonl", output="r.jsonl")
    good &= session.compare("board")
    bench = session.afar("bench", "m.plan.json", "--duration", "0.2", "--rounds", "2")
    good &= check("bench over ssh", bench.returncode == 0 and "frames/s" in bench.stdout)
    good &= session.compare("run", "app.yaml", "-o", "a.jsonl", streams=False)
    lines = (session.afar("run", "app.yaml", "-o", "a.jsonl"), (work / "a.jsonl").read_text().splitlines())[1]
    return good & check("12 pictures of an application", len(lines) == 12)


def failures(session):
    asked = session.afar("board", ssh=f"ssh -F {session.folder}/without_key")
    good = check("a password is not asked for", asked.returncode == 3 and "ssh-copy-id board" in asked.stderr)
    print(asked.stderr.strip())
    absent = session.afar("board", ssh=f"ssh -F {session.folder}/ssh_config -p {PORT + 1}")
    print(absent.stderr.strip())
    return good & check("nobody listens", absent.returncode == 3 and "refused" in absent.stderr)


def inside(arguments):
    """In the network namespace."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    folder = arguments.folder
    home = Path.home()
    server = subprocess.Popen(["unshare", "--mount", "sh", "-c", SECOND_ROOT, folder, home, SSHD],
                              stderr=open(folder / "sshd.log", "w"))
    try:
        session = Session(folder, arguments.millrace)
        for _ in range(100):
            if subprocess.run(["ssh", "-F", folder / "ssh_config", "board", "true"],
                              capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        good = commands(session, arguments.source) & failures(session)
        left = list((folder / "board").glob(".cache/millrace/remote/session-*"))
        good &= check("no session is left", not left)
        if not good:
            print((folder / "sshd.log").read_text()[-3000:])
        return 0 if good else 1
    finally:
        server.terminate()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millrace", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--source", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.folder:
        return inside(arguments)
    if reason := missing():
        print(f"skipped: needs {reason}")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="millrace_sshd_") as name:
        prepare(Path(name), Path.home())
        return subprocess.run(["unshare", "--net", sys.executable, __file__, "--folder", name, "--millrace",
                               arguments.millrace, "--source", arguments.source]).returncode


if __name__ == "__main__":
    sys.exit(main())
