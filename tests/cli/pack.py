#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stepscope pack` and `stepscope report`, as people use them.

Usage: pack.py STEPSCOPE TRACES. A simulated job is packed in its folder, beside it and through a
pipe; packs are read in place of their files, told about, left out when they are stale, and damage
ends in a sentence. What a page holds is taken out of it again, and is the pack.
"""
import base64
import gzip
import html
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FINE, FAILED, USAGE = 0, 1, 2
STEPSCOPE = sys.argv[1]
TRACES = pathlib.Path(sys.argv[2])
PAGE = "<!doctype html><html><body><p>a </body> in a text</p></body></html>\n"
ELEMENT = re.compile(
    r'<script type="application/x-stepscope" data-run="(\d)" data-name="([^"]*)">'
    r"([A-Za-z0-9+/=]*)</script>\n")
# the page itself may take 1.2 MB of the 6 MB that a report of it may have
RESNET = "cuda/resnet50_workers0.pt.trace.json.gz"
RESNET_BYTES_MAX = 4_800_000
failures = []


def check(holds, *what):
    if not holds:
        failures.append(" ".join(str(word) for word in what)[:1500])


def run(*words, code=FINE, **more):
    result = subprocess.run([STEPSCOPE, *(str(word) for word in words)], capture_output=True,
                            check=False, timeout=300, **more)
    result.stdout = result.stdout.decode()
    result.stderr = result.stderr.decode()
    check(result.returncode == code, words, "gives", result.returncode, result.stderr)
    check("runtime error" not in result.stderr, words, result.stderr)
    return result


def simulate(folder, *more):
    run("sim", "--preset", "ddp8-straggler", "--ranks", 2, "--steps", 3, "-o", folder, *more)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def pack_folder(work):
    job = work / "job"
    simulate(job)
    whole = run("ranks", job, "--format", "csv").stdout
    # no trace, although it is called after a rank
    (job / "figures.rank0.json").write_text('{"loss": 1}')
    told = run("pack", job).stdout
    check(names(job) == ["figures.rank0.json", "rank0.json.gz", "rank0.stepscope",
                         "rank1.json.gz", "rank1.stepscope", "truth.json"], "wrote", names(job))
    check(told.count("; equal to the trace\n") == 2 and "\n2 packs, " in told, told)
    # it opens at once and unpacks later: a time of opening would promise too much
    check(" s\n" not in told and re.search(r": \d{1,3}(,\d{3})+ events, ", told), told)
    check("Skipped in the folder: 2 files that are not traces" in told, told)
    # each rank counts once, and it is said
    result = run("ranks", job)
    check("2 files were read from their packs" in result.stdout, result.stdout)
    check(run("ranks", job, "--format", "csv").stdout == whole, "ranks differ")
    info = run("info", job).stdout
    check("2 files were read from their packs" in info, info)
    check("packed_of" in run("files", job, "--format", "json").stdout, "files says nothing")
    check(run("diagnose", job, "--format", "json").stdout ==
          run("diagnose", job / "rank0.stepscope", job / "rank1.stepscope", "--format",
              "json").stdout, "the verdict differs")
    return job


def forms(work, job):
    """Compressed or plain, a pack says the same, and is shorter when it is compressed."""
    plain, small = work / "plain", work / "small"
    run("pack", job / "rank0.json.gz", "--plain", "-o", plain)
    run("pack", job / "rank0.json.gz", "-o", small)
    sizes = [(folder / "rank0.stepscope").stat().st_size for folder in (plain, small)]
    check(sizes[1] * 2 < sizes[0], "compressed to", sizes)
    for view in ("steps", "kernels", "operators", "diagnose"):
        said = [run(view, folder / "rank0.stepscope", "--format", "json").stdout.replace(
            str(folder), "") for folder in (plain, small)]
        check(said[0] == said[1], view, "differs between the forms of a pack")


def refuse_packs(job):
    before = (job / "rank0.stepscope").read_bytes()
    result = run("pack", job, code=FAILED)
    check(result.stderr.count("--force replaces it") == 2, result.stderr)
    check("is already a pack" in run("pack", job / "rank0.stepscope", code=FAILED).stderr,
          "a pack was packed")
    check("; equal to the trace" in run("pack", "--force", job / "rank0.json.gz").stdout,
          "not replaced")
    check((job / "rank0.stepscope").read_bytes() == before, "packing twice gives two packs")
    check("is also an input" in
          run("merge", job / "rank0.stepscope", "-o", job / "rank0.json.gz", code=USAGE).stderr,
          "what it was made from was replaced")
    check(not (job / "m.json").exists() and not list(job.glob("*.part")), names(job))
    run("pack", code=USAGE)
    run("pack", job / "nothing", code=FAILED)
    check("cannot read" in run("pack", job / "truth.json", code=FAILED).stderr, "no trace")


def other_folder(work, job):
    packs = work / "packs"
    run("pack", job / "rank0.json.gz", job / "rank1.json.gz", "-o", packs)
    check(names(packs) == ["rank0.stepscope", "rank1.stepscope"], names(packs))
    twin = work / "twin"
    twin.mkdir()
    (twin / "rank0.json.gz").write_bytes((job / "rank0.json.gz").read_bytes())
    result = run("pack", job / "rank0.json.gz", twin / "rank0.json.gz", "-o", work / "both",
                 code=FAILED)
    check("same name as the pack of another file" in result.stderr, result.stderr)
    # through a pipe, plain and compressed
    data = (packs / "rank1.stepscope").read_bytes()
    for given in (data, gzip.compress(data, 1)):
        result = run("steps", "-", "--format", "csv", input=given)
        check(result.stdout == run("steps", job / "rank1.json.gz", "--format", "csv").stdout,
              "a pipe differs")
    # the rank by the name of the origin, where neither pack nor trace has one
    (work / "worker7.json").write_text('{"traceEvents":[]}')
    run("pack", work / "worker7.json", "-o", packs)
    (packs / "worker7.stepscope").rename(packs / "renamed.stepscope")
    check("\r\n7,renamed.stepscope," in
          run("files", packs / "renamed.stepscope", "--format", "csv").stdout, "rank is lost")


def stale_pack(work):
    job = work / "stale"
    simulate(job, "--plain")
    run("pack", job)
    file = job / "rank0.json"
    file.write_text(file.read_text() + "\n")
    result = run("ranks", job)
    check("1 pack is left out" in result.stdout, result.stdout)
    check("1 file was read from its pack" in result.stdout, result.stdout)
    check("rank0.json," in run("files", job, "--format", "csv").stdout, "the file is not read")


def damage(work, job):
    pack = (job / "rank0.stepscope").read_bytes()
    bad = work / "bad"
    bad.mkdir()
    starts = int.from_bytes(pack[64 + 25 * 32 + 8:64 + 25 * 32 + 16], "little")  # slice-start
    for name, data, says in (
        ("cut", pack[: len(pack) // 2], "it is truncated"),
        ("bit", pack[:starts] + bytes([pack[starts] ^ 1]) + pack[starts + 1:], "checksum"),
        ("version", pack[:8] + b"\x09" + pack[9:], "another version"),
        ("after", pack + b"x", "after its end"),
    ):
        file = bad / f"{name}.stepscope"
        file.write_bytes(data)
        result = run("info", file, code=FAILED)
        check(says in result.stderr, name, result.stderr)
    # beside good files it stops nobody, and is not passed over
    (bad / "rank1.json.gz").write_bytes((job / "rank1.json.gz").read_bytes())
    result = run("files", bad, "--format", "csv")
    check(result.stdout.count("\r\n") == 6 and "checksum" in result.stdout, result.stdout)
    full = run("pack", job / "rank0.json.gz", "-o", "/dev/full/x", code=FAILED)
    check(full.stderr.startswith("stepscope pack: "), full.stderr)


def fall_back(work):
    """A pack that cannot be read is no loss where its file is."""
    job = work / "fallen"
    simulate(job)
    whole = {view: run(view, job, "--format", "csv").stdout for view in ("steps", "kernels")}
    run("pack", job)
    pack = job / "rank0.stepscope"
    pack.write_bytes(pack.read_bytes()[:-1] + b"?")
    for view, wanted in whole.items():
        result = run(view, job, "--format", "csv")
        check(result.stdout == wanted, view, "is not that of the file")
        check("1 pack could not be read; the original file was read instead" in result.stderr,
              result.stderr)
    table = run("ranks", job).stdout
    check("1 pack could not be read" in table and "1 file was read from its pack" in table, table)
    check("1 pack could not be read" in run("info", job).stdout, "info says nothing")
    named = run("steps", pack, "--format", "csv")
    check(named.stdout == run("steps", job / "rank0.json.gz", "--format", "csv").stdout,
          "the pack that was named")
    run("pack", "--force", job)
    check("could not be read" not in run("steps", job).stderr, "packed again, and still bad")
    # a file that is another one by now is not what was packed
    pack.write_bytes(pack.read_bytes()[:-1] + b"?")
    (job / "rank0.json.gz").write_bytes(b"?")
    check("is damaged" in run("steps", pack, code=FAILED).stderr, "of another file")


# flips a bit of what is written last into a file that has no name yet
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
ssize_t write(int fd, const void *bytes, size_t length)
{
	ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
	char link[64], path[4096] = { 0 }, copy[65536];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) <= 0 || !strstr(path, ".part") ||
	    length > sizeof(copy) || length == sizeof(copy))
		return real(fd, bytes, length);
	memcpy(copy, bytes, length);
	copy[length - 1] ^= 1;
	return real(fd, copy, length);
}
"""


