import ipaddress

import pytest

from pipeline.allowlist import Address, AllowList, address_of, may_reach, parse_address
from pipeline.errors import ConfigError


@pytest.mark.parametrize(
    ("entry", "url", "permitted"),
    [
        ("example.com", "http://example.com/x", True),
        ("example.com", "https://example.com:8443/", True),
        ("example.com:443", "https://example.com/", True),
        ("example.com:443", "http://example.com/", False),
        ("example.com", "https://EXAMPLE.com./", True),
        ("example.com", "https://www.example.com/", False),
        ("example.com", "https://badexample.com/", False),
        ("example.com", "https://example.com.evil.org/", False),
        ("example.com", "https://user@evil.org/?example.com", False),
        ("example.com", "https://example.com@evil.org/", False),
        ("*.example.com", "https://a.b.example.com/", True),
        ("*.example.com", "https://example.com/", False),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/", True),
        ("127.0.0.1:8000", "http://127.0.0.1:8001/", False),
        ("127.0.0.1:8000", "http://localhost:8000/", False),
        ("[::1]:8000", "http://[0:0::1]:8000/", True),
        ("127.0.0.1", "file://127.0.0.1/etc/passwd", False),
        ("127.0.0.1", "ftp://127.0.0.1/", False),
        ("127.0.0.1", "data:text/html,127.0.0.1", False),
        ("127.0.0.1", "http://127.0.0.1:99999/", False),
        ("127.0.0.1", "http://[broken/", False),
    ],
)
def test_addresses_are_permitted_by_host_and_port(entry: str, url: str, permitted: bool) -> None:
    assert AllowList([entry]).permits_url(url) is permitted


def test_nothing_is_permitted_by_default() -> None:
    assert not AllowList().permits_url("http://127.0.0.1/")


@pytest.mark.parametrize("entry", ["", "http://example.com", "example.com/path", "a b@c", "host:port", "[::1"])
def test_an_entry_that_is_no_address_is_refused(entry: str) -> None:
    with pytest.raises(ConfigError, match="allow"):
        AllowList([entry])


@pytest.mark.parametrize(
    ("host", "machine", "reachable"),
    [
        ("example.com", "93.184.216.34", True),
        ("example.com", "127.0.0.1", False),
        ("example.com", "10.0.0.5", False),
        ("example.com", "::ffff:127.0.0.1", False),
        ("example.com", "fd00::1", False),
        ("10.0.0.5", "10.0.0.5", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("localhost", "127.0.0.1", True),
        ("localhost", "::1", True),
        ("localhost", "93.184.216.34", False),
        ("169.254.169.254", "169.254.169.254", False),
        ("100.100.100.200", "100.100.100.200", False),
        ("0.0.0.0", "0.0.0.0", False),
        ("fe80::1", "fe80::1", False),
        ("fd00:ec2::254", "fd00:ec2::254", False),
        ("::ffff:169.254.169.254", "::ffff:169.254.169.254", False),
        ("224.0.0.1", "224.0.0.1", False),
        ("example.com", "64:ff9b::93.184.216.34", True),
        ("example.com", "64:ff9b::127.0.0.1", False),
        ("example.com", "64:ff9b::169.254.169.254", False),
        ("64:ff9b::a00:5", "64:ff9b::10.0.0.5", False),
        ("localhost", "64:ff9b::127.0.0.1", False),
        ("example.com", "64:ff9b:1::10.0.0.5", False),
        ("example.com", "2002:5db8:d822::1", True),
        ("example.com", "2002:7f00:1::", False),
        ("example.com", "2002:a9fe:a9fe::1", False),
        ("example.com", "::127.0.0.1", False),
        ("example.com", "::10.0.0.5", False),
        ("example.com", "::ffff:0:10.0.0.5", False),
        ("example.com", "2001:0:7f00:1::", False),
        ("example.com", "2606:4700::1", True),
        ("example.com", "fec0::1", False),
        ("fec0::1", "fec0::1", True),
        ("example.com", "3fff::1", False),
        ("example.com", "5f00::1", False),
        ("example.com", "192.0.0.8", False),
        ("168.63.129.16", "168.63.129.16", False),
        ("example.com", "168.63.129.16", False),
        ("192.0.0.192", "192.0.0.192", False),
        ("example.com", "64:ff9b::168.63.129.16", False),
        ("fd20:ce::254", "fd20:ce::254", False),
    ],
)
def test_listed_hosts_are_reached_only_where_they_belong(host: str, machine: str, reachable: bool) -> None:
    assert may_reach(host, ipaddress.ip_address(machine)) is reachable


@pytest.mark.parametrize("text", ["example.com:80", "example.com", "[::1]:8000", "127.0.0.1:1"])
def test_addresses_are_written_as_they_are_read(text: str) -> None:
    assert str(parse_address(text)) == text


def test_an_address_without_a_port_has_that_of_its_scheme() -> None:
    assert address_of("https://example.com/x") == Address("example.com", 443)
    assert address_of("http://example.com:8080") == Address("example.com", 8080)
