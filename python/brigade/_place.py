"""The place of a call in the program, for messages of the run."""

import sys


def place_of_caller(depth):
    """The first frame, from `depth` on, outside this package and progress bars."""
    frame = sys._getframe(depth)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(("brigade.", "tqdm")):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