def read_back(work):
    """What a disk changes on the way is seen before the pack or the report gets its name."""
    shim = work / "shim.so"
    if b"__asan_init" in pathlib.Path(STEPSCOPE).read_bytes() or subprocess.run(
            ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", shim, "-ldl"], check=False,
            input=SHIM, text=True, capture_output=True).returncode:
        print("pack: no shim, so nothing is changed on its way to the disk")
        return
    job = work / "changed"
    simulate(job)
    before = names(job)
    changed = {"env": {**os.environ, "LD_PRELOAD": str(shim)}}
    result = run("pack", job, code=FAILED, **changed)
    check(result.stderr.count("the pack differs from the trace") == 2, result.stderr)
    check(names(job) == before and not list(job.glob(".*")), os.listdir(job))
    result = run("report", job, "--page", work / "page.html", "-o", job / "r.html", code=FAILED,
                 **changed)
    check("does not contain what was written" in result.stderr, result.stderr)
    check(names(job) == before and not list(job.glob(".*")), os.listdir(job))


def report(work, job):
    page = work / "page.html"
    page.write_text(PAGE)
    odd = work / 'a"<b>&c.json'
    odd.write_text('{"traceEvents":[]}')
    out = work / "report.html"
    told = run("report", job, "--compare", odd, "--page", page, "-o", out).stdout
    check("opens in any browser" in told, told)
    text = out.read_text()
    found = ELEMENT.findall(text)
    check([(item[0], html.unescape(item[1])) for item in found] ==
          [("0", f"{job.name}/rank0.json.gz"), ("0", f"{job.name}/rank1.json.gz"),
           ("1", f"{work.name}/{odd.name}")], [item[:2] for item in found])
    check(ELEMENT.sub("", text) == PAGE, "the page was changed")
    check(text.rindex("</script>") < text.rindex("</body>") and
          text.index("</body>") < text.index("<script"), "not before the last </body>")
    # what a browser reads is not compressed column by column
    run("pack", job / "rank0.json.gz", job / "rank1.json.gz", "--plain", "-o", work / "in_report")
    for item, name in zip(found, ("rank0", "rank1")):
        data = gzip.decompress(base64.b64decode(item[2], validate=True))
        pack = work / "in_report" / f"{name}.stepscope"
        check(data == pack.read_bytes(), name, "is another pack")
    run("report", job, "--rank", 1, "--page", page, "-o", out)
    check([item[1] for item in ELEMENT.findall(out.read_text())] ==
          [f"{job.name}/rank1.json.gz"], "rank")
    run("report", job, "--rank", 1, "--step", 1, "--page", page, "-o", out)
    part = gzip.decompress(base64.b64decode(ELEMENT.findall(out.read_text())[0][2]))
    result = run("steps", "-", "--format", "csv", input=part)
    check(result.stdout.count("not selected") == 2, result.stdout)


