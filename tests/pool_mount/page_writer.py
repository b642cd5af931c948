"""Overwrites pages of a file, and says of each that it is on the disks.

Called with a file and the number of a writer. Each page has the number of its write all over, so
that one that is torn or old shows.
"""

import os
import random
import struct
import sys

PAGES = 512
PAGE_BYTES = 8192


def page(number: int) -> bytes:
    return struct.pack("<Q", number) * (PAGE_BYTES // 8)


def main(path: str, seed: str) -> None:
    dice = random.Random(seed)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.truncate(file, PAGES * PAGE_BYTES)
    number = 0
    while True:
        written = {}
        for at in dice.sample(range(PAGES), 4):
            number += 1
            os.pwrite(file, page(number), at * PAGE_BYTES)
            written[at] = number
        os.fdatasync(file)
        for at, what in written.items():
            print(at, what, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
