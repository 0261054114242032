#!/usr/bin/env python3
"""Compares two Nano work servers in one run: ours and the first one.

work_server.py --ours PATH --theirs PATH

Each is asked for work for random roots, one request after the other, in blocks that take turns; the other one sleeps
meanwhile. Then ours alone is asked for work of difficulty 0, which is a round trip without a search, and for easy work,
where the time of each request is compared with that of the hashes it took.
"""

import argparse
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import time


class Server:
    """A running server and a connection to it."""

    def __init__(self, binary, threads):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [binary, "--listen-address", f"127.0.0.1:{port}", "--cpu-threads", str(threads)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.connection = http.client.HTTPConnection("127.0.0.1", port)
        for _ in range(500):
            with contextlib.suppress(ConnectionRefusedError):
                self.connection.connect()
                break
            time.sleep(0.01)
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def generate(self, difficulty):
        """The seconds that work for a random root takes."""
        body = {"action": "work_generate", "hash": os.urandom(32).hex(), "difficulty": difficulty}
        body = json.dumps(body).encode()
        start = time.perf_counter()
        self.connection.request("POST", "/", body)
        answer = self.connection.getresponse().read()
        elapsed = time.perf_counter() - start
        if "work" not in json.loads(answer):
            raise RuntimeError(answer)
        return elapsed

    def hashes(self):
        """How many hashes all workers have made."""
        self.connection.request("GET", "/metrics")
        text = self.connection.getresponse().read().decode()
        return sum(int(number) for number in re.findall(r"^nano_work_hashes_total\{.*\} (\d+)$", text, re.M))

    def rate(self, seconds):
        """Hashes per second of a search without end."""
        address = self.connection.sock.getpeername()
        with socket.create_connection(address) as endless:
            body = json.dumps({"action": "work_generate", "hash": "00" * 32, "difficulty": "f" * 16})
            endless.sendall(f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            time.sleep(0.2)
            before, start = self.hashes(), time.perf_counter()
            time.sleep(seconds)
            after, end = self.hashes(), time.perf_counter()
        time.sleep(0.1)
        return (after - before) / (end - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, help="the binary of our server")
    parser.add_argument("--theirs", required=True, help="the binary of the first server")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--requests", type=int, default=300, help="to each server")
    parser.add_argument("--block", type=int, default=10, help="requests before the other one's turn")
    parser.add_argument("--difficulty", default="ffffff0000000000")
    parser.add_argument("--easy", default="fffff00000000000", help="the difficulty of easy work")
    parser.add_argument("--json", action="store_true", help="print the times themselves")
    options = parser.parse_args()

    # So that the servers are stopped, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    with contextlib.ExitStack() as stack:
        ours, theirs = (Server(binary, options.threads) for binary in (options.ours, options.theirs))
        stack.callback(ours.stop)
        stack.callback(theirs.stop)
        times = {ours: [], theirs: []}
        while len(times[theirs]) < options.requests:
            for server in (ours, theirs):
                times[server] += [server.generate(options.difficulty) for _ in range(options.block)]
        round_trips = [ours.generate("0") for _ in range(2000)]
        rate = ours.rate(2)
        overheads = []
        for _ in range(300):
            before = ours.hashes()
            elapsed = ours.generate(options.easy)
            # The other threads finish what they are at.
            time.sleep(0.005)
            overheads.append(elapsed - (ours.hashes() - before) / rate)

    if options.json:
        print(json.dumps({"ours": times[ours], "theirs": times[theirs], "round_trips": round_trips,
                          "rate": rate, "overheads": overheads}))
        return
    total, their_total = sum(times[ours]), sum(times[theirs])
    print(f"{len(times[ours])} requests each at {options.difficulty}, {options.threads} threads:",
          f"ours {total:.2f} s, theirs {their_total:.2f} s, ratio {their_total / total:.2f}")
    print(f"round trip at difficulty 0: median {statistics.median(round_trips) * 1e6:.0f} us")
    print(f"rate {rate / 1e6:.1f} MH/s; a request at {options.easy} beyond hashes / rate:",
          f"median {statistics.median(overheads) * 1e6:.0f} us")


if __name__ == "__main__":
    main()
