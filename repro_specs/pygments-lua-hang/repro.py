"""Tokens of one line of Lua. A regular expression that backtracks is in C: no signal handler of Python runs meanwhile."""

import sys

from pygments.lexers import get_lexer_by_name


def main(blanks: int) -> None:
    tokens = list(get_lexer_by_name("lua").get_tokens("x" + " " * blanks + "= 1\n"))
    print(f"{len(tokens)} tokens")


if __name__ == "__main__":
    main(int(sys.argv[1]))
