"""Models with parameters in a tensor of `shared:`."""


def share_parameters(module, tensor, fill=None):
    """Moves the parameters and buffers of a torch module into a SharedTensor of one dimension. From
    then on they are that memory, which all processes that called this train together. Call it
    before you make an optimizer of them.

    `fill`: whether the module's values are stored; otherwise the module takes the stored values.
    None: stored if this replica initializes the tensor.
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
                         f"{flat.dtype}, and the module {elements} of {has}: give it "
                         f"`shape: [{elements}]` and that dtype")
    at = 0
    with torch.no_grad():
        for one in held:
            place = flat[at:at + one.numel()].view(one.shape)
            if tensor.fill if fill is None else fill:
                place.copy_(one)
            one.data = place
            at += one.numel()