def refuse_reports(work, job):
    page, out = work / "page.html", work / "none.html"
    result = run("report", job, "--page", page, "--max-size", "10K", "-o", out, code=FAILED)
    check(all(word in result.stderr for word in ("--rank", "--step", "serve")), result.stderr)
    run("report", job, "--page", page, "--rank", 9, "-o", out, code=USAGE)
    run("report", job, "--page", page, "--step", 99, "-o", out, code=USAGE)
    run("report", "--page", page, code=USAGE)
    run("report", job, "--page", work / "nothing.html", "-o", out, code=FAILED)
    (work / "no.html").write_text("<html>")
    check("</body>" in run("report", job, "--page", work / "no.html", "-o", out,
                           code=USAGE).stderr, "no </body>")
    check(not out.exists() and not list(work.glob("*.part")), names(work))


def real(work):
    if not (TRACES / RESNET).exists():
        print("pack: no real traces in", TRACES)
        return
    out = work / "resnet.html"
    run("report", TRACES / RESNET, "--page", work / "page.html", "-o", out)
    check(out.stat().st_size < RESNET_BYTES_MAX, "a report of", out.stat().st_size)


def main():
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        job = pack_folder(work)
        forms(work, job)
        refuse_packs(job)
        other_folder(work, job)
        stale_pack(work)
        damage(work, job)
        fall_back(work)
        report(work, job)
        read_back(work)
        refuse_reports(work, job)
        real(work)
    for failure in failures:
        print("pack:", failure)
    print(f"pack: {len(failures)} failed")
    return FAILED if failures else FINE


if __name__ == "__main__":
    sys.exit(main())
