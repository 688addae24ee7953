"""Servers in processes of their own, and the memory and CPU time of these."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def server(arguments: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield port and process id of `qpr serve`.

    Raises:
        SystemExit: it did not start; the text is what it printed.
    """
    command = [sys.executable, "-m", "jobs", "serve", "--port", "0", "--log", "none", "--index", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        lines = iter(process.stderr or ())
        printed: list[str] = []
        for line in lines:
            printed.append(line)
            if line.startswith("serving "):
                break
        else:
            raise SystemExit(f"the server did not start:\n{''.join(printed)[-2000:]}")
        threading.Thread(target=lambda: [*lines], daemon=True).start()
        try:
            yield int(line.split(" at ")[1].split(",")[0].rpartition(":")[2]), process.pid
        finally:
            process.terminate()


@contextmanager
def peer_server(name: str, *arguments: str) -> Iterator[tuple[int, int]]:
    """Yield port and process id of a program of `benchmarks.retrieval.peers`, given the port and more arguments.

    Raises:
        SystemExit: it ended before its first answer.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", f"benchmarks.retrieval.peers.{name}", str(port), *arguments]
    with subprocess.Popen(command) as process:
        try:
            for _ in range(600):  # five minutes, in which it may have to encode its questions
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/search?q=x")
                    break
                except OSError:
                    if process.poll() is not None:
                        raise SystemExit(f"{name} did not start") from None  # it has printed why
                    time.sleep(0.5)
            yield port, process.pid
        finally:
            process.terminate()


def memory_mb(process: int, name: str = "VmRSS") -> float:
    """Return the resident memory of a process, or another figure of `/proc/PID/status`, in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    line = re.search(rf"{name}:\s+(\d+) kB", status)
    return int(line.group(1)) / 1024 if line else 0.0


def forget_peak(process: int) -> None:
    """Set the peak memory of a process back to its present memory (`man 5 proc_pid_clear_refs`)."""
    Path(f"/proc/{process}/clear_refs").write_text("5")


def cpu_s(process: int) -> float:
    """Return the CPU seconds of a process and its children, which other work changes less than latencies."""
    fields = [_fields(number) for number in with_children(process)]
    return sum(int(of_one[11]) + int(of_one[12]) for of_one in fields if of_one) / os.sysconf("SC_CLK_TCK")


def shared_mb(process: int) -> float:
    """Return the resident memory of a process and its children in MB, of a page of several ones each one's share."""
    texts = [Path(f"/proc/{number}/smaps_rollup").read_text() for number in with_children(process)]
    return sum(int(kb) for text in texts for kb in re.findall(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)) / 1024


def with_children(process: int) -> list[int]:
    """Return the number of a process and those of its children."""
    numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [process, *(number for number in numbers if _fields(number)[1:2] == [str(process)])]


def _fields(process: int) -> list[str]:
    """Return the fields of a process from its state on (`man 5 proc_pid_stat`), none if it has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
