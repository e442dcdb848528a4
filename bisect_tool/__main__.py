"""``python -m bisect_tool``: the same as the console script ``bisect``."""

from bisect_tool.cli import main

main()
