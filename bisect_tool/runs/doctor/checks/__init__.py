"""The checks: each module has `ORDER` and a function `check(place) -> Iterator[Finding]`. It may raise whatever it likes."""
