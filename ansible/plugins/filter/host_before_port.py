"""Ansible filter: a host as it is written before a port."""

from __future__ import annotations

DOCUMENTATION = r"""
name: host_before_port
short_description: Write a host so that a colon and a port can follow
version_added: 0.1.0
description:
  - Puts an address of IPv6 into brackets, and leaves names and addresses of IPv4 as they are.
author: The Sluice authors
options:
  _input:
    description: A name or an address.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Say where it listens
  ansible.builtin.debug:
    msg: "{{ 'fd00::1' | sluice.stores.host_before_port }}:7411"
"""

RETURN = r"""
_value:
  description: The host, C([fd00::1]) in the example.
  type: str
"""


def host_before_port(host: str) -> str:
    """The host, in brackets where it has colons itself."""
    return f"[{host}]" if ":" in host else host


class FilterModule:
    """What Ansible looks for."""

    def filters(self) -> dict:
        """The filters by name."""
        return {"host_before_port": host_before_port}
