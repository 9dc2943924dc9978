"""How a worker of a DataLoader reports an exception."""

import os
import traceback

from . import _pickling

_FOLDER = os.path.dirname(__file__)


class Failure:
    """An exception of a worker, with its traceback as text."""

    def __init__(self, kind, text):
        self._kind, self._text = kind, text

    @staticmethod
    def of(error, worker):
        shown = error.__traceback__
        while shown is not None and os.path.dirname(shown.tb_frame.f_code.co_filename) == _FOLDER:
            shown = shown.tb_next
        shown = traceback.format_exception(type(error), error, shown or error.__traceback__)
        text = f"in worker {worker} of the DataLoader:\n{''.join(shown).rstrip()}"
        kind = type(error)
        try:
            _pickling.dump_result(kind)
        except Exception:
            kind = RuntimeError
        return Failure(kind, f"{kind.__name__} {text}")

    def raised(self):
        """An exception of the same type, if its constructor accepts a single text."""
        if issubclass(self._kind, KeyError):
            return self._kind(_Shown(self._text))
        try:
            made = self._kind(self._text)
        except Exception:
            made = None
        return made if isinstance(made, Exception) else RuntimeError(self._text)


class _Shown(str):
    """A text for KeyError, which would show the repr of a plain text in one line."""

    def __repr__(self):
        return str(self)
