"""slice_scatter and a sum over the same dimension: wrong gradient. Fails on 2.5.1, works on 2.4.1."""
import torch

x = torch.randn(4, 13, 33, requires_grad=True); y = torch.randn(4, 5, 33, requires_grad=True)


def f(x, y):
    return torch.slice_scatter(x, y, dim=1, start=2, end=7).sum(dim=1).square().sum()


torch.compile(f)(x, y).backward()
compiled = x.grad.clone()
x.grad = None
f(x, y).backward()
assert (compiled - x.grad).abs().max() < 1e-3, "wrong x.grad"
