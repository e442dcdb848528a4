"""A Ray cluster of several nodes on this machine, each with a cache of its own; it ends with the block or this process."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil

STORE = 100 * 2**20  # bytes of the object store of a node; the least that Ray takes is 75 MiB
# Ray takes 15 s to notice that a node is gone; here that is what most of the time would go for. And a node ends itself when the
# processes beside it have not answered for some seconds, which is little beside other tests; so is what Ray's priority leaves.
CONFIG = {
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 4,
    "agent_register_timeout_ms": 180_000,
    "worker_niceness": 0,
}
PATIENCE = 180.0  # seconds for a node to start: Ray gives up after 30, which is little beside other tests


@dataclass
class RigNode:
    """One node: its process is the raylet."""

    node: Any
    cache: Path
    is_killed: bool = False

    @property
    def raylet(self) -> psutil.Process:
        """The process that is the node."""
        return psutil.Process(self.node.all_processes["raylet"][0].process.pid)

    def workers(self, word: str) -> list[psutil.Process]:
        """The processes that do jobs and whose title has `word`."""
        return [one for one in self.raylet.children() if "ray::" in (title := _title(one)) and word in title]

    def environments(self) -> list[str]:
        """The names of the environments in its cache."""
        folder = self.cache / "environments"
        return sorted(one.name for one in folder.iterdir()) if folder.exists() else []


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@dataclass
class RigCluster:
    """Nodes as the test adds them; the first is the head, to which the driver is connected."""

    cluster: Any
    folder: Path
    temporary: str
    nodes: list[RigNode] = field(default_factory=list)

    @property
    def address(self) -> str:
        """For --ray-address."""
        return str(self.cluster.address)

    def add(self, cpus: int = 2, gpus: int = 0, **environ: str) -> RigNode:
        """One more node. Its GPUs are as real as the driver that the test hands in."""
        cache = self.folder / f"node-cache-{len(self.nodes) + 1}"
        head = {} if self.nodes else {"_system_config": CONFIG, "temp_dir": self.temporary, "no_monitor": True}
        with patch("ray._private.services.get_node", _patiently()):
            made = self.cluster.add_node(
                num_cpus=cpus,
                num_gpus=gpus,
                object_store_memory=STORE,
                include_dashboard=False,
                include_log_monitor=False,
                env_vars={"BISECT_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "", **environ},
                **head,
            )
        self.nodes.append(RigNode(made, cache))
        return self.nodes[-1]

    def alive(self) -> list[RigNode]:
        """The nodes that were not killed, the head first."""
        return [one for one in self.nodes if not one.is_killed]

    def kill(self, node: RigNode) -> None:
        """As a machine that loses its power: the raylet first, and everything below it at once."""
        raylet, node.is_killed = node.raylet, True
        below = raylet.children(recursive=True)
        raylet.kill()
        for one in below:
            try:
                one.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(below, timeout=30)


def _patiently() -> Any:
    from ray._private import services

    once = services.get_node

    def get_node(*words: Any) -> Any:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return once(*words)
            except RuntimeError:
                if time.monotonic() > deadline:
                    raise

    return get_node


@contextmanager
def ray_cluster(folder: Path, cpus: int = 2, gpus: int = 0) -> Iterator[RigCluster]:
    """A cluster with its head, which has so much for trials."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}  # whatever token the user has
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    # The names of its sockets may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as short:
        try:
            made = RigCluster(cluster, folder, short)
            made.add(cpus, gpus)
            yield made
        finally:
            cluster.shutdown()
