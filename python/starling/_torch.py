"""PyTorch modules as own models, with the gradient of each record."""

from __future__ import annotations

import copy
import hashlib
from typing import Any

import numpy as np

from ._errors import UsageError
from ._model import Model, Unknown, add_source, add_value


def transforms():
    """(functional_call, grad_and_value, vmap) of this PyTorch, or None where it has none: then records go one by one."""
    try:
        from torch.func import functional_call, grad_and_value, vmap
        return functional_call, grad_and_value, vmap
    except ImportError:
        pass
    try:
        from functorch import grad_and_value, vmap
        from torch.nn.utils.stateless import functional_call
        return functional_call, grad_and_value, vmap
    except ImportError:
        return None


def names_of_parameters(module):
    """{name: first name of the same parameter}, of all places in which parameters stand: layers may share one."""
    first, names = {}, {}
    for prefix, each in module.named_modules():
        for name, parameter in each.named_parameters(prefix, recurse=False):
            names[name] = first.setdefault(id(parameter), name)
    return names


class TorchModel(Model):
    """A module of PyTorch and its loss. Made by `starling.torch`."""

    def __init__(self, module, loss, classifies, keep_start):
        import torch

        self._torch = torch
        self._module = copy.deepcopy(module).to(dtype=torch.float64, device="cpu").eval()
        self._loss = loss
        self._parameters = dict(self._module.named_parameters())
        self._flat = self._one_vector()
        self._names = names_of_parameters(self._module)
        self._kept_start = self._values_of(self._module) if keep_start else None
        self._transforms = transforms()
        self._width = None
        self.classifies = classifies
        if any(not each.requires_grad for each in self._parameters.values()):
            raise UsageError("starling.torch: a parameter without gradient. Make it a buffer.")

    def dimension(self, features):
        return sum(each.numel() for each in self._parameters.values())

    def start(self, seed):
        if self._kept_start is not None:
            return self._kept_start
        module = copy.deepcopy(self._module)
        with self._torch.random.fork_rng(devices=[]):
            self._torch.manual_seed(seed % 2**63)
            for each in module.modules():
                if hasattr(each, "reset_parameters"):
                    each.reset_parameters()
        return self._values_of(module)

    def _one_vector(self):
        """All parameters of the module as one vector, of which they are views from now on."""
        flat, at = self._torch.cat([each.detach().reshape(-1) for each in self._parameters.values()]), 0
        for each in self._parameters.values():
            each.data = flat[at:at + each.numel()].view(each.shape)
            at += each.numel()
        return flat

    def _go_to(self, point):
        """Gives the module the parameters of a point."""
        self._flat.copy_(self._torch.from_numpy(np.array(point)))

    @staticmethod
    def _values_of(module):
        return np.concatenate([each.detach().numpy().ravel() for each in module.parameters()])

    def _split(self, point):
        """{name: tensor} of a point."""
        vector, found, at = self._torch.from_numpy(np.array(point)), {}, 0
        for name, each in self._parameters.items():
            found[name] = vector[at:at + each.numel()].reshape(each.shape)
            at += each.numel()
        return found

    def _scores_of_a_record(self, x):
        """Number of scores, from the first record that the model meets."""
        if self._width is None and len(x) > 0:
            with self._torch.no_grad():
                self._width = self._module(self._torch.tensor(np.array(x[:1]))).numel()
        return self._width

    def _labels(self, x, y):
        """Labels as the loss takes them. Raises ValueError for labels, or a number of scores, that do not fit `classifies`."""
        labels, width = np.array(y), self._scores_of_a_record(x)
        if not self.classifies:
            if width not in (None, 1):
                raise ValueError(f"starling.torch: the module has {width} scores for a record, and a regression has one. Give "
                                 "classifies=True if labels are classes.")
            return self._torch.from_numpy(labels)
        known = labels[labels != getattr(self._loss, "ignore_index", np.nan)]
        if (known != np.floor(known)).any() or width is not None and width > 1 and ((known < 0) | (known >= width)).any():
            classes = "0, 1, 2, …" if width is None else f"0 to {width - 1}: the module has {width} scores"
            raise ValueError(f"starling.torch: a label is no number of a class. Classes are {classes}.")
        return self._torch.from_numpy(labels.astype(np.int64))

    def _loss_of_record(self, call, parameters, x, y):
        """Loss and scores."""
        everywhere = {name: parameters[first] for name, first in self._names.items()}
        scores = call(self._module, everywhere, (x.unsqueeze(0),))
        scores = scores if self.classifies else scores.reshape(1)
        return self._loss(scores, y.unsqueeze(0)), scores

    def _predicted(self, scores):
        return (scores.argmax(dim=1) if self.classifies else scores.reshape(len(scores))).numpy()

    def gradients(self, point, x, y):
        y, x = self._labels(x, y), self._torch.from_numpy(np.array(x))
        if self._transforms is None or len(x) == 1:
            return self._one_by_one(point, x, y)
        call, grad_and_value, vmap = self._transforms
        of_record = grad_and_value(lambda values, a, b: self._loss_of_record(call, values, a, b), has_aux=True)
        rows, (losses, scores) = vmap(of_record, in_dims=(None, 0, 0))(self._split(point), x, y)
        rows = self._torch.cat([rows[name].reshape(len(x), -1) for name in self._parameters], dim=1)
        return losses.detach().numpy(), rows.detach().numpy(), self._predicted(scores.detach().reshape(len(x), -1))

    def _one_by_one(self, point, x, y):
        def call(module, _, arguments):
            return module(*arguments)

        self._go_to(point)
        losses, rows, scores = np.empty(len(x)), np.zeros((len(x), len(self._flat))), []
        for i in range(len(x)):
            loss, own_scores = self._loss_of_record(call, self._parameters, x[i], y[i])
            parts = self._torch.autograd.grad(loss, list(self._parameters.values()), allow_unused=True)
            at = 0
            for parameter, part in zip(self._parameters.values(), parts):
                if part is not None:
                    rows[i, at:at + part.numel()] = part.numpy().reshape(-1)
                at += parameter.numel()
            losses[i] = loss.item()
            scores.append(own_scores.detach().reshape(1, -1))
        return losses, rows, self._predicted(self._torch.cat(scores))

    def _scores(self, point, x):
        self._go_to(point)
        with self._torch.no_grad():
            return self._module(self._torch.from_numpy(np.array(x)))

    def losses(self, point, x, y):
        scores, y = self._scores(point, x), self._labels(x, y)
        scores = scores if self.classifies else scores.reshape(len(x))
        if self._transforms is None:
            return np.array([self._loss(scores[i:i + 1], y[i:i + 1]).item() for i in range(len(x))])
        return self._transforms[2](lambda s, label: self._loss(s.unsqueeze(0), label.unsqueeze(0)))(scores, y).numpy()

    def predict(self, point, x):
        return self._predicted(self._scores(point, x))

    def identity(self):
        """SHA-256 of PyTorch's version, the module's structure and constants, and the files of its classes and of the loss; empty
        where these cannot be read."""
        digest = hashlib.sha256(f"{self._torch.__version__} {self._module!r} {self.classifies}".encode())
        try:
            self._add_loss(digest)
            for each in self._module.modules():
                self._add_code(digest, type(each))
            add_value(digest, {name: each.numpy() for name, each in self._module.named_buffers()})
            add_value(digest, self._kept_start)
        except Unknown:
            return ""
        return digest.hexdigest()

    def _add_loss(self, digest):
        if isinstance(self._loss, self._torch.nn.Module):
            digest.update(repr(self._loss).encode())
            add_value(digest, {name: each.detach().numpy() for name, each in self._loss.state_dict().items()})
            return self._add_code(digest, type(self._loss))
        if getattr(self._loss, "__closure__", True):
            raise Unknown("a loss that is no plain function")
        digest.update(self._loss.__qualname__.encode())
        return self._add_code(digest, self._loss)

    @staticmethod
    def _add_code(digest, thing):
        if not (thing.__module__ or "").startswith("torch."):
            add_source(digest, thing)


def torch(module: Any, loss: Any, *, classifies: bool = False, keep_start: bool = False) -> Model:
    """An own model from a PyTorch module.

    `loss(scores, labels)` is asked for one record at a time: scores (1, classes) and a label (1,) if `classifies`, else (1,) and
    (1,). Per-record gradients come from torch.func or functorch, else from a loop over records. The module is copied, takes
    float64, and is used in evaluation mode: no dropout, and no statistics of batches. It starts from its layers' own random
    start, drawn from the run's seed; with `keep_start` from the parameters that it has, which are then public.
    """
    return TorchModel(module, loss, classifies, keep_start)
