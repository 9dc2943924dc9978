"""Batches on a device: a torch GPU, or "host", a GPU emulator of threads for tests."""

import importlib

from ._errors import DeviceError
from ._log import logger

HOST = "host"
PREFETCH = 2


class Device:
    """A device that Brigade itself copies to. Its memory belongs to torch."""

    def __init__(self, name, where):
        self.name, self.where = name, where  # where: a torch.device

    @property
    def is_host(self):
        return self.name == HOST

    def stream(self):
        """torch's current stream; None: the calling thread."""
        import torch
        return None if self.is_host else torch.cuda.current_stream(self.where)


def _torch():
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise DeviceError(f"batches on a device need torch, which cannot be imported: {error}; "
                          "install it (pip install torch)") from None


def device_of(device):
    """The Device for `device`, or None if only torch copies to it."""
    torch = _torch()
    if isinstance(device, str) and device == HOST:
        return Device(HOST, torch.device("cpu"))
    where = torch.device(device)
    if where.type != "cuda" or getattr(torch.version, "hip", None):
        return None
    if torch.version.cuda is None:
        raise DeviceError(f"device {where}: this torch, {torch.__version__}, was built without "
                          "CUDA; install the one of PyPI (pip install torch)")
    try:
        torch.cuda.init()
        count = torch.cuda.device_count()
    except (RuntimeError, AssertionError) as error:
        raise DeviceError(f"device {where}: {str(error).strip().splitlines()[0]}") from None
    index = torch.cuda.current_device() if where.index is None else where.index
    if index >= count:
        raise DeviceError(f"device cuda:{index}: there " + (
            "is 1 GPU, cuda:0" if count == 1 else f"are {count} GPUs, cuda:0 to cuda:{count - 1}"))
    return Device(f"cuda:{index}", torch.device("cuda", index))


def device_of_loader(device, tensors):
    """The Device for all batches of a loader; None: batches stay in host memory."""
    if device is None or str(device) == "cpu":
        return None
    if tensors not in (None, "torch"):
        raise TypeError(f"device={device!r}: batches on a device are torch tensors, found "
                        f"tensors={tensors!r}; omit tensors=")
    try:
        found = device_of(device)
    except (RuntimeError, TypeError) as error:
        if isinstance(error, DeviceError):
            raise
        found = None
    if found is None:
        raise ValueError(f"device={device!r}: expected cuda, cuda:N, host, or cpu")
    return found


class Ways:
    """Uploads from the memory of a run to devices, each opened by its first batch."""

    def __init__(self, run):
        self._run, self._uploads = run, {}  # run: of the C module, and perhaps closed

    def to(self, device):
        """The uploads of a device; None if the run was closed before the first one."""
        uploads = self._uploads.get(device.name)
        if uploads is None and self._run is not None:
            try:
                uploads = self._uploads[device.name] = self._run.uploads(device.name)
            except ValueError:  # it is closed
                return None
            report = uploads.report()
            (logger.info if report.startswith("pinned") else logger.warning)("%s", report)
        return uploads

    def close(self):
        """Forgets the run: torch copies batches that are still held."""
        self._run = None
        self._uploads.clear()


def send(raw, names, uploads, device):
    """Starts to copy a batch of the C module; returns its tensors on the device, by name, and the
    Upload."""
    import torch
    size = raw.describe()[0]
    tensors, addresses, targets = [], [], {}
    for name in names:
        whole = raw.tensor(name)
        parts = [raw.row(i, name) for i in range(size)] if whole.ragged else [whole]
        made = [torch.empty(part.shape, dtype=getattr(torch, part.dtype), device=device.where)
                for part in parts]
        targets[name] = made if whole.ragged else made[0]
        for part, target in zip(parts, made):
            if part.nbytes > 0:
                tensors.append(part)
                addresses.append(target.data_ptr())
    stream = device.stream()
    upload = uploads.copy(raw, tuple(tensors), tuple(addresses),
                          0 if stream is None else stream.cuda_stream, targets)
    return targets, upload


class Arrival:
    """Makes the first stream that uses the tensors wait for them."""

    __slots__ = ("_upload", "_device", "_tensors")

    def __init__(self, upload, device, tensors):
        self._upload, self._device, self._tensors = upload, device, tensors

    def __call__(self):
        stream = self._device.stream()
        self._upload.wait_on(0 if stream is None else stream.cuda_stream)
        if stream is None:
            return
        for value in self._tensors.values():
            for tensor in value if isinstance(value, list) else [value]:
                tensor.record_stream(stream)  # it may be another than that it was allocated for
