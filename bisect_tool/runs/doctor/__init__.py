"""`bisect doctor`: what this machine can run, in plain words. A check is one module in `checks`, found by itself."""
