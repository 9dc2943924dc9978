"""Objects on their way between a program and the workers of its DataLoader: pickled, with the
contents of arrays and tensors next to the pickle, so that they are stored once and read in
place."""

import io
import linecache
import os
import pickle
import sys
import threading
import types

from . import _handed
from ._brigade import Lease
from ._errors import NotPicklable
from ._main_classes import MAIN, WithClasses
from ._memmaps import Files

ALIGNMENT = 64  # of contents, in bytes: what vector instructions like
_PROTOCOL = 5
_ITS_OWN_WAY = object.__lt__(0, 0)  # of reducer_override(): as it is pickled anyway


def aligned(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


def cloudpickle():
    try:
        import cloudpickle as found
    except ImportError:
        return None
    return found


# --- tensors of torch -----------------------------------------------------------------------------

_registering = threading.RLock()
_addresses = {}  # of tensors, by their PickleBuffer's id, while something is pickled


def _tensor_of(buffer, dtype, shape, strides, requires_grad):
    """Creates a tensor. `strides`: None for elements in the usual order."""
    import torch
    dtype = getattr(torch, dtype)
    if 0 in shape:
        made = torch.empty(shape, dtype=dtype)
    else:
        made = torch.frombuffer(buffer, dtype=dtype)
        made = made.view(shape) if strides is None else made.as_strided(shape, strides)
    return made.requires_grad_() if requires_grad else made


def _is_permuted(tensor):
    """True if its memory is contiguous, but in another order (channels_last, a transpose)."""
    strides = tensor.stride()
    return tensor.permute(sorted(range(len(strides)), key=lambda i: -strides[i])).is_contiguous()


def _reduce_tensor(tensor, torch):
    """Reduces a plain tensor in CPU memory; others are pickled by torch. It avoids calls that most
    tensors do not need, because the batch has emptied the caches of their code."""
    if tensor.layout is not torch.strided or not tensor.is_cpu or tensor.is_quantized or \
            tensor.is_nested:
        return _ITS_OWN_WAY
    plain, needs_grad = tensor, tensor.requires_grad
    if needs_grad:
        if tensor.grad_fn is not None:
            raise NotPicklable("a tensor computed by autograd cannot be sent between processes; "
                               "return tensor.detach()")
        plain = tensor.detach()
    if plain.is_conj() or plain.is_neg():
        plain = plain.resolve_conj().resolve_neg()
    strides = None
    if not plain.is_contiguous():
        if _is_permuted(plain):
            strides = plain.stride()
        else:
            plain = plain.contiguous()
    size = plain.numel() * plain.element_size()
    address = plain.data_ptr() if size else 0
    if size and not address:  # zeros that torch does not store
        plain = plain.clone()
        address = plain.data_ptr()
    buffer = pickle.PickleBuffer(Lease(plain, address, size))
    _addresses[id(buffer)] = address
    return _tensor_of, (buffer, str(plain.dtype)[len("torch."):], tuple(plain.shape), strides,
                        needs_grad)


def _storage_of(buffer):
    import torch
    made = torch.frombuffer(buffer, dtype=torch.uint8) if len(buffer) else torch.empty(
        0, dtype=torch.uint8)
    return made.untyped_storage() if hasattr(made, "untyped_storage") else made.storage().untyped()


def _reduce_storage(storage):
    """Reduces a storage, because torch writes a pickle that it cannot read (1.13 to 2.15)."""
    buffer = pickle.PickleBuffer(Lease(storage, storage.data_ptr(), storage.nbytes()))
    _addresses[id(buffer)] = storage.data_ptr()
    return _storage_of, (buffer,)


def _reduce(thing):
    """The reduction for objects that are pickled differently here; _ITS_OWN_WAY for all others."""
    kind = type(thing)
    torch = sys.modules.get("torch")
    if torch is not None and kind is torch.Tensor:
        return _reduce_tensor(thing, torch)
    if torch is not None and kind is getattr(torch, "UntypedStorage", None) and \
            thing.device.type == "cpu":
        return _reduce_storage(thing)
    numpy = sys.modules.get("numpy")
    if numpy is not None and kind is numpy.ndarray and not thing.dtype.hasobject and not (
            thing.flags.c_contiguous or thing.flags.f_contiguous):
        return thing.copy().__reduce_ex__(_PROTOCOL)
    return _ITS_OWN_WAY


class _Plain(pickle.Pickler):
    reducer_override = staticmethod(_reduce)


_descriptors = []  # of torch's shared memory and of files, which a payload keeps open
_files = Files(_descriptors)  # of the payload that is being pickled


def _shared_tensor_of(process, descriptor, size, dtype, shape, strides, offset):
    """Creates a tensor in the same memory, in a worker."""
    import torch
    descriptor = os.open(f"/proc/{process}/fd/{descriptor}", os.O_RDWR)
    try:
        storage = torch.UntypedStorage._new_shared_fd_cpu(descriptor, size)
    finally:
        os.close(descriptor)
    return torch.empty(0, dtype=getattr(torch, dtype)).set_(storage, offset, shape, strides)


def _reduce_shared_tensor(tensor, torch):
    """Reduces a tensor of share_memory_(): workers get the memory itself, as with torch."""
    whole = getattr(tensor, "untyped_storage", None)
    storage = whole() if whole else tensor.storage().untyped()
    offset = tensor.storage_offset()
    if torch.multiprocessing.get_sharing_strategy() == "file_system":
        _, name, contents = storage._share_filename_cpu_()
        descriptor = os.open("/dev/shm" + name.decode(), os.O_RDWR)
        size = os.fstat(descriptor).st_size  # with torch's counter in front
        offset += (size - contents) // tensor.element_size()
    else:
        descriptor, size = storage._share_fd_cpu_()
        descriptor = os.dup(descriptor)
    _descriptors.append(descriptor)
    return _shared_tensor_of, (os.getpid(), descriptor, size, str(tensor.dtype)[len("torch."):],
                               tuple(tensor.shape), tensor.stride(), offset)


def _reduce_payload(thing):
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    made = None
    if torch is not None and type(thing) is torch.Tensor and thing.is_cpu and \
            thing.layout is torch.strided and not thing.is_nested and thing.numel() and \
            not (thing.requires_grad or thing.is_quantized or thing.is_conj() or thing.is_neg()):
        made = _reduce_shared_tensor(thing, torch) if thing.is_shared() else \
            numpy and _files.reduce_tensor(thing)
    elif numpy is not None and type(thing) in (numpy.ndarray, numpy.memmap):
        made = _files.reduce(thing)
    return made or _handed.reduce(thing) or _reduce(thing)


class _Refusing(pickle.Pickler):
    """Rejects definitions of __main__, which plain pickle would name but a worker does not know."""

    def reducer_override(self, thing):
        if isinstance(thing, type) or hasattr(thing, "__code__"):
            name = getattr(thing, "__qualname__", "")
            where = ("in __main__, which workers do not run"
                     if getattr(thing, "__module__", None) in MAIN else
                     "inside a function" if "<locals>" in name else
                     "as a lambda" if "<lambda>" in name else None)
            if where is not None:
                raise NotPicklable(f"{name} is defined {where}; install cloudpickle (pip install "
                                   "cloudpickle), or move it to the top of a module")
        return _reduce_payload(thing)


def _make_code(arguments, file, lines):
    """Creates code in a worker. `lines`: source that is not in a file, such as a notebook cell."""
    if lines:
        linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    return types.CodeType(*arguments).replace(co_filename=file)


def _reduce_code(made, file):
    """Adds the file to `made`, cloudpickle's reduction of code, which omits it (3.1): tracebacks of
    workers then have the user's lines."""
    is_file = os.path.exists(file)
    return _make_code, (made[1], os.path.abspath(file) if is_file else file,
                        None if is_file else linecache.getlines(file))


def _by_value():
    """A pickler that supports lambdas and definitions of __main__ or of functions; None without
    cloudpickle."""
    found = cloudpickle()
    if found is None:
        return None

    class ByValue(found.CloudPickler):
        def dump(self, thing):
            spawned = sys.modules.get(MAIN[1])
            if spawned is None:
                return super().dump(thing)
            with _registering:
                if MAIN[1] in found.list_registry_pickle_by_value():
                    return super().dump(thing)
                found.register_pickle_by_value(spawned)  # cloudpickle knows only __main__
                try:
                    return super().dump(thing)
                finally:
                    found.unregister_pickle_by_value(spawned)

        def reducer_override(self, thing):
            if type(thing) is types.CodeType:
                return _reduce_code(self.dispatch_table[type(thing)](thing), thing.co_filename)
            made = _reduce_payload(thing)
            return super().reducer_override(thing) if made is _ITS_OWN_WAY else made

    return ByValue


def _dump(pickler, thing):
    buffers, file = [], io.BytesIO()
    _addresses.clear()
    try:
        pickler(file, protocol=_PROTOCOL, buffer_callback=buffers.append).dump(thing)
        return file.getbuffer(), [(one, _addresses.get(id(one))) for one in buffers]
    finally:
        _addresses.clear()


def dump_result(thing):
    """Pickles the result of a worker, with a list of (PickleBuffer, its address or None)."""
    try:
        return _dump(_Plain, thing)
    except (NotPicklable, MemoryError):
        raise
    except Exception as error:
        why, by_value = error, _by_value()
    try:
        if by_value is not None:
            return _dump(by_value, thing)  # gives classes of the program back as that knows them
    except MemoryError:
        raise
    except Exception as error:
        why = error
    raise NotPicklable(f"the result of a worker cannot be sent to the program: {why}") from why


def dump_payload(thing):
    """The same for data of workers, with descriptors that must stay open until workers have read
    it."""
    by_value = _by_value()
    return _dump_payload(by_value or _Refusing, lambda: WithClasses(thing, by_value, _PROTOCOL))


def _dump_payload(pickler, make):
    global _files
    _descriptors.clear()
    _files = Files(_descriptors)
    try:
        with _handed.spawning(_descriptors):
            return *_dump(pickler, make()), tuple(_descriptors)
    except BaseException:
        close_all(_descriptors)
        raise


def close_all(descriptors):
    for one in descriptors:
        os.close(one)


def load(head, buffers):
    return pickle.loads(head, buffers=buffers)


# --- why not --------------------------------------------------------------------------------------

_DEPTH_MAX = 6


def _pickles(thing):
    try:
        close_all(_dump_payload(_by_value() or _Refusing, lambda: thing)[2])
    except Exception as error:
        return error
    return None


def _parts(thing):
    if isinstance(thing, dict):
        return [(f"[{key!r}]", value) for key, value in list(thing.items())[:1000]]
    if isinstance(thing, (list, tuple)):
        return [(f"[{i}]", value) for i, value in enumerate(thing[:1000])]
    named = getattr(thing, "__dict__", None)
    return [(f".{key}", value) for key, value in named.items()] if isinstance(named, dict) else []


_MANY = 1_000_000  # strings in a list
_LOOKED_AT_MAX = 2000  # parts of a dataset


def _has_text(value):
    return isinstance(value, str) or (isinstance(value, (tuple, list)) and
                                      any(isinstance(one, str) for one in value[:8]))


def _is_long(thing):
    if not isinstance(thing, (list, tuple, dict)) or len(thing) <= _MANY:
        return False
    first = next(iter(thing.items() if isinstance(thing, dict) else thing))
    return _has_text(first)


def long_list(parts):
    """(name, thing) of a list, tuple or dict with more than a million strings in the data of
    workers; or None."""
    looked, seen = [("", parts)], {id(parts)}
    for name, thing in looked:
        if _is_long(thing):
            return name, thing
        for part, value in _parts(thing):
            if id(value) not in seen and len(looked) < _LOOKED_AT_MAX and \
                    not isinstance(value, (str, bytes, int, float, type)):
                seen.add(id(value))
                looked.append((name + part if name else part[2:-2], value))
    return None


def _global_of(thing, seen):
    """A global that code of __main__ uses and that cannot be pickled: names of both, the global,
    and the reason."""
    kind = thing if isinstance(thing, (type, types.FunctionType)) else type(thing)
    if kind.__module__ not in MAIN or kind in seen:
        return None
    seen.add(kind)
    functions = [kind] if isinstance(kind, types.FunctionType) else [
        getattr(one, "__func__", one) for one in vars(kind).values()]
    for function in functions:
        for used in getattr(getattr(function, "__code__", None), "co_names", ()):
            value = getattr(function, "__globals__", {}).get(used)
            inner = _global_of(value, seen)
            error = None if inner or getattr(value, "__module__", None) in MAIN else _pickles(value)
            if inner or error:
                return inner or (function.__qualname__, used, value, error)
    return None


def why_not(parts):
    """A NotPicklable that names the part that cannot be pickled, and what to do."""
    name, thing, error = "", parts, _pickles(parts)
    for _ in range(_DEPTH_MAX):
        for part, value in _parts(thing):
            found = _pickles(value)
            if found is not None and (isinstance(found, NotPicklable) or
                                      not isinstance(error, NotPicklable)):
                name, thing, error = (name + part if name else part[2:-2]), value, found
                break
        else:
            break
    if isinstance(error, NotPicklable):
        return NotPicklable(f"{name}: {error}")
    found = _global_of(thing, set())
    if found is not None:
        user, used, value, error = found
        return NotPicklable(
            f"{name}: {user} uses the global {used}, a {type(value).__name__}, which cannot be "
            f"sent to workers ({error}); move {user.partition('.')[0]} and {used} to a module "
            "that workers can import, or use multiprocessing_context='fork' or num_workers=0")
    return NotPicklable(
        f"{name}, a {type(thing).__name__}, cannot be sent to workers ({error}); open it on "
        "first use in the worker or in worker_init_fn, omit it in __getstate__(), or use "
        "multiprocessing_context='fork' or num_workers=0")
