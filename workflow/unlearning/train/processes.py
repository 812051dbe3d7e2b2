"""Several processes that train one model: each takes its part of a step's examples, gradients and losses are summed.

Whoever starts the processes also joins them to a group of `torch.distributed`. Without one there is one process, and
nothing here changes anything.
"""

import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

from unlearning.models.layers import decoder_of


def world_size() -> int:
    """How many processes train together."""
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    """Which of them this one is, from 0. Number 0 alone writes files."""
    return dist.get_rank() if dist.is_initialized() else 0


def summed(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor`, which becomes the sum of all processes' ones: the same in each of them."""
    if world_size() > 1:
        dist.all_reduce(tensor)
    return tensor


def sum_gradients(model: nn.Module) -> None:
    """Let every gradient of `model` be the sum of all processes' ones; those of shards are that already.

    PyTorch's DistributedDataParallel does this in the last backward pass, for weights which that pass uses. A step here
    may end with a pass through some layers only (terms on hidden states), so it is done after all passes.
    """
    gradients = (parameter.grad for parameter in model.parameters() if parameter.grad is not None)
    waiting = [dist.all_reduce(g, async_op=True) for g in gradients if world_size() > 1 and not isinstance(g, DTensor)]
    for one in waiting:
        one.wait()


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor whose parts lie with the processes, put together in each of them; any other as it is."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def shard(model: nn.Module, device: str) -> nn.Module:
    """Leave to each process its part of every weight of `model`, on its `device`; an empty copy, for `gathered`.

    A layer's weights are put together for as long as it computes (`fully_shard`). ValueError where there is but one
    process.
    """
    if world_size() < 2:
        raise ValueError("sharding: full spreads the weights over several processes; set scale.processes")
    nothing = {id(p): nn.Parameter(torch.empty_like(p, device="meta"), p.requires_grad) for p in model.parameters()}
    empty = copy.deepcopy(model, nothing)
    mesh = init_device_mesh(device, (world_size(),))
    for module in (*decoder_of(model).layers, model):
        # The rest, too, is given back after each forward pass: a method may change weights between two of them.
        fully_shard(module, mesh=mesh, reshard_after_forward=True)
        module.set_gradient_divide_factor(1.0)  # a sum, no mean; and as such, since gloo knows no other
        module.set_force_sum_reduction_for_comms(True)
    return empty


def gathered(model: nn.Module, empty: nn.Module) -> nn.Module:
    """In process 0 a plain model on the CPU with the weights of the sharded `model`; every process has to ask."""
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    weights, plain = get_model_state_dict(model, options=options), copy.deepcopy(empty)
    if rank() == 0:
        plain.load_state_dict(weights, assign=True)
        plain.tie_weights()
    return plain
