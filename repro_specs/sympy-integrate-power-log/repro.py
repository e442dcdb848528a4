"""The integral of x**power * log(x) from 0 to 1 is -1/(power + 1)**2. It takes 2 to 20 s."""

import math
import sys
from fractions import Fraction

import sympy


def main(power: str) -> None:
    x = sympy.Symbol("x")
    exponent = sympy.Rational(power)
    value = sympy.integrate(x**exponent * sympy.log(x), (x, 0, 1))
    expected = -1 / float(Fraction(power) + 1) ** 2
    if value.has(sympy.Integral):
        sys.exit(f"the integral was not evaluated: {value}")
    found = complex(value.evalf())
    if not (math.isfinite(found.real) and abs(found - expected) < 1e-9):
        sys.exit(f"wrong integral: {value} is {found}, expected {expected}")
    print(f"the integral of x**({power}) * log(x) is {value}")


if __name__ == "__main__":
    main(sys.argv[1])
