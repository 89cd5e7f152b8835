# SPDX-License-Identifier: Apache-2.0
"""A small training loop whose loss depends on every bit of every step."""

import hashlib

import torch

STEPS = 9
# steps 3 and 4 are recorded
OPTIONS = {"wait": 2, "warmup": 1, "steps": 2, "verdict": False, "limit_s": 20}


class Numbers(torch.utils.data.Dataset):
    def __init__(self, count, delay=None):
        self.count, self.delay = count, delay

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.delay is not None:
            self.delay()
        generator = torch.Generator().manual_seed(index)
        return torch.randn(32, generator=generator), index % 10


def model():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    return torch.nn.Sequential(
        torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)
    )


def train(prof=None, each=None, workers=0, steps=STEPS):
    """Trains; the digest of all losses."""
    network = model()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(Numbers(8 * steps), batch_size=8, num_workers=workers)
    digest = hashlib.sha256()
    for step, (numbers, labels) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(network(numbers), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        digest.update(loss.detach().numpy().tobytes())
        if prof is not None:
            prof.step()
        if each is not None:
            each(step)
    return digest.hexdigest()
