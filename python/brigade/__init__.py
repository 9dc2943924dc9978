"""Brigade feeds training: a graph in YAML runs in processes, and a program reads its batches.

>>> import brigade
>>> with brigade.Loader(brigade.examples.NUMBERS, tensors="numpy") as loader:
...     for batch in loader:                    # one epoch
...         print(batch["data"].shape, batch.ids)
(4, 2) [0, 1, 2, 3]
(4, 2) [4, 5, 6, 7]
(4, 2) [8, 9, 10, 11]
"""

__version__ = "0.1.0"

try:
    from . import _brigade
except ImportError as error:
    raise ImportError(f"brigade {__version__}: cannot load its library; reinstall the package "
                      f"({error})") from error

if not __version__ == _brigade.VERSION == _brigade.version():
    raise ImportError(f"expected one version, found package {__version__}, module "
                      f"{_brigade.VERSION} and libbrigade {_brigade.version()}; reinstall the "
                      "package, and check LD_LIBRARY_PATH and LD_PRELOAD")

from . import examples
from ._batch import Batch, Row
from ._brigade import Sample, SharedTensor, Task, Tensor
from ._data_fetch import WorkerInfo, get_worker_info
from ._data_loader import DataLoader
from ._errors import (BusyError, DeviceError, Diagnostic, Error, GraphError, HeldError, RunError,
                      UnreadError)
from ._events import Event
from ._input import Input, Slot
from ._loader import Loader
from ._run import Output, Run, open  # noqa: A004
from ._shared import share_parameters
from ._shared_values import SharedArray, SharedMapping, SharedSequence, shared
from ._stage import DROP, TensorType, stage
from ._worker import Worker, attach

#: The folder for CMAKE_PREFIX_PATH: `find_package(Brigade)` finds the headers and libraries of an
#: installed package there, for stages and programs in C++ (`brigade init stage NAME`).
cmake_prefix_path = __path__[0] + "/native"

__all__ = ["Batch", "BusyError", "DROP", "DataLoader", "DeviceError", "Diagnostic", "Error",
           "Event", "GraphError", "HeldError", "Input", "Loader", "Output", "Row", "Run",
           "RunError", "Sample", "SharedArray", "SharedMapping", "SharedSequence", "SharedTensor",
           "Slot", "Task", "Tensor", "TensorType", "UnreadError", "Worker", "WorkerInfo", "attach",
           "cmake_prefix_path", "examples", "get_worker_info", "open", "share_parameters", "shared",
           "stage"]
