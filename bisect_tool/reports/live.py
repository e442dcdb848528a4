"""temporary"""

import contextlib, sys


@contextlib.contextmanager
def choose_view(console, plain, quiet):
    yield (lambda e: None) if quiet else (lambda e: print(e, file=sys.stderr))
