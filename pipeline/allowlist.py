"""Which network addresses may be reached: a list of hosts and ports, checked by name and again once resolved.

Knows nothing of how traffic flows: `egress` enforces it outside the browser, and environments ask before they go.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import NamedTuple

from pipeline.addresses import parts_of
from pipeline.errors import ConfigError

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

DEFAULT_PORTS = {"http": 80, "https": 443}
"""Schemes that may be asked for, with the port they stand for."""

_METADATA = frozenset(
    ipaddress.ip_address(number)
    for number in (
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:42::42",
        "fd00:c1::a9fe:a9fe",
        "fd00:ec2::23",
        "fd00:ec2::254",
        "fd20:ce::254",
    )
)
"""Services of clouds that tell a machine's secrets, outside the link-local range."""
_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All IPv6 addresses that are given to machines of the public."""
_SPECIAL = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")))
"""Ranges for special uses that not every version of Python knows for it."""
_CARRYING = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
"""IPv6 ranges whose last four bytes are the IPv4 machine that a gateway passes traffic on to."""


class Address(NamedTuple):
    """A host and, unless any will do, a port."""

    host: str
    port: int | None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


class AllowList:
    """Addresses that may be reached: `host`, `host:port`, and `*.domain` for its subdomains; nothing else.

    A named host must resolve to public machines and `localhost` to this one. A private or loopback machine is reachable
    only when its own number is listed; link-local and metadata addresses never are, whatever the list says. An address
    that is translated counts as the machine behind it.
    """

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self._entries = frozenset(parse_address(text) for text in entries)

    def permits(self, address: Address) -> bool:
        """Whether a host and port are listed, by name."""
        labels = address.host.split(".")
        hosts = [address.host, *("*." + ".".join(labels[index:]) for index in range(1, len(labels)))]
        return any(Address(host, port) in self._entries for host in hosts for port in (address.port, None))

    def permits_url(self, url: str) -> bool:
        """Whether a web address may be opened: http or https, to a listed host and port."""
        try:
            return self.permits(address_of(url))
        except ConfigError:
            return False


def may_reach(host: str, machine: IpAddress) -> bool:
    """Whether a listed host may be reached at the machine it resolves to."""
    machine = getattr(machine, "ipv4_mapped", None) or machine
    carried = _carried(machine)
    if carried is not None:
        return host != "localhost" and _is_public(carried)
    if machine.is_link_local or machine.is_multicast or machine.is_unspecified or machine in _METADATA:
        return False
    if host == "localhost":
        return machine.is_loopback
    return _is_public(machine) or host == str(machine)


def _carried(machine: IpAddress) -> ipaddress.IPv4Address | None:
    """The IPv4 machine behind an IPv6 address that a gateway or a tunnel translates."""
    if machine.version == 4 or machine.is_loopback or machine.is_unspecified:
        return None
    if any(machine in network for network in _CARRYING):
        return ipaddress.IPv4Address(machine.packed[-4:])
    return machine.sixtofour


def _is_public(machine: IpAddress) -> bool:
    """Whether anyone may have this machine's address, and no service of a cloud has it."""
    if machine in _METADATA or machine.is_multicast or any(machine in network for network in _SPECIAL):
        return False
    return machine.is_global and (machine.version == 4 or machine in _UNICAST)


def address_of(url: str) -> Address:
    """Host and port of an http or https address; raises ConfigError for anything else."""
    parts = parts_of(url)
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise ConfigError(f"'{url}' is not an http or https address")
    return Address(_plain(parts.hostname), DEFAULT_PORTS[parts.scheme] if parts.port is None else parts.port)


def parse_address(text: str) -> Address:
    """An address written `host`, `host:port` or `[ipv6]:port`; raises ConfigError."""
    parts = parts_of(f"//{text}")
    if not parts.hostname or parts.netloc != text or "@" in text:
        raise ConfigError(f"allow: '{text}' is not an address; write host or host:port")
    return Address(_plain(parts.hostname), parts.port)


def _plain(host: str) -> str:
    """One spelling for a host: lower case, no final dot, numbers of machines in their usual form."""
    host = host.lower().rstrip(".")
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host
