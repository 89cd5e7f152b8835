# SPDX-License-Identifier: Apache-2.0
"""allocator.py - a caching allocator, simulated, which knows the truth about itself.

Segments of 2 MiB for small requests and of 20 MiB for those below 10 MiB, others of their own size;
the smallest free block that is large enough, split where enough is left; freed neighbours are
joined; wholly free segments are given back before it gives up. Expandable segments map pages
instead. snapshot() is what torch would write of it; `states`, `ooms` and end() are counted by the
allocator itself, never from what was written.
"""

MIB = 1 << 20
BLOCK = 512
SMALL = MIB  # requests up to this live among small ones
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
OWN_SEGMENT = 10 * MIB  # requests from this on get segments of their size
RANGE = 1 << 36  # addresses of an expandable segment
BASE = 0x7F0000000000


class OutOfMemory(Exception):
    pass


class Block:
    """A part of a segment; `mapped` is false for pages that an expandable one does not have."""

    def __init__(self, segment, address, size, mapped=True):
        self.segment, self.address, self.size, self.mapped = segment, address, size, mapped
        self.state, self.requested, self.frames = "inactive", 0, []

    def is_free(self):
        return self.mapped and self.state == "inactive"


class Segment:
    def __init__(self, address, size, stream, small, frames, expandable=False):
        self.address, self.stream, self.small, self.frames = address, stream, small, frames
        self.expandable = expandable
        self.page = SMALL_SEGMENT if small else LARGE_SEGMENT
        self.blocks = [Block(self, address, size, not expandable)]

    def join(self, index):
        """Makes one of the block and its neighbours where all are of one free kind."""
        block = self.blocks[index]
        for other in (index + 1, index - 1):
            if not 0 <= other < len(self.blocks):
                continue
            beside = self.blocks[other]
            if beside.state == "inactive" and beside.mapped == block.mapped:
                block.address = min(block.address, beside.address)
                block.size += beside.size
                self.blocks.remove(beside)
        return block

    def cut(self, block, size):
        """Leaves `size` in the block; the rest becomes one behind it."""
        rest = Block(self, block.address + size, block.size - size, block.mapped)
        self.blocks.insert(self.blocks.index(block) + 1, rest)
        block.size = size
        return rest


