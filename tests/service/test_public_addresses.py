from __future__ import annotations

import pytest

from bisect_tool.service.public_addresses import AddressRefused, checked_address, is_public


@pytest.mark.parametrize("address", ["140.82.121.3", "2606:50c0:8000::153", "::ffff:140.82.121.3"])
def test_addresses_of_the_internet(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "::1", "::", "fe80::1%eth0", "fd00:ec2::254", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::",
        "ff02::1",
    ],
)  # fmt: skip
def test_addresses_of_other_networks(address: str) -> None:
    assert not is_public(address)


def test_one_private_address_of_several_is_enough_to_refuse() -> None:
    with pytest.raises(AddressRefused, match="private network"):
        checked_address("x.example.org", 443, may_be_private=False, ask=lambda *_: ["140.82.121.3", "10.0.0.1"])


def test_hosts_without_an_address() -> None:
    def unknown(_host: str, _port: int) -> list[str]:
        raise OSError("Name or service not known")

    with pytest.raises(AddressRefused, match="not known"):
        checked_address("x.example.org", 443, may_be_private=True, ask=unknown)
    with pytest.raises(AddressRefused, match="no address"):
        checked_address("x.example.org", 443, may_be_private=True, ask=lambda *_: [])
