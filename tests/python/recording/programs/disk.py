# SPDX-License-Identifier: Apache-2.0
"""Disks that fail: a file system in user space, by the kernel's own protocol (linux/fuse.h)."""

import ctypes
import errno
import os
import struct
import subprocess

LIBC = ctypes.CDLL(None, use_errno=True)
LOOKUP, FORGET, GETATTR, MKDIR, UNLINK, RMDIR, RENAME, WRITE = 1, 2, 3, 9, 10, 11, 12, 16
INIT, RELEASE, FLUSH, OPENDIR, READDIR, RELEASEDIR, CREATE = 26, 18, 25, 27, 28, 29, 35
INTERRUPT, BATCH_FORGET = 36, 42
FOLDER, FILE = 0o40777, 0o100666
DIRECT_IO = 1


class _Disk:
    """Folders and empty files can be made; what is written gets the error, or no answer at all."""

    def __init__(self, device, answers):
        self.device, self.answers = device, answers
        self.kinds = {1: FOLDER}
        self.names = {}

    def attributes(self, node):
        links = struct.pack("<IIIIIII", self.kinds[node], 1, 0, 0, 0, 4096, 0)
        return struct.pack("<QQQQQQIII", node, 0, 0, 0, 0, 0, 0, 0, 0) + links

    def entry(self, parent, name, kind):
        node = self.names.setdefault((parent, name), len(self.kinds) + 1)
        self.kinds[node] = kind
        return struct.pack("<QQQQII", node, 0, 0, 0, 0, 0) + self.attributes(node)

    def answer(self, code, node, body):
        """The error, or 0 and the answer."""
        if code == INIT:
            return 0, struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 0, 0, 0, 4096, 1, 1, 0, 0)
        if code == GETATTR and node in self.kinds:
            return 0, struct.pack("<QII", 0, 0, 0) + self.attributes(node)
        if code == LOOKUP:
            name = body.rstrip(b"\0")
            there = self.names.get((node, name))
            if there is None:
                return errno.ENOENT, b""
            return 0, self.entry(node, name, self.kinds[there])
        if code == MKDIR:
            return 0, self.entry(node, body[8:].rstrip(b"\0"), FOLDER)
        if code == CREATE:
            opened = struct.pack("<QII", 0, DIRECT_IO, 0)
            return 0, self.entry(node, body[16:].rstrip(b"\0"), FILE) + opened
        if code in (UNLINK, RMDIR):
            self.names.pop((node, body.rstrip(b"\0")), None)
            return 0, b""
        if code == OPENDIR:
            return 0, struct.pack("<QII", 0, 0, 0)
        if code in (READDIR, RELEASE, RELEASEDIR, FLUSH):
            return 0, b""
        return errno.EIO if code == WRITE else errno.ENOSYS, b""

    def serve(self):
        while True:
            try:
                request = os.read(self.device, 1 << 17)
            except OSError:
                return
            _, code, unique, node = struct.unpack_from("<IIQQ", request)
            if code in (FORGET, INTERRUPT, BATCH_FORGET):
                continue
            if not self.answers and code not in (INIT, GETATTR):
                continue
            error, words = self.answer(code, node, request[40:])
            os.write(self.device, struct.pack("<IiQ", 16 + len(words), -error, unique) + words)


def mount_failing(place, answers=True):
    """A disk whose writes fail with EIO; without answers it hangs. The process that serves it."""
    os.makedirs(place, exist_ok=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if LIBC.mount(b"disk", place.encode(), b"fuse", 0, options):
        raise OSError(ctypes.get_errno(), "cannot mount a file system in user space")
    server = os.fork()
    if server == 0:
        try:
            _Disk(device, answers).serve()
        finally:
            os._exit(0)
    os.close(device)
    return server


def mount_small(place, size):
    """A disk of so many bytes."""
    os.makedirs(place, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "t", place], check=True)
