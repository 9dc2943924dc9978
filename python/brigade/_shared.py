"""Models with parameters in a tensor of `shared:`."""


def share_parameters(module, tensor, fill=None):
    """Moves the parameters and buffers of a torch module into a SharedTensor of one dimension. All
    processes that call this train the same memory. Call it
    before you create an optimizer.

    `fill`: store the values of the module; otherwise the module takes the stored values.
    None: store them if this replica initializes the tensor.
    """
    import numpy
    import torch

    flat = torch.from_numpy(numpy.asarray(tensor).reshape(-1))
    held = [*module.parameters(), *module.buffers()]
    elements = sum(one.numel() for one in held)
    dtypes = {one.dtype for one in held}
    if elements != flat.numel() or dtypes != {flat.dtype}:
        has = ", ".join(sorted(map(str, dtypes))) or "none"
        raise ValueError(f"shared tensor {tensor.name!r} has {flat.numel()} elements of "
                         f"{flat.dtype}, but the module has {elements} of {has}; write `shape: "
                         f"[{elements}]` and the dtype of the module")
    at = 0
    with torch.no_grad():
        for one in held:
            place = flat[at:at + one.numel()].view(one.shape)
            if tensor.fill if fill is None else fill:
                place.copy_(one)
            one.data = place
            at += one.numel()
