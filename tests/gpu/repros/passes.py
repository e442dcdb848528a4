"""A GPU kernel that works, and the state that a fork must not inherit."""

import torch


def main() -> None:
    assert not torch.cuda.is_initialized()
    values = torch.arange(1000.0, device="cuda")
    print(float((values @ values).item()), torch.cuda.get_device_name())


if __name__ == "__main__":
    main()
