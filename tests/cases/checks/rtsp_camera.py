"""RTSP cameras on the loopback: JPEG pictures over RTP (RFC 2435), inside of the TCP connection (RFC 2326, 10.12).

Each picture shows its number, in sixteen fields that are black or white. A camera can be restarted, be frozen, change its size,
and its clock can jump. Numbers count on with time, whether anybody sees the pictures or not.

  rtsp_camera.py CAMERAS PER_SECOND     prints an address a line, and serves until its input ends
"""
import functools
import socket
import struct
import sys
import threading
import time

FIELDS, CELL = 16, 16  # of a picture; the width of a field in the small size
CLOCK = 90000  # of RTP, per second
SHORT = (b"", "00 010 011 100 101 110 1110 11110 111110".split(), "1010", "00")  # the usual tables of JPEG: T.81, annex K
SDP = ("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=camera\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\na=control:*\r\n"
       "m=video 0 RTP/AVP 26\r\na=control:track1\r\n")


@functools.lru_cache(maxsize=64)
def scan(number, cells):
    """The entropy-coded part of a picture of one row of fields, each `cells` blocks of 16 x 16 wide and high; 4:2:0."""
    _, sizes, end_of_light, nothing = SHORT
    out, before = "", 0
    for _ in range(cells):
        for field in range(FIELDS):
            level = 127 if number >> (FIELDS - 1 - field) & 1 else -128
            for block in range(4 * cells):  # four blocks of light in each, all of one level
                change, before = level - before, level
                size = abs(change).bit_length()
                low = change if change >= 0 else change + (1 << size) - 1
                out += sizes[size] + (f"{low:0{size}b}" if size else "") + end_of_light
                if block % 4 == 3:
                    out += 2 * (nothing + nothing)  # two of colour: no change, and nothing else
    out += "1" * (-len(out) % 8)
    return bytes(int(out[i:i + 8], 2) for i in range(0, len(out), 8)).replace(b"\xff", b"\xff\x00")


class Reader:
    """One connection."""

    def __init__(self, connection):
        self.connection, self.plays, self.lock = connection, False, threading.Lock()

    def answer(self):
        """Until the other side leaves, or the camera closes it."""
        try:
            with self.connection.makefile("rb") as lines:
                while self.answer_one(lines):
                    pass
        except OSError:
            pass
        self.plays = False

    def answer_one(self, lines):
        first = lines.read(1)
        if first == b"$":  # a report of the receiver
            _, length = struct.unpack(">BH", lines.read(3))
            lines.read(length)
            return True
        request = first + lines.readline()
        head = {}
        for line in iter(lines.readline, b""):
            if not line.strip():
                break
            name, _, text = line.decode().partition(":")
            head[name.strip().lower()] = text.strip()
        if not request.strip():
            return False
        verb = request.split()[0].decode()
        body = SDP if verb == "DESCRIBE" else ""
        more = {"OPTIONS": "Public: DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN\r\n",
                "DESCRIBE": f"Content-Type: application/sdp\r\nContent-Length: {len(body)}\r\n",
                "SETUP": "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n", "PLAY": "Session: 1\r\n"}
        self.send(f"RTSP/1.0 200 OK\r\nCSeq: {head.get('cseq', 0)}\r\n{more.get(verb, '')}\r\n{body}".encode())
        self.plays = self.plays or verb == "PLAY"
        return verb != "TEARDOWN"

    def send(self, data):
        with self.lock:
            self.connection.sendall(data)

    def close(self):
        self.plays = False
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.connection.close()


class Camera:
    """Any number of readers; `sent`: when each number went out first, by time.monotonic()."""

    def __init__(self, per_second):
        self.per_second, self.cells, self.sent = per_second, 1, {}
        self.frozen, self.over, self.shift, self.sequence = False, False, 0, 0
        self.readers, self.lock = [], threading.Lock()
        self.server, self.port = None, 0
        self.open()
        threading.Thread(target=self.film, daemon=True).start()

    def address(self):
        return f"rtsp://127.0.0.1:{self.port}/camera"

    def open(self):
        self.server = socket.create_server(("127.0.0.1", self.port))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.accept, args=(self.server,), daemon=True).start()

    def accept(self, server):
        try:
            while True:
                reader = Reader(server.accept()[0])
                with self.lock:
                    self.readers.append(reader)
                threading.Thread(target=reader.answer, daemon=True).start()
        except OSError:
            return  # it was closed

    def close(self):
        """As when it loses its power: nobody can connect any more."""
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        with self.lock:
            for reader in self.readers:
                reader.close()
            self.readers.clear()

    def restart(self, away_s=0.0):
        self.close()
        time.sleep(away_s)
        self.open()

    def film(self):
        begin, number = time.monotonic(), 0
        while not self.over:
            time.sleep(max(0, begin + number / self.per_second - time.monotonic()))
            if not self.frozen:
                self.show(number)
            number += 1

    def show(self, number):
        packets = self.packets(number)
        with self.lock:
            players = [reader for reader in self.readers if reader.plays]
        for reader in players:
            try:
                self.sent.setdefault(number, time.monotonic())
                reader.send(packets)
            except OSError:
                reader.plays = False

    def packets(self, number):
        """In one write."""
        data, out, at, most = scan(number % (1 << FIELDS), self.cells), b"", 0, 1200
        width, height = FIELDS * CELL * self.cells // 8, CELL * self.cells // 8
        stamp = int((number / self.per_second + self.shift) * CLOCK) & 0xffffffff
        while at < len(data):
            piece = data[at:at + most]
            head = struct.pack(">I", at) + bytes([1, 255, width, height])
            if at == 0:
                head += struct.pack(">BBH", 0, 0, 128) + bytes([8] * 128)  # every level is a whole step
            at += len(piece)
            packet = struct.pack(">BBHII", 0x80, 26 | (0x80 if at == len(data) else 0), self.sequence, stamp, 7) + head + piece
            self.sequence = self.sequence + 1 & 0xffff
            out += struct.pack(">cBH", b"$", 0, len(packet)) + packet
        return out

    def end(self):
        self.over = True
        self.close()


def main():
    cameras = [Camera(float(sys.argv[2])) for _ in range(int(sys.argv[1]))]
    print("\n".join(camera.address() for camera in cameras), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
