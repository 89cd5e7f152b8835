# SPDX-License-Identifier: Apache-2.0
"""What the views of many ranks must say about a simulated job, worked out from its truth."""
import bisect
import json
import pathlib
import random
import re
import subprocess

# a file's time is this more than the truth's, changed by the rank's clock
FILE_START_NS = 3743411000000000
SYMMETRIC = ("allreduce", "_allgather_base", "_reduce_scatter_base", "barrier", "all_to_all")
KERNEL = re.compile(rb'"kernel", "name": "nccl[^"]*", "pid": \d+, "tid": \d+,\s+"ts": ([\d.]+)')
# how far a kernel's start in the file may be from where its clock should put it
FOUND_NS = 100
# clocks that drift stretch durations by up to 50 in a million each
STRETCH = 10000
ROUNDING_NS = 10
# two collectives of one group that are further apart are not the same one
NEAR_NS = 5000000


def table(stepscope, *words):
    """The rows of a view or a list by column name."""
    command = [stepscope, *words, "--format", "json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip())
    document = json.loads(result.stdout)
    names = [column["name"] for column in document["columns"]]
    return [dict(zip(names, row)) for row in document["rows"]]


def presets(stepscope):
    return table(stepscope, "sim", "--list")


def simulate(stepscope, folder, preset, *words):
    """Writes a job and returns its truth, which is taken out of the folder's files."""
    command = [stepscope, "sim", "--preset", preset, "-o", str(folder), "--progress", "none"]
    result = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip())
    path = pathlib.Path(folder) / "truth.json"
    truth = json.loads(path.read_text())
    path.unlink()
    return truth


def scatter(folder, seed):
    """Other names in another order, in folders of folders: only the files say what they are."""
    paths = sorted(pathlib.Path(folder).iterdir())
    numbers = list(range(len(paths)))
    chance = random.Random(seed)
    chance.shuffle(numbers)
    for path, number in zip(paths, numbers):
        place = path.parent / f"node{chance.randrange(3)}" / f"part{chance.randrange(2)}"
        place.mkdir(parents=True, exist_ok=True)
        suffix = path.name.split(".", 1)[1]
        path.rename(place / f"recording_{number}.{suffix}")


def decimal_ns(text):
    whole, _, rest = text.partition(b".")
    return int(whole) * 1000 + int(rest[:3].ljust(3, b"0") or 0)


def starts_in_file(path):
    return sorted(decimal_ns(ts) for ts in KERNEL.findall(path.read_bytes()))


def on_clock(clock, true_ns):
    drift_ns = round(true_ns * clock["drift_ppb"] / 1e9)
    return FILE_START_NS + true_ns + clock["offset_ns"] + drift_ns


def is_near(starts, moment_ns):
    at = bisect.bisect_left(starts, moment_ns - FOUND_NS)
    return at < len(starts) and starts[at] <= moment_ns + FOUND_NS


class Meeting:
    """A collective by those that recorded it."""

    def __init__(self, collective, present):
        arrivals = dict(zip(collective["ranks"], collective["arrival_ns"]))
        self.group = collective["group"]
        self.is_symmetric = collective["kind"] in SYMMETRIC
        self.stays = {rank: collective["end_ns"] - arrivals[rank] for rank in present}
        self.transfer_ns = min(self.stays.values())
        self.start_ns = min(arrivals[rank] for rank in present)
        self.is_found = False

    def is_same(self, row):
        """Whether our row of a collective has its figures."""
        stays = self.stays.values()
        slack_ns = max(stays) / STRETCH + ROUNDING_NS
        if len(stays) != row["members"] or self.is_symmetric != (row["wait_ns"] is not None):
            return False
        if self.is_symmetric:
            wait_ns = sum(stays) - len(stays) * self.transfer_ns
            if abs(row["wait_ns"] - wait_ns) > slack_ns * len(stays):
                return False
        spread_ns = max(stays) - self.transfer_ns
        is_near = abs(row["transfer_ns"] - self.transfer_ns) <= slack_ns
        spread = row["spread_ns"]  # none around a root, nor of sends
        return is_near and (spread is None or abs(spread - spread_ns) <= slack_ns)


