#!/usr/bin/python3 -IS
"""Asks a region server for a major compaction, by HBase's own RPC.

Arguments: HOST of the region server, and the order, start-major-compact, or as one argument
"start-major-compact first-quarter", "... second-quarter", "... first-half" or "... second-half", of
the regions by their names. A command of HBase would start a Java machine, and take CPU from the
load for seconds; the pages of HBase take such orders only with Kerberos (upstream's
InfoServer.canUserModifyUI). It ends when all regions of the table were asked, and needs nothing but
the standard library, of which it takes as little as it can: the load generator beside it has a part
of a processor, and waits for what is used up here.
"""

from __future__ import annotations

import socket
import struct
import sys

# The load's own table, as its binding names it.
TABLE = "usertable"
STATEMENT = "start-major-compact"
PAGE_PORT = 16030
RPC_PORT = 16020
ANSWER_TIMEOUT_SECONDS = 20.0
REGIONS_BEAN = "/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Regions"
# "HBas", version 0, simple authentication: upstream's AuthMethod.SIMPLE.
PREAMBLE = b"HBas\x00\x50"
# Messages and numbers of fields are those of HBase's RPC.proto, HBase.proto and Admin.proto.
REGION_NAME = 1
LENGTH_DELIMITED = 2


def varint(number: int) -> bytes:
    """A whole number as protobuf has it."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def field(number: int, value: int | bytes) -> bytes:
    """A field of a message: a whole number, or bytes, text and messages."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | LENGTH_DELIMITED) + varint(len(value)) + value


def connection_header(user: str) -> bytes:
    """ConnectionHeader, with UserInformation."""
    return field(1, field(1, user.encode())) + field(2, b"AdminService")


def compact_call(call: int, region: str) -> bytes:
    """RequestHeader and CompactRegionRequest, each behind its length."""
    header = field(1, call) + field(3, b"CompactRegion") + field(4, 1)
    # Of a region's name the server looks at its encoded end alone: RegionInfo.encodeRegionName.
    specifier = field(1, REGION_NAME) + field(2, f"{TABLE},,.{region}.".encode())
    request = field(1, specifier) + field(2, 1)
    return varint(len(header)) + header + varint(len(request)) + request


def framed(message: bytes) -> bytes:
    """A message as it is sent, behind its length."""
    return struct.pack(">I", len(message)) + message


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A whole number, and where what follows begins."""
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return number, at


def first_message(message: bytes, number: int) -> bytes | None:
    """The field of a message with that number, of those that have a length."""
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        size, at = read_varint(message, at)
        if key & 7 != LENGTH_DELIMITED:
            continue
        if key >> 3 == number:
            return message[at : at + size]
        at += size
    return None


def refusal(answer: bytes) -> str | None:
    """The class of the exception in a ResponseHeader; None when there is none."""
    length, at = read_varint(answer, 0)
    exception = first_message(answer[at : at + length], 2)
    if exception is None:
        return None
    return (first_message(exception, 1) or b"an exception without a name").decode()


def page(host: str, port: int, path: str) -> tuple[str, str]:
    """The first line of an answer of the server's pages, and its text.

    By hand, as Python's own client of HTTP costs more to load than all else here costs to do.
    """
    request = f"GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n"
    try:
        with socket.create_connection((host, port), ANSWER_TIMEOUT_SECONDS) as connection:
            connection.sendall(request.encode())
            answer = connection.makefile("rb").read().decode(errors="replace")
    except OSError as error:
        raise SystemExit(
            f"http://{host}:{port}{path}: {error}; see the region server's journal on {host}"
        ) from error
    head, _, text = answer.partition("\r\n\r\n")
    return head.partition("\r\n")[0], text


def regions(host: str, port: int = PAGE_PORT) -> list[str]:
    """Encoded names of the table's regions on the server."""
    status, text = page(host, port, REGIONS_BEAN)
    if status.split()[1:2] != ["200"]:
        raise SystemExit(
            f"http://{host}:{port}{REGIONS_BEAN}: {status or 'no answer'}; "
            f"see the region server's journal on {host}"
        )
    found = sorted({part[:32] for part in text.split(f"_table_{TABLE}_region_")[1:]})
    if not found:
        raise SystemExit(f"{host} serves no region of {TABLE}: create the table")
    return found


def ask(host: str, names: list[str], port: int = RPC_PORT) -> None:
    """Give the order for each region; one that is not taken ends this program."""
    try:
        with socket.create_connection((host, port), ANSWER_TIMEOUT_SECONDS) as connection:
            stream = connection.makefile("rb")
            connection.sendall(PREAMBLE + framed(connection_header("hbase")))
            for call, region in enumerate(names):
                connection.sendall(framed(compact_call(call, region)))
                (length,) = struct.unpack(">I", stream.read(4))
                refused = refusal(stream.read(length))
                if refused:
                    raise SystemExit(f"{host} did not take the order for {region}: {refused}")
    except (OSError, struct.error, IndexError) as error:
        raise SystemExit(
            f"{host}:{port}: {error}; see the region server's journal on {host}"
        ) from error


def part_of(names: list[str], order: str) -> list[str] | None:
    """The regions that an order means, None for what is no order."""
    quarter, half = len(names) // 4, len(names) // 2
    parts = {
        STATEMENT: names,
        f"{STATEMENT} first-quarter": names[:quarter],
        f"{STATEMENT} second-quarter": names[quarter:half],
        f"{STATEMENT} first-half": names[:half],
        f"{STATEMENT} second-half": names[half:],
    }
    return parts.get(order)


def main() -> None:
    """Give the order that the command line names."""
    if len(sys.argv) != 3 or part_of([], sys.argv[2]) is None:
        raise SystemExit(
            f'usage: ask_for_compaction.py HOST "{STATEMENT}'
            ' [first-quarter|second-quarter|first-half|second-half]"'
        )
    host, order = sys.argv[1:]
    ask(host, part_of(regions(host), order))


if __name__ == "__main__":
    main()
