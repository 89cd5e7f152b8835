#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the source archive and the wheel of the Python module.

    tools/wheel.py FOLDER [--libraries FOLDER]

The archive (tools/source_archive, and what pip wants in it) comes first and the wheel is built from
it, so what is published builds from what is published, whoever owns the checkout. Libraries are
linked in (tools/libraries makes them, here or in the folder given), and the wheel's name says which
C library it needs: that is read from its symbols, not assumed. Files in both have the time of the
last commit (or SOURCE_DATE_EPOCH): two builds give the same bytes.
"""

import argparse
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Parts of the C library, the only ones that a wheel may ask for.
SYSTEM = re.compile(r"(libc|libm|libpthread|libdl|librt)\.so\.\d+|ld-linux.*\.so\.\d+")
NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")
# Where pages and pictures are that the README links to, for readers of the package's own page.
ADDRESS = "https://github.com/stepscope/stepscope"
RELATIVE_LINK = re.compile(r"(?<=\]\()(?!https?:|#)[^)]+(?=\))")
GLIBC = re.compile(r"GLIBC_(\d+)\.(\d+)")
# Packages of Debian, and what shows that one is there.
TOOLS = {
    "python3-build": "/usr/lib/python3/dist-packages/build",
    "python3-mesonpy": "/usr/lib/python3/dist-packages/mesonpy",
    "python3-wheel": "/usr/lib/python3/dist-packages/wheel",
    "patchelf": "/usr/bin/patchelf",
}


def run(command, **options):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, **options
    )
    if done.returncode:
        sys.stderr.write(done.stdout[-4000:] + done.stderr[-4000:])
        sys.exit(f"wheel: '{' '.join(str(word) for word in command)}' failed")
    return done.stdout


def build_wheel(source, out, libraries):
    """By meson-python, with Debian's Python before any other."""
    environment = dict(os.environ)
    environment["PATH"] = "/usr/bin:" + environment["PATH"]
    environment["PKG_CONFIG_PATH"] = str(libraries / "lib/pkgconfig")
    run(
        ["/usr/bin/python3", "-m", "build", "--wheel", "--no-isolation", "--outdir", out,
         "-Csetup-args=-Dsqlite=disabled", source],
        env=environment,
    )
    (wheel,) = out.glob("*.whl")
    return wheel


def absolute(link):
    kind = "raw" if link[0].endswith((".png", ".svg")) else "blob"
    return f"{ADDRESS}/{kind}/main/{link[0]}"


def unpack_source(work):
    """The last commit with the built page; links of the README lead to the repository."""
    archive = pathlib.Path(run([ROOT / "tools/source_archive", work]).strip())
    with tarfile.open(archive) as packed:
        packed.extractall(work / "source")
    (source,) = (work / "source").iterdir()
    readme = source / "README.md"
    text = readme.read_text(encoding="utf-8")
    readme.write_text(RELATIVE_LINK.sub(absolute, text), encoding="utf-8")
    return source


def pack_sdist(source, metadata, out):
    """The sources with the metadata of the wheel, as pip wants them; the same bytes every time."""
    (source / "PKG-INFO").write_bytes(metadata)
    target = out / f"{source.name}.tar.gz"

    def plain(member):
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = int(os.environ["SOURCE_DATE_EPOCH"])
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with gzip.GzipFile(target, "wb", mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.add(source, source.name, filter=plain)


def check_tools():
    """Says what is missing before minutes have passed."""
    missing = [package for package, path in TOOLS.items() if not os.path.exists(path)]
    if missing:
        sys.exit(f"wheel: missing: {' '.join(missing)}; run: apt-get install {' '.join(missing)}")


def commit_time():
    """When the last commit was made, in seconds."""
    log = ["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "log", "-1", "--format=%ct"]
    return run(log).strip()


def needed_c_library(module):
    """The newest version of the C library that the module names; it may need nothing else."""
    libraries = NEEDED.findall(run(["readelf", "-d", module]))
    others = [name for name in libraries if not SYSTEM.fullmatch(name)]
    if others:
        sys.exit(f"wheel: '{module.name}' needs {', '.join(others)}, which a wheel may not")
    versions = GLIBC.findall(run(["readelf", "--dyn-syms", "-W", module]))
    return max((int(major), int(minor)) for major, minor in versions)


def add_licences(information, source, libraries):
    """The licences of all that is inside, beside the metadata."""
    folder = information / "licenses"
    folder.mkdir()
    for name in ("LICENSE", "THIRD_PARTY.md"):
        shutil.copy(source / name, folder / name)
    for text in sorted((source / "third_party").glob("*.txt")):
        shutil.copy(text, folder / text.name)
    for text in sorted((libraries / "share/licenses").glob("*.txt")):
        shutil.copy(text, folder / text.name)


def finish(wheel, source, libraries, out, work):
    """Strips the module, names the platform, adds the licences."""
    run(["/usr/bin/python3", "-m", "wheel", "unpack", wheel, "--dest", work])
    (unpacked,) = [path for path in work.iterdir() if (path / "stepscope").is_dir()]
    module = unpacked / "stepscope/_core.abi3.so"
    # the build id is of the module before it was stripped, with the names of folders
    run(["strip", "--strip-unneeded", "--remove-section=.note.gnu.build-id", module])
    major, minor = needed_c_library(module)
    (information,) = unpacked.glob("*.dist-info")
    tag = information / "WHEEL"
    # meson-python names the version that builds; the limited API is that of src/python/module.h
    text, count = re.subn(
        r"cp\d+-abi3-linux_(\w+)", rf"cp39-abi3-manylinux_{major}_{minor}_\1", tag.read_text()
    )
    if count != 1:
        sys.exit(f"wheel: '{wheel.name}' is not abi3 for a Linux machine")
    tag.write_text(text)
    add_licences(information, source, libraries)
    for path in unpacked.rglob("*"):  # whatever the umask
        path.chmod(0o755 if path.is_dir() else 0o644)
    run(["/usr/bin/python3", "-m", "wheel", "pack", unpacked, "--dest-dir", out])
    return (information / "METADATA").read_bytes()


def main():
    parser = argparse.ArgumentParser(description="builds the source archive and the wheel")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--libraries", type=pathlib.Path, help="made by tools/libraries")
    options = parser.parse_args()
    check_tools()
    # tools that pack take the times of files from here
    os.environ.setdefault("SOURCE_DATE_EPOCH", commit_time())
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        libraries = (options.libraries or work / "libraries").resolve()
        run([ROOT / "tools/libraries", libraries])
        source = unpack_source(work)
        built = shutil.copytree(source, work / "build" / source.name)
        wheel = build_wheel(built, work / "built", libraries)
        (work / "finished").mkdir()
        options.folder.mkdir(parents=True, exist_ok=True)
        metadata = finish(wheel, source, libraries, options.folder.resolve(), work / "finished")
        pack_sdist(source, metadata, options.folder)
    for path in sorted(options.folder.iterdir()):
        print(f"{path.stat().st_size:>10,} {path.name}")


if __name__ == "__main__":
    main()
