# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_views.py from the declarations of the library: do not edit.
from . import _core
from ._table import Table

_Text = int | str | None

def offered(view: str) -> list[tuple[str, str | None, str]]: ...
def unknown(kind: str, name: str, known: list[str]) -> _core.UsageError: ...
def check(prefix: str, view: str, options: dict[str, object]) -> None: ...

class Views:
    def utilization(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, sort: _Text = None,
    ) -> Table:
        """How well kernels fill each GPU: SM efficiency, occupancy."""
    def breakdown(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Steps in TensorBoard's parts: kernel, copy, input, other."""
    def phases(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Time by training phase: input, forward, backward, optimizer."""
    def budget(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """GPU time per step: compute, exposed communication, idle."""
    def gaps(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Why each device was idle: by cause, with operator and line."""
    def syncs(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Host syncs, and the GPU idle time they cause."""
    def launches(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Kernel launches: cost, delays, queue depth, late launches."""
    def operators(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Operators by name: calls, host time and device time."""
    def compile(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """torch.compile: regions, graph breaks, eager kernels, guards."""
    def modules(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """nn.Modules: device and host time of forward and backward."""
    def stacks(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Stacks with their device or host time, for flame graphs."""
    def kernels(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Kernels by name: calls, times, occupancy, tensor cores."""
    def durations(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """How long kernels run: calls and time by duration."""
    def sequences(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, sort: _Text = None,
    ) -> Table:
        """Repeated kernel sequences: candidates for fusion."""
    def roofline(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """FLOPs and bytes of operators, compared with the device's peaks."""
    def copies(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Copies and memsets: size, time, bandwidth, time the host waits."""
    def communication(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Collectives: time, exposed communication, bandwidth."""
    def inference(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Inference: prefill and decode steps, batch, tokens, busy time."""
    def memory(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, sort: _Text = None,
    ) -> Table:
        """Memory by device: peaks, reserved but unused memory, growth."""
    def memory_steps(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, sort: _Text = None,
    ) -> Table:
        """Memory by step: minimum, peak, growth, leaks."""
    def memory_ops(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Memory by operator, line or module: who allocates and holds it."""
    def allocations(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Every allocation, largest first: who made it, how long it lived."""
    def memory_curve(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Memory over time: allocated and reserved, to print or plot."""
    def streams(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, sort: _Text = None,
    ) -> Table:
        """Gaps of each stream: late host, launch latency, other."""
    def temporal(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, sort: _Text = None,
    ) -> Table:
        """Budget of the whole file instead of the steps, as in HTA."""
    def files(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, sort: _Text = None,
    ) -> Table:
        """One row per file: rank, recording settings, contents."""
    def devices(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, sort: _Text = None,
    ) -> Table:
        """The devices that were used, and what ran on them."""
    def categories(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, sort: _Text = None,
    ) -> Table:
        """Events in the files, by category."""
    def tracks(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, sort: _Text = None,
    ) -> Table:
        """The threads and streams of the files, and how busy they were."""
    def steps(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, sort: _Text = None,
    ) -> Table:
        """Every step: how long it took and how it was found."""
    def events(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, sort: _Text = None,
    ) -> Table:
        """Every event as it was recorded: name, start, duration, launch."""
    def quality(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, sort: _Text = None,
    ) -> Table:
        """Problems in the files, and data that was not recorded."""
    def ranks(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None,
        group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Ranks side by side: compute, communication, waiting, lateness."""
    def stragglers(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None, sort:
        _Text = None,
    ) -> Table:
        """Stragglers: ranks that delay the others, how often, and why."""
    def collectives(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None,
        group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Collectives across ranks: who is last, how long others wait."""
    def imbalance(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None,
        group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Load imbalance across ranks: phases, modules, kernels."""
    def idle_together(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None, sort:
        _Text = None,
    ) -> Table:
        """All GPUs idle at the same time, and what the hosts do."""
    def clocks(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, sort: _Text = None,
    ) -> Table:
        """Clock offsets between the ranks, and how certain they are."""
    def hang_causes(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None, sort:
        _Text = None,
    ) -> Table:
        """Why ranks wait for each other, from flight recorder dumps."""
    def hang_ranks(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None,
        group: _Text = None, sort: _Text = None,
    ) -> Table:
        """What ranks wait for, from flight recorder dumps."""
    def hang_groups(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None, sort:
        _Text = None,
    ) -> Table:
        """How far each process group came, from flight recorder dumps."""
    def hang_map(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None,
        group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Who came to which collective, from flight recorder dumps."""
    def live_changes(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None, sort:
        _Text = None,
    ) -> Table:
        """Where the step time changed for good, from live numbers."""
    def live_ranks(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None, sort:
        _Text = None,
    ) -> Table:
        """Where each rank of a running job is, from live numbers."""
    def live_steps(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None,
        group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Steps of a running job by minute, from live numbers."""
    def critical_path(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, name: _Text = None,
        group: _Text = None, sort: _Text = None,
    ) -> Table:
        """The critical path: only work on it can make steps faster."""
    def places(
        self, *, rank: _Text = None, step: _Text = None, top: int = 0, device: _Text = None,
        stream: _Text = None, name: _Text = None, sort: _Text = None,
    ) -> Table:
        """Whose time a step is, and what exceeds the normal."""

class SnapshotViews:
    def findings(
        self, *, rank: _Text = None, top: int = 0, device: _Text = None, name: _Text = None,
        sort: _Text = None,
    ) -> Table:
        """What is wrong with the memory, why, and what to change."""
    def summary(
        self, *, rank: _Text = None, top: int = 0, device: _Text = None, name: _Text = None,
        sort: _Text = None,
    ) -> Table:
        """Memory of each device: reserved, allocated, fragmentation, peak."""
    def holders(
        self, *, rank: _Text = None, top: int = 0, device: _Text = None, name: _Text = None,
        group: _Text = None, sort: _Text = None,
    ) -> Table:
        """What holds memory at the peak and at the end."""
    def phases(
        self, *, rank: _Text = None, top: int = 0, device: _Text = None, name: _Text = None,
        group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Memory peaks in forward, backward and optimizer."""
    def timeline(
        self, *, rank: _Text = None, top: int = 0, device: _Text = None, name: _Text = None,
        group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Active memory over time, by category, line or stack."""
    def allocations(
        self, *, rank: _Text = None, top: int = 0, device: _Text = None, name: _Text = None,
        group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Allocations by size times how long they were held."""
    def leaks(
        self, *, rank: _Text = None, top: int = 0, device: _Text = None, name: _Text = None,
        sort: _Text = None,
    ) -> Table:
        """Memory that was never freed, growing lines first."""
    def oom(
        self, *, rank: _Text = None, top: int = 0, device: _Text = None, name: _Text = None,
        sort: _Text = None,
    ) -> Table:
        """Failed allocations: why, and what would have helped."""
    def segments(
        self, *, rank: _Text = None, top: int = 0, device: _Text = None, name: _Text = None,
        group: _Text = None, sort: _Text = None,
    ) -> Table:
        """Allocator segments by address, or the blocks in them."""
    def settings(
        self, *, rank: _Text = None, top: int = 0, device: _Text = None, name: _Text = None,
        sort: _Text = None,
    ) -> Table:
        """Allocator settings."""
    def diff(
        self, *, rank: _Text = None, top: int = 0, device: _Text = None, name: _Text = None,
        sort: _Text = None, before: object = None,
    ) -> Table:
        """What holds more or less memory than in another snapshot."""