class Allocator:
    def __init__(self, device_bytes, expandable=False):
        self.device_bytes, self.expandable = device_bytes, expandable
        self.segments, self.events = [], []
        self.states = [(0, 0, 0)]  # active, requested, reserved: before and after each event
        self.ooms = []
        self.next_address, self.time_us = BASE, 1_700_000_000_000_000

    # --- what it is asked for ---------------------------------------------------------------

    def malloc(self, size, frames, stream=0):
        rounded = max(BLOCK, (size + BLOCK - 1) // BLOCK * BLOCK)
        block = self._find(rounded, stream) or self._grow(rounded, stream, frames)
        if not block:
            self.empty_cache(frames)
            block = self._grow(rounded, stream, frames)
        if not block:
            self._fail(rounded, frames, stream)
        left = block.size - rounded
        keeps = BLOCK if block.segment.small or self.expandable else SMALL + 1
        if left >= keeps:
            block.segment.cut(block, rounded)
        block.state, block.requested, block.frames = "active_allocated", size, frames
        self._note("alloc", block.address, size, frames, stream)
        return block

    def free(self, block, frames, still_used=False):
        """`still_used`: a stream does so until complete()."""
        block.state = "active_pending_free"
        self._note("free_requested", block.address, block.requested, frames, block.segment.stream)
        if not still_used:
            self.complete(block, frames)

    def complete(self, block, frames):
        segment, address, requested = block.segment, block.address, block.requested
        block.state, block.requested, block.frames = "inactive", 0, []
        segment.join(segment.blocks.index(block))
        self._note("free_completed", address, requested, frames, segment.stream)

    def empty_cache(self, frames):
        for segment in list(self.segments):
            if segment.expandable:
                self._unmap(segment, frames)
            elif len(segment.blocks) == 1 and segment.blocks[0].is_free():
                self.segments.remove(segment)
                self._note("segment_free", segment.address, segment.blocks[0].size, frames,
                           segment.stream)

    # --- where blocks come from -------------------------------------------------------------

    def _find(self, size, stream):
        small = size <= SMALL
        fits = [block for segment in self.segments for block in segment.blocks
                if segment.stream == stream and segment.small == small and block.is_free()
                and block.size >= size]  # fmt: skip
        return min(fits, key=lambda block: (block.size, block.address), default=None)

    def _grow(self, size, stream, frames):
        small = size <= SMALL
        if self.expandable:
            return self._map(size, stream, small, frames)
        whole = SMALL_SEGMENT if small else LARGE_SEGMENT if size < OWN_SEGMENT else \
            (size + SMALL_SEGMENT - 1) // SMALL_SEGMENT * SMALL_SEGMENT
        if self.reserved() + whole > self.device_bytes:
            return None
        segment = Segment(self.next_address, whole, stream, small, frames)
        self.next_address += whole + 2 * MIB
        self.segments.append(segment)
        self._note("segment_alloc", segment.address, whole, frames, stream)
        return segment.blocks[0]

    def _map(self, size, stream, small, frames):
        """Maps what is missing behind a free block, at the lowest address that has room."""
        kin = [s for s in self.segments if s.stream == stream and s.small == small]
        if not kin:
            kin = [Segment(self.next_address, RANGE, stream, small, frames, True)]
            self.next_address += 2 * RANGE
            self.segments.append(kin[0])
        blocks = kin[0].blocks
        at = next(i for i, block in enumerate(blocks) if not block.mapped and
                  self._room(blocks, i) >= size)  # fmt: skip
        if at and blocks[at - 1].is_free():
            at -= 1
        if not blocks[at].mapped and not self._map_pages(kin[0], at, size, frames):
            return None
        while blocks[at].size < size:
            if not self._map_pages(kin[0], at + 1, size - blocks[at].size, frames):
                return None
        return blocks[at]

    @staticmethod
    def _room(blocks, at):
        room = blocks[at - 1].size if at and blocks[at - 1].is_free() else 0
        while at < len(blocks) and blocks[at].state == "inactive":
            room += blocks[at].size
            at += 1
        return room

    def _map_pages(self, segment, at, size, frames):
        block = segment.blocks[at]
        pages = min(block.size, (size + segment.page - 1) // segment.page * segment.page)
        if self.reserved() + pages > self.device_bytes:
            return False
        if pages < block.size:
            segment.cut(block, pages)
        block.mapped = True
        address = block.address
        segment.join(at)
        self._note("segment_map", address, pages, frames, segment.stream)
        return True

    def _unmap(self, segment, frames):
        for block in [block for block in segment.blocks if block.is_free()]:
            first = -(-(block.address - segment.address) // segment.page) * segment.page
            last = (block.address + block.size - segment.address) // segment.page * segment.page
            first, last = first + segment.address, last + segment.address
            if first >= last:
                continue
            if last < block.address + block.size:
                segment.cut(block, last - block.address)
            if first > block.address:
                block = segment.cut(block, first - block.address)
            block.mapped = False
            segment.join(segment.blocks.index(block))
            self._note("segment_unmap", first, last - first, frames, segment.stream)

    # --- what it knows of itself ------------------------------------------------------------

    def _mapped(self):
        return [block for segment in self.segments for block in segment.blocks if block.mapped]

    def reserved(self):
        return sum(block.size for block in self._mapped())

    def _free_sizes(self):
        return [block.size for block in self._mapped() if block.is_free()]

    def active(self):
        return sum(block.size for block in self._mapped() if not block.is_free())

    def _note(self, action, address, size, frames, stream):
        self.time_us += 5
        self.events.append({"action": action, "addr": address, "size": size, "stream": stream,
                            "time_us": self.time_us, "frames": frames})
        requested = sum(block.requested for block in self._mapped())
        self.states.append((self.active(), requested, self.reserved()))

    def _fail(self, size, frames, stream):
        left = self.device_bytes - self.reserved()
        free = self._free_sizes()
        self.ooms.append({"asked_bytes": size, "device_free_bytes": left,
                          "cached_free_bytes": sum(free),
                          "largest_free_bytes": max(free, default=0),
                          "missing_bytes": max(0, size - left - sum(free)),
                          "active_bytes": self.active(), "reserved_bytes": self.reserved()})
        self._note("oom", 0, size, frames, stream)
        del self.events[-1]["addr"]
        self.events[-1]["device_free"] = left
        raise OutOfMemory

    def runs(self):
        """The segments as they are written: of expandable ones each run of mapped blocks."""
        for segment in self.segments:
            run = []
            for block in [*segment.blocks, None]:
                if block and block.mapped:
                    run.append(block)
                elif run:
                    yield segment, run
                    run = []

    def end(self):
        runs = list(self.runs())
        used = [run for _, run in runs if any(not block.is_free() for block in run)]
        return {"reserved_bytes": self.reserved(), "active_bytes": self.active(),
                "allocated_bytes": sum(block.size for block in self._mapped()
                                       if block.state == "active_allocated"),
                "requested_bytes": sum(block.requested for block in self._mapped()),
                "external_bytes": sum(block.size for run in used for block in run
                                      if block.is_free()),
                "releasable_bytes": sum(block.size for _, run in runs for block in run
                                        if run not in used),
                "largest_free_bytes": max(self._free_sizes(), default=0),
                "segments": len(runs), "blocks": len(self._mapped())}  # fmt: skip

    def peaks(self, entries):
        """Of the last events alone, and of what there was before them."""
        seen = self.states[-entries - 1:]
        names = ("peak_active_bytes", "peak_requested_bytes", "peak_reserved_bytes")
        return {name: max(state[i] for state in seen) for i, name in enumerate(names)}

    def snapshot(self, entries=None):
        """With a ring buffer of so many entries."""
        segments = [{"device": 0, "address": run[0].address,
                     "total_size": sum(block.size for block in run), "stream": segment.stream,
                     "segment_type": "small" if segment.small else "large",
                     "segment_pool_id": (0, 0), "is_expandable": segment.expandable,
                     "frames": segment.frames,
                     "blocks": [{"address": block.address, "size": block.size,
                                 "requested_size": block.requested, "state": block.state,
                                 "frames": block.frames} for block in run]}
                    for segment, run in self.runs()]  # fmt: skip
        settings = {"expandable_segments": self.expandable, "max_split_size": -1}
        return {"segments": segments, "device_traces": [self.events[-(entries or 0):]],
                "allocator_settings": settings}