def meetings_of(truth, folder, is_whole):
    """The collectives that a reader of the files can know. Files are in their first places here."""
    starts = {}
    for clock in [] if is_whole else truth["clocks"]:
        starts[clock["rank"]] = starts_in_file(pathlib.Path(folder) / f"rank{clock['rank']}.json")
    clocks = {clock["rank"]: clock for clock in truth["clocks"]}
    for collective in truth["collectives"]:
        present = collective["ranks"]
        if not is_whole:
            pairs = zip(collective["ranks"], collective["arrival_ns"])
            present = [r for r, t in pairs if is_near(starts[r], on_clock(clocks[r], t))]
        if len(present) > 1:
            yield Meeting(collective, present)


def without_pairs(truth, rows, collectives):
    """
    Sends and receives within a group of more than two are matched by "Dst Rank", or none is, which
    is told as calls that could not be matched: then they are left out here.
    """
    large = {group["name"] for group in truth["groups"] if len(group["ranks"]) > 2}
    if any(row["group"] in large and row["wait_ns"] is None for row in rows):
        return collectives
    return [one for one in collectives if one.is_symmetric or one.group not in large]


def zero_of(rows, group):
    """When our first collective truly was: it need not be the first one."""
    for row in rows:
        for collective in group:
            if collective.is_same(row):
                return collective.start_ns - row["at_ns"]
    return 0


def count_matched(rows, group):
    """How many of our rows of a group are a collective of it; the group in the order of time."""
    zero_ns = zero_of(rows, group)
    # where clocks cannot be compared, who came first cannot be told either
    spread_ns = max(max(m.stays.values()) - m.transfer_ns for m in group)
    near_ns = NEAR_NS + 2 * spread_ns
    right = 0
    for row in rows:
        start_ns = zero_ns + row["at_ns"]
        first = bisect.bisect_left(group, start_ns - near_ns, key=lambda m: m.start_ns)
        last = bisect.bisect_right(group, start_ns + near_ns, key=lambda m: m.start_ns)
        fitting = [m for m in group[first:last] if not m.is_found and m.is_same(row)]
        if fitting:
            # sends have few figures, and starts say little where clocks cannot be compared
            best = min(fitting, key=lambda m: abs(m.transfer_ns - row["transfer_ns"]))
            best.is_found = True
            right += 1
            # clocks drift: the next one is looked for from here
            zero_ns = best.start_ns - row["at_ns"]
    return right


def share_matched(rows, collectives):
    """
    Of the collectives, ours and true ones, the share that is in both. Group by group: clocks of
    ranks that no collective connects cannot be compared.
    """
    by_group, own = {}, {}
    for collective in sorted(collectives, key=lambda m: m.start_ns):
        by_group.setdefault(collective.group, []).append(collective)
    for row in rows:
        own.setdefault(row["group"], []).append(row)
    right = sum(count_matched(own.get(name, []), group) for name, group in by_group.items())
    return right / max(1, len(rows), len(collectives))


def waits_of(collectives):
    """Wait of each rank over all symmetric collectives."""
    waits = {}
    for collective in collectives:
        for rank, stay in collective.stays.items():
            if collective.is_symmetric:
                waits[rank] = waits.get(rank, 0) + stay - collective.transfer_ns
    return waits


def offsets_of(truth, first_of):
    """
    What must be added to each rank's times to have those of first_of[rank]: the least and the most
    of it in the middle tenth of what clocks are compared by, because they drift meanwhile.
    """
    ends = [c["end_ns"] for c in truth["collectives"] if c["kind"] in SYMMETRIC]
    span_ns = max(ends) - min(ends)
    ranges = {clock["rank"]: [] for clock in truth["clocks"]}
    for share in (0.45, 0.55):
        moment_ns = min(ends) + share * span_ns
        times = {clock["rank"]: on_clock(clock, moment_ns) for clock in truth["clocks"]}
        for rank, time_ns in times.items():
            ranges[rank].append(times[first_of[rank]] - time_ns)
    return {rank: (min(both), max(both)) for rank, both in ranges.items()}
