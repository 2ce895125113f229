"""Which network addresses may be reached: a list of hosts and ports, checked by name and again once resolved.

Knows nothing of how traffic flows: `egress` enforces it outside the browser, and environments ask before they go.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from pipeline.errors import ConfigError

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

DEFAULT_PORTS = {"http": 80, "https": 443}
"""Schemes that may be asked for, with the port they stand for."""

_METADATA = frozenset({ipaddress.ip_address("100.100.100.200"), ipaddress.ip_address("fd00:ec2::254")})
"""Cloud metadata services outside the link-local range."""


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
    only when its own number is listed; link-local and metadata addresses never are, whatever the list says.
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
    if machine.is_link_local or machine.is_multicast or machine.is_unspecified or machine in _METADATA:
        return False
    if host == "localhost":
        return machine.is_loopback
    return machine.is_global or host == str(machine)


def address_of(url: str) -> Address:
    """Host and port of an http or https address; raises ConfigError for anything else."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"'{url}' is not a readable address") from error
    if parts.scheme not in DEFAULT_PORTS or not host:
        raise ConfigError(f"'{url}' is not an http or https address")
    return Address(_plain(host), DEFAULT_PORTS[parts.scheme] if port is None else port)


def parse_address(text: str) -> Address:
    """An address written `host`, `host:port` or `[ipv6]:port`; raises ConfigError."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"allow: '{text}' is not an address; write host or host:port") from error
    if not host or parts.netloc != text or "@" in text:
        raise ConfigError(f"allow: '{text}' is not an address; write host or host:port")
    return Address(_plain(host), port)


def _plain(host: str) -> str:
    """One spelling for a host: lower case, no final dot, numbers of machines in their usual form."""
    host = host.lower().rstrip(".")
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host
