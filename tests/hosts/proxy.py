"""Somebody on the network between two hosts, through whom all their connections go: a proxy that reads the messages of MPI in
them, and alters the one that it is told to."""

import ctypes
import os
import socket
import struct
import threading
import time

import hosts

MPI_PORTS, LAUNCHER_PORTS = range(20_000, 20_016), range(20_100, 20_116)
CLONE_NEWNET = 0x40000000
DELAY = 1  # seconds
GREETING = 24  # bytes that each end of a connection of MPI sends first
# Open MPI 4: the head of a fragment (tag, type, count, size), and that of a message in it (type, flags, communicator, source, tag, number).
FRAGMENT, MESSAGE = struct.Struct("=BBHI"), struct.Struct("=BBHiiH")
IS_SEND, IS_MESSAGE = 1, 65


def socket_in(namespace):
    """A socket of a network namespace, made by a thread of its own, since a thread that enters one does not come back."""
    made = []

    def make():
        with open(f"/run/netns/{namespace}") as file:
            if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        made.append(socket.socket())

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    made[0].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made[0]


class Order:
    """What is to be done to message `number` (from 0) that a host sends between ranks: `flip` a bit, `cut` its last byte, `repeat` the
    one before in its place, `replace` it by the last of another kind, `swap` it with the next one, `drop` it, or `delay` it and all
    behind it. Messages of MPI's collective operations do not count, since nothing that is sealed is among them; or they alone, from `least`
    bytes on, which go before."""

    def __init__(self, action="", host=1, number=0, sealed=True, least=32):
        self.action, self.host, self.number, self.sealed, self.least = action, host, number, sealed, least
        self.sent, self.altered_at = 0, None
        self.before, self.held = {}, None

    def passed(self, head, content):
        """The heads and contents that go on in place of this message."""
        is_collective = MESSAGE.unpack(head)[4] < 0
        if is_collective == self.sealed or (is_collective and len(content) < self.least):
            return [(head, content)]
        kind = MESSAGE.unpack(head)[2:5:2]
        last = self.before.get(kind, bytes(len(content)))
        others = [content for of_kind, content in self.before.items() if of_kind != kind] or [bytes(len(content))]
        self.before[kind] = content
        number, self.sent = self.sent, self.sent + 1
        if self.held is not None:
            first, self.held = self.held, None
            return [(first[0], content), (head, first[1])]
        if number != self.number or not self.action:
            return [(head, content)]
        self.altered_at = time.monotonic()
        if self.action == "swap":
            self.held = (head, content)
        if self.action in ("swap", "drop"):
            return []
        if self.action == "delay":
            time.sleep(DELAY)
        elif self.action == "flip" and content:
            place = self.number * 7 % len(content)
            content = content[:place] + bytes([content[place] ^ 4]) + content[place + 1:]
        else:
            content = {"cut": content[:-1], "repeat": last, "replace": others[-1]}.get(self.action, content)
        return [(head, content)]


class Proxy(hosts.Hosts):
    """Two hosts without a link between them. Each has one to the proxy, where the other's address is."""

    names = (1, 2, "for-1", "for-2")
    settings = {"btl_tcp_port_min_v4": MPI_PORTS[0], "btl_tcp_port_range_v4": len(MPI_PORTS), "btl_tcp_flags": 1,
                "oob_tcp_dynamic_ipv4_ports": f"{LAUNCHER_PORTS[0]}-{LAUNCHER_PORTS[-1]}"}

    def __enter__(self):
        super().__enter__()
        self.order = Order()
        self.listeners = []
        for host in (1, 2):
            for port in (*MPI_PORTS, *LAUNCHER_PORTS):
                listener = socket_in(f"{self.prefix}-for-{3 - host}")
                listener.bind((f"{hosts.NETWORK}.{host}", port))
                listener.listen()
                self.listeners.append(listener)
                threading.Thread(target=self.accept, args=(listener, host, port), daemon=True).start()
        return self

    def __exit__(self, *_):
        for listener in self.listeners:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        super().__exit__()

    def join(self):
        self.link(1, "for-1")
        self.link("for-2", 2)

    def accept(self, listener, host, port):
        """Connections to a port of a host go on there."""
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            far = socket_in(f"{self.prefix}-for-{host}")
            try:
                far.bind((f"{hosts.NETWORK}.{3 - host}", 0))
                far.connect((f"{hosts.NETWORK}.{host}", port))
            except OSError:  # nobody listens there
                near.close()
                far.close()
                continue
            order = self.order
            for start, end, sender in ((near, far, 3 - host), (far, near, host)):
                way = self.pass_messages if port in MPI_PORTS else self.pass_bytes
                threading.Thread(target=self.pass_on, args=(way, start, end, order if sender == order.host else Order()), daemon=True).start()

    def pass_on(self, way, start, end, order):
        try:
            way(start, end, order)
        except OSError:  # an end is gone
            pass
        for each in (start, end):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        start.close()

    def pass_bytes(self, start, end, _):
        while came := start.recv(65536):
            end.sendall(came)

    def pass_messages(self, start, end, order):
        end.sendall(exactly(start, GREETING))
        while True:
            head = exactly(start, FRAGMENT.size)
            tag, kind, count, size = FRAGMENT.unpack(head)
            if kind != IS_SEND:
                raise OSError(f"a fragment of type {kind}, which the hosts' settings exclude")
            body = exactly(start, size)
            messages = [(body, b"")]
            if body[0] == IS_MESSAGE:
                messages = order.passed(body[:MESSAGE.size], body[MESSAGE.size:])
            for message in messages:
                body = b"".join(message)
                end.sendall(FRAGMENT.pack(tag, kind, count, len(body)) + body)


def exactly(start, size):
    parts = bytearray()
    while len(parts) < size:
        part = start.recv(size - len(parts))
        if not part:
            raise OSError("the end of a connection")
        parts += part
    return bytes(parts)
