#!/usr/bin/env python3
"""Reaches a worker over TCP, as ssh would: relay.py HOST PORT [WORDS...]. The words are the command,
which the other side knows."""
import os
import socket
import sys
import threading

connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def send():
    while piece := os.read(0, 1 << 20):
        connection.sendall(piece)
    connection.shutdown(socket.SHUT_WR)


threading.Thread(target=send, daemon=True).start()
while piece := connection.recv(1 << 20):
    while piece:
        piece = piece[os.write(1, piece):]
