"""Situations in which the network or the index is at fault."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator

from tests.rig import index_faults as faults
from tests.rig.index_faults import Fault
from tests.rig.provoking.stage import Ran, Stage, situation
from tests.rig.uv_message import Blame

WHEEL = "toy-*.whl"


def _with(stage: Stage, pattern: str, *planted: Fault) -> Ran:
    """Install toy while these faults act."""
    stage.toy()
    for fault in planted:
        stage.index.plant(pattern, fault)
    return stage.install("toy==1.0")


@situation(Blame.NETWORK, "nothing listens at the address of the index")
def connection_refused(stage: Stage) -> Ran:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    return stage.install("toy==1.0", url=f"http://127.0.0.1:{port}/simple/")


@situation(Blame.NETWORK, "the name of the index does not resolve")
def name_not_resolved(stage: Stage) -> Ran:
    return stage.install("toy==1.0", url="http://index.invalid/simple/")


@situation(Blame.NETWORK, "the index wants credentials")
def page_401(stage: Stage) -> Ran:
    return _with(stage, "toy", faults.status(401))


@situation(Blame.NETWORK, "the index forbids the page")
def page_403(stage: Stage) -> Ran:
    return _with(stage, "toy", faults.status(403))


@situation(Blame.REQUIREMENTS, "the index knows no such package")
def page_404(stage: Stage) -> Ran:
    return stage.install("no-such-package")


@situation(Blame.NETWORK, "the index answers the page with 429")
def page_429(stage: Stage) -> Ran:
    return _with(stage, "toy", faults.status(429))


@situation(Blame.NETWORK, "the index answers the page with 500")
def page_500(stage: Stage) -> Ran:
    return _with(stage, "toy", faults.status(500))


@situation(Blame.NETWORK, "the index answers the page with 503")
def page_503(stage: Stage) -> Ran:
    return _with(stage, "toy", faults.status(503))


@situation(Blame.NETWORK, "the connection breaks while the page is asked for")
def page_reset(stage: Stage) -> Ran:
    return _with(stage, "toy", faults.reset())


@situation(Blame.NETWORK, "the page breaks off in the middle")
def page_truncated(stage: Stage) -> Ran:
    return _with(stage, "toy", faults.truncated())


@situation(Blame.NETWORK, "the index never answers")
def page_hangs(stage: Stage) -> Ran:
    stage.extra["UV_HTTP_TIMEOUT"] = "1"
    return _with(stage, "toy", faults.hang(20))


@situation(Blame.NETWORK, "the page is that of a captive portal")
def page_not_an_index(stage: Stage) -> Ran:
    return _with(stage, "toy", faults.not_an_index())


@situation(Blame.NETWORK, "the page is not the JSON that it claims to be")
def page_malformed(stage: Stage) -> Ran:
    return _with(stage, "toy", faults.replaced(b'{"files": [{"filename": "toy-1.0'))


@situation(Blame.NETWORK, "the wheel is listed and answers 403")
def wheel_403(stage: Stage) -> Ran:
    return _with(stage, WHEEL, faults.status(403))


@situation(Blame.NETWORK, "the wheel is listed and answers 404")
def wheel_404(stage: Stage) -> Ran:
    return _with(stage, WHEEL, faults.status(404))


@situation(Blame.NETWORK, "the wheel answers 500")
def wheel_500(stage: Stage) -> Ran:
    return _with(stage, WHEEL, faults.status(500))


@situation(Blame.NETWORK, "the wheel answers 503 only twice: uv tries again and succeeds")
def wheel_503_twice(stage: Stage) -> Ran:
    return _with(stage, WHEEL, faults.status(503, times=2))


@situation(Blame.NETWORK, "the connection breaks while the wheel is asked for")
def wheel_reset(stage: Stage) -> Ran:
    return _with(stage, WHEEL, faults.reset())


@situation(Blame.NETWORK, "the wheel breaks off in the middle")
def wheel_truncated(stage: Stage) -> Ran:
    return _with(stage, WHEEL, faults.truncated())


@situation(Blame.NETWORK, "the wheel ends ten bytes early although the length fits")
def wheel_wrong_length(stage: Stage) -> Ran:
    return _with(stage, WHEEL, faults.wrong_length())


@situation(Blame.NETWORK, "the wheel is never sent")
def wheel_hangs(stage: Stage) -> Ran:
    stage.extra["UV_HTTP_TIMEOUT"] = "1"
    return _with(stage, WHEEL, faults.hang(20))


@situation(Blame.NETWORK, "the wheel is a captive portal's page")
def wheel_is_html(stage: Stage) -> Ran:
    return _with(stage, WHEEL, faults.replaced(b"<html>Please sign in.</html>\n"))


@situation(Blame.NETWORK, "the file was replaced under its name and the page still has the old hash")
def wheel_replaced(stage: Stage) -> Ran:
    stage.toy()
    other = stage.toy("1.0", modules={"toy.py": "x = 2\n"}).read_bytes()
    return _with(stage, WHEEL, faults.replaced(other))


@situation(Blame.NETWORK, "the page gives a wrong hash")
def page_wrong_hash(stage: Stage) -> Ran:
    return _with(stage, "toy", faults.wrong_hash(), faults.without_metadata())


@situation(Blame.NETWORK, "the metadata file answers 404 although it is listed")
def metadata_404(stage: Stage) -> Ran:
    return _with(stage, "*.metadata", faults.status(404))


@situation(Blame.NETWORK, "the address begins with https and the server speaks http")
def no_tls(stage: Stage) -> Ran:
    stage.toy()
    return stage.install("toy==1.0", url=stage.index.url.replace("http:", "https:"))


@situation(Blame.NETWORK, "nobody vouches for the certificate of the index")
def unknown_certificate(stage: Stage) -> Ran:
    with _self_signed(stage) as port:
        return stage.install("toy==1.0", url=f"https://127.0.0.1:{port}/simple/")


@contextlib.contextmanager
def _self_signed(stage: Stage) -> Iterator[int]:
    key, certificate = stage.root / "key.pem", stage.root / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*made, *names], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def answer(server: ssl.SSLSocket) -> None:
        while True:
            try:
                server.accept()[0].close()
            except ssl.SSLError:
                continue
            except OSError:
                return

    listener = socket.create_server(("127.0.0.1", 0))
    with context.wrap_socket(listener, server_side=True) as server:
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        yield server.getsockname()[1]


@situation(Blame.NETWORK, "--offline, and the cache has no such wheel")
def offline(stage: Stage) -> Ran:
    stage.toy()
    return stage.install("toy==1.0", options=["--offline"])
