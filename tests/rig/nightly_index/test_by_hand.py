from __future__ import annotations

import pytest

from tests.rig.nightly_index.__main__ import main


def test_the_index_tells_its_addresses_and_stops_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    main(
        [
            *("--from", "2026-04-01", "--to", "2026-10-09", "--variants", "cpu,cu130", "--seconds", "0.1"),
            *("--change", "grad:2026-06-03:RuntimeError: zero", "--dead", "2026-06-01..2026-06-02", "--storm", "0.1"),
            *("--stall", "2026-07-01..2026-07-04", "--missing", "2026-05-05", "--hrefs", "relative"),
        ]
    )
    words = [line.rsplit(maxsplit=1)[0].strip() for line in capsys.readouterr().out.splitlines()]
    assert words == ["nightly index", "second host", "default index"]


def test_a_wrong_variant_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="cu131: no such variant"):
        main(["--from", "2026-04-01", "--to", "2026-10-09", "--variants", "cu131", "--seconds", "0"])
    assert capsys.readouterr().out == ""
