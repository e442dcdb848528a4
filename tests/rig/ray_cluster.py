"""A Ray cluster of several nodes on this machine, each with a cache of its own; it ends with the block or this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

STORE = 100 * 2**20  # bytes of the object store of a node; the least that Ray takes is 75 MiB
# Ray takes 15 s to notice that a node is gone; here that is what most of the time would go for.
SOON = {"health_check_period_ms": 500, "health_check_timeout_ms": 500, "health_check_failure_threshold": 3}


@dataclass
class RigNode:
    """One node: its process is the raylet."""

    node: Any
    cache: Path

    @property
    def raylet(self) -> psutil.Process:
        """The process that is the node."""
        return psutil.Process(self.node.all_processes["raylet"][0].process.pid)

    def workers(self, word: str) -> list[psutil.Process]:
        """The processes that do jobs and whose title has `word`."""
        found = [child for child in self.raylet.children() if "ray::" in child.cmdline()[0]]
        return [one for one in found if word in one.cmdline()[0]]

    def environments(self) -> list[str]:
        """The names of the environments in its cache."""
        folder = self.cache / "environments"
        return sorted(one.name for one in folder.iterdir()) if folder.exists() else []


@dataclass
class RigCluster:
    """A head that does nothing but connect the driver, and nodes as the test adds them."""

    cluster: Any
    folder: Path
    nodes: list[RigNode] = field(default_factory=list)

    @property
    def address(self) -> str:
        """For --ray-address."""
        return str(self.cluster.address)

    def add(self, cpus: int = 2, gpus: int = 0, **environ: str) -> RigNode:
        """One more node. Its GPUs are as real as the driver that the test hands in."""
        cache = self.folder / f"node-cache-{len(self.nodes) + 1}"
        environ = {"BISECT_CACHE": str(cache), **environ}
        made = self.cluster.add_node(
            num_cpus=cpus, num_gpus=gpus, object_store_memory=STORE, include_dashboard=False, env_vars=environ
        )
        self.nodes.append(RigNode(made, cache))
        return self.nodes[-1]

    def kill(self, node: RigNode) -> None:
        """As a machine that loses its power: the raylet first, and everything below it at once."""
        below = node.raylet.children(recursive=True)
        node.raylet.kill()
        for one in below:
            try:
                one.kill()
            except psutil.NoSuchProcess:
                continue
        psutil.wait_procs(below, timeout=10)


@contextmanager
def ray_cluster(folder: Path) -> Iterator[RigCluster]:
    """A cluster without a node for trials."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    try:
        cluster.add_node(num_cpus=0, object_store_memory=STORE, include_dashboard=False, _system_config=SOON)
        yield RigCluster(cluster, folder)
    finally:
        cluster.shutdown()
