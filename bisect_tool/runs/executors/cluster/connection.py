"""All calls of Ray, in one file: nothing else imports it, and nothing here knows what the calls are for.

Ray is an extra of this package and is loaded when the first of these is called.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bisect_tool.errors import MachineFault, SettingError

AUTO, OWN = "auto", "local"
STORE = 200_000_000  # bytes of the object store of a cluster of our own: repros and logs are small
TO_REACH = 20.0  # seconds until a host is taken for not there
NAMESPACE = "bisect"


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node as the cluster has it: `cpus` and `gpus` are those that it offers. `why`: what ended it, where that is known."""

    id: str
    host: str
    address: str
    cpus: int
    gpus: int
    is_alive: bool
    why: str


class Broken(Exception):
    """A call came to no end: its process, its node or the connection is gone; the text says which."""


def check_installed() -> None:
    """Raises `SettingError` where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        raise SettingError(
            "the executor `ray` needs Ray, which is not installed here",
            advice="install it into the environment of bisect: `python -m pip install 'bisect-tool[ray]'`",
        )


def connect(address: str, cache: Path) -> None:
    """Connect this process to the cluster at `address`; `local`: one that is started now, whose node uses `cache`.

    Raises `SettingError`.
    """
    check_installed()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is told to anybody
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    _check_reachable(address)
    logging.getLogger("ray").setLevel(logging.CRITICAL)
    own: dict[str, Any] = {"include_dashboard": False, "object_store_memory": STORE} if address == OWN else {}
    with _signals_kept(), _cache_named(cache if address == OWN else None):
        try:
            ray.init(
                address=address,
                namespace=NAMESPACE,
                log_to_driver=False,
                configure_logging=False,
                logging_level=logging.ERROR,
                **own,
            )
        except Exception as error:
            raise _not_connected(address, error) from error
    _keep_quiet()


def _check_reachable(address: str) -> None:
    """Ray tries for minutes where nobody listens. Raises `SettingError`."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), TO_REACH).close()
    except (OSError, OverflowError) as error:
        raise _not_connected(address, error) from error


def _not_connected(address: str, error: Exception) -> SettingError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = " ".join(lines[:2])[:400] or type(error).__name__
    return SettingError(
        f"no Ray cluster could be used: {reason}",
        where=f"--ray-address {address}",
        advice="start one with `ray start --head`, run bisect on a machine of the cluster, or name it with "
        "--ray-address ray://host:10001; `--ray-address local` starts one for this run (docs/ray.md)",
    )


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Ray takes SIGTERM for itself; ours ends a run in order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, kept)


@contextmanager
def _cache_named(cache: Path | None) -> Iterator[None]:
    """A node reads the folder of its cache from its own environment, see `node`."""
    kept = os.environ.get("BISECT_CACHE")
    if cache is not None:
        os.environ["BISECT_CACHE"] = str(cache)
    try:
        yield
    finally:
        if cache is not None:
            os.environ.pop("BISECT_CACHE")
            os.environ.update({} if kept is None else {"BISECT_CACHE": kept})


def _keep_quiet() -> None:
    """Ray prints what happens to nodes on standard output, into the report and the live view; both are told by us."""
    import ray._private.worker as inside

    if hasattr(inside, "print_to_stdstream"):
        inside.print_to_stdstream = lambda *_words, **_more: None


def disconnect() -> None:
    """End everything of this process on the cluster."""
    import ray

    with _signals_kept():
        ray.shutdown()


def nodes() -> list[FoundNode]:
    """Every node that the cluster has or had, in the order of their names. Raises `Broken`."""
    import ray

    with _explained():
        found = [_node(one) for one in ray.nodes()]
    return sorted(found, key=lambda one: (one.address, one.id))


def _node(one: Mapping[str, Any]) -> FoundNode:
    has = one.get("Resources") or {}
    return FoundNode(
        id=one["NodeID"],
        host=one.get("NodeManagerHostname") or one["NodeManagerAddress"],
        address=one["NodeManagerAddress"],
        cpus=int(has.get("CPU", 0)),
        gpus=int(has.get("GPU", 0)),
        is_alive=bool(one["Alive"]),
        why=str(one.get("DeathReasonMessage") or ""),
    )


def start_actor(kind: type, words: Sequence[object], node: str, calls: int) -> Any:
    """An actor on `node` that takes so many calls at once and no resources of it; it ends with this process."""
    import ray

    made = ray.remote(num_cpus=0, max_restarts=0, max_task_retries=0)(kind)
    return made.options(max_concurrency=calls, scheduling_strategy=_on(node)).remote(*words)


def submit(function: Callable[..., object], words: Sequence[object], node: str, cpus: float, gpus: float) -> Any:
    """Begin a call of `function` in a process of `node`, once it has so many CPUs and GPUs to spare; never made again."""
    import ray

    # Ray would start a process anew for each call that has a GPU; ours do not touch it, their children do.
    made = ray.remote(max_calls=0, max_retries=0)(function)
    return made.options(num_cpus=cpus, num_gpus=gpus, scheduling_strategy=_on(node)).remote(*words)


def _on(node: str) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node, soft=False)


def put(value: object) -> Any:
    """Place a value where every node can get it; a call that is given it gets the value."""
    import ray

    return ray.put(value)


def get(reference: Any, timeout: float | None = None) -> Any:
    """The result of a call. Raises `Broken`, also after `timeout` seconds; `MachineFault` when the call itself failed."""
    import ray

    with _explained():
        return ray.get(reference, timeout=timeout)


def wait(references: Sequence[Any], timeout: float) -> list[Any]:
    """Those that have ended, one at least unless `timeout` seconds are over. Raises `Broken`."""
    import ray

    with _explained():
        return list(ray.wait(list(references), num_returns=1, timeout=timeout)[0])


def cancel(reference: Any, *, force: bool) -> None:
    """Call a call off that has not begun; with `force` its process is killed."""
    import ray

    with suppress(Exception):
        ray.cancel(reference, force=force)


def kill(actor: Any) -> None:
    """End an actor."""
    import ray

    with suppress(Exception):
        ray.kill(actor)


def assigned_gpus() -> str:
    """The GPUs that the call which this process does was given, as CUDA_VISIBLE_DEVICES names them."""
    import ray

    return ",".join(map(str, ray.get_gpu_ids()))


@contextmanager
def _explained() -> Iterator[None]:
    import ray.exceptions as faults

    try:
        yield
    except faults.RayTaskError as error:
        raise MachineFault(
            f"a part of bisect failed on a node: {_last_line(error)}",
            advice="see that bisect-tool[ray] of this version is installed on every node; if it is, please report this",
        ) from error
    except (faults.RayError, ConnectionError) as error:
        raise Broken(_first_line(error)) from error


def _last_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1][:300]


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:300]}"
