"""Methods of brigade.Tensor for NumPy and JAX. The C module implements its buffer and DLPack."""

import sys

from ._brigade import Tensor

_known = []  # whether JAX knows the type


def _array(tensor, dtype=None, copy=None):
    """NumPy calls this if it cannot read a buffer: for bfloat16, and to get the reason."""
    import numpy
    if tensor.dtype != "bfloat16":
        return numpy.array(memoryview(tensor), dtype=dtype, copy=copy)
    bits = numpy.asarray(memoryview(tensor._bits()))
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        raise TypeError(f"tensor {tensor.name}: NumPy does not support bfloat16; install "
                        "ml_dtypes (pip install ml_dtypes), or read it with "
                        "torch.from_dlpack()") from None
    array = bits.view(bfloat16)
    return numpy.array(array, dtype=dtype, copy=copy) if dtype is not None or copy else array


def _leaf(tensor):
    import numpy
    return numpy.asarray(tensor)


def _jax_array(tensor):
    """Functions of jax.numpy call this."""
    import jax.numpy
    return jax.numpy.asarray(_leaf(tensor))


Tensor.__array__ = _array
Tensor.__jax_array__ = _jax_array


def known(tensor):
    """Registers the tensor as an argument of jax.jit and jax.device_put if JAX is imported. JAX
    looks up types: the tensor is a tree with one leaf, a NumPy array."""
    if not _known and (trees := sys.modules.get("jax.tree_util")) is not None:
        if (register := getattr(trees, "register_pytree_node", None)) is not None:
            _known.append(True)
            register(Tensor, lambda one: ((_leaf(one),), None), lambda _, leaves: leaves[0])
    return tensor
