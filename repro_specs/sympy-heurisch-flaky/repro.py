"""The integral of 1/(b*cos(x) + a*sin(x)): as in the report, and only the heuristic step that it comes to for one value of a.

The way depends on the order of sets, and with it on PYTHONHASHSEED, which nobody sets here. A `PolynomialError` is expected by
`integrate`, which then tries something else; anything else ends it.
"""

import sys

import sympy
from sympy.integrals.heurisch import heurisch
from sympy.polys.polyerrors import PolynomialError


def main(case: str) -> None:
    a, b, x = sympy.symbols("a b x")
    if case == "integral":
        found = sympy.integrate(1 / (b * sympy.cos(x) + a * sympy.sin(x)), x)
    else:
        integrand = x * sympy.cos(x)
        if case == "heuristic":
            integrand = 1 / (b * sympy.cos(x) - sympy.sqrt(-(b**2)) * sympy.sin(x))
        try:
            found = heurisch(integrand, x, hints=[])
        except PolynomialError as error:
            found = error
    print(f"sympy {sympy.__version__}: {str(found)[:60]}")


if __name__ == "__main__":
    main(sys.argv[1])
