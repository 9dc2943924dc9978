#!/usr/bin/env python3
"""Prints the rooms in the order of the data: names and lines of each, what it includes of other
rooms, and how many of these includes climb to a room above it (a test, `style`, allows none). A
public header counts to the room that implements it.

    tools/rooms.py [ROOT]
"""

import pathlib
import sys
from dataclasses import dataclass, field

from sources import included, load
from style import homes, room_of
from style_tables import ROOMS


@dataclass
class Room:
    names: set = field(default_factory=set)
    lines: int = 0
    down: int = 0
    up: int = 0


def rooms(root: pathlib.Path):
    """The rooms that have files of C++, by name, in the order of the data."""
    found = {name: Room() for name in ROOMS}
    sources = list(load(root))
    home = homes(sources)

    def room_of_file(path):
        return home.get(path) or room_of(path)

    for source in sources:
        name = room_of_file(source.path) if source.is_cpp else None
        if name is None:
            continue
        room = found[name]
        room.names.add(source.path.rpartition(".")[0])
        room.lines += len(source.lines)
        for other in filter(None, map(room_of_file, included(source))):
            room.down += ROOMS.index(other) < ROOMS.index(name)
            # A public header that is only a header is where its user is.
            room.up += ROOMS.index(other) > ROOMS.index(name) > 0
    return {name: room for name, room in found.items() if room.names}


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    found = rooms(root if root.is_dir() else root.parent.parent)
    print(f"{'room':28}{'names':>8}{'lines':>8}{'down':>8}{'up':>8}")
    for name, room in found.items():
        print(f"{name:28}{len(room.names):8}{room.lines:8}{room.down:8}{room.up:8}")
    product = [room for name, room in found.items() if name not in ("tests", "bench")]
    print(f"{'without tests and bench':28}{sum(len(room.names) for room in product):8}"
          f"{sum(room.lines for room in product):8}{sum(room.down for room in product):8}"
          f"{sum(room.up for room in product):8}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
