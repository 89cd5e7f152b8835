# SPDX-License-Identifier: Apache-2.0
"""What is kept of a verdict and a measurement, without private names, and the table of it."""
import getpass
import os
import pathlib
import re
import socket
import statistics
import sys

SCHEMA = "stepscope.gpu-validation/1"
COLUMNS = ("fault", "planted place", "first finding", "named", "predicted", "measured",
           "twin's warnings")
TEXT_MAX = 300
EVIDENCE_MAX = 5
PART = r"""[^\s\\/'"()<>\[\]:,;|]"""
# An absolute path, in quotes up to the second quote; a relative one if it ends like a file.
PATH = re.compile(rf"""(?P<quote>['"])(?:~|[A-Za-z]:)?[\\/][^'"]*(?P=quote)"""
                  rf"|(?<![\w.])(?:~|\.\.?|[A-Za-z]:)?[\\/]+(?:{PART}+[\\/]+)*{PART}*"
                  rf"|(?:{PART}+[\\/])+{PART}+\.[A-Za-z]\w*")
ADDRESS = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"
                     r"|(?<![\w:])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])", re.I)
PACKAGES = re.compile(r".*/(?:site-packages|dist-packages|python3\.\d+t?)/")
HERE = pathlib.Path(__file__).resolve().parent
PUBLIC_PACKAGES = {"torch", "numpy", *sys.stdlib_module_names}
PUBLIC_NAMES = {"", "root", "localhost"}


def private_words():
    """Names of this machine and of who uses it."""
    words = {socket.gethostname(), socket.gethostname().split(".")[0], socket.getfqdn(),
             pathlib.Path.home().name}
    words.update(os.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME", "HOSTNAME"))
    try:
        words.add(getpass.getuser())
    except (KeyError, OSError):
        pass  # a user without a name
    return words - PUBLIC_NAMES


def short_path(match):
    """A file of PyTorch or Python from its package on, a file of ours by its name, else PATH."""
    quote = match.group("quote") or ""
    path = PACKAGES.sub("", match.group().strip("'\"").replace("\\", "/"))
    name = path.rpartition("/")[2]
    if name and (HERE / name).is_file():
        path = name
    elif path.split("/")[0].removesuffix(".py") not in PUBLIC_PACKAGES:
        path = "PATH"
    return f"{quote}{path}{quote}"


def redact(value, words):
    """The same value with its texts free of folders, names of machines and users, addresses."""
    if isinstance(value, dict):
        return {key: redact(part, words) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact(part, words) for part in value]
    if not isinstance(value, str):
        return value
    text = ADDRESS.sub("ADDRESS", PATH.sub(short_path, value))
    for word in sorted(words, key=len, reverse=True):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", "NAME", text,
                      flags=re.I)
    return text[:TEXT_MAX]


def names_place(finding, fault):
    """Whether file and function stand together in a finding; its fix is advice, not a place."""
    found = re.compile(rf"(?<!\w){re.escape(fault.file)}\b.*\b{re.escape(fault.function)}\b")
    texts = [part for key, value in finding.items() if key not in ("fix", "surer")
             for part in all_texts(value)]
    return any(found.search(text) for text in texts)


def all_texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from all_texts(part)


def share(nanoseconds, step_ns):
    """Percent of the step."""
    if nanoseconds is None or not step_ns:
        return None
    return round(100 * nanoseconds / step_ns, 1)


def short_finding(finding, step_ns, fault):
    """The fields that are kept. A field that is not known here stays out of the file."""
    return {
        "rule": finding["rule"], "level": finding["level"], "rank": finding.get("rank"),
        "confidence": finding.get("confidence"),
        "saves_percent": share(finding.get("cost_ns"), step_ns),
        "low_percent": share(finding.get("cost_low_ns"), step_ns),
        "high_percent": share(finding.get("cost_high_ns"), step_ns),
        "names_place": names_place(finding, fault),
        "evidence": [{"text": piece.get("text"), "line": piece.get("line")}
                     for piece in finding.get("evidence", [])[:EVIDENCE_MAX]],
    }


def short_verdict(said, fault):
    step_ns = said.get("step_ns")
    return {"step_ms": step_ns / 1e6 if step_ns else None, "steps": said.get("steps"),
            "ranks": said.get("ranks"), "account": said.get("account"),
            "findings": [short_finding(row, step_ns, fault) for row in said["findings"]]}


def short_measurement(measured):
    """Medians of both loops, and the gain of each round: median and quartiles, in percent."""
    gains = [100 * (1 - twin / bad) for bad, twin in zip(measured["fault"], measured["twin"])]
    low, middle, high = (statistics.quantiles(gains, n=4, method="inclusive") if len(gains) > 1
                         else gains * 3)
    return {"fault_ms": round(statistics.median(measured["fault"]), 3),
            "twin_ms": round(statistics.median(measured["twin"]), 3), "rounds": len(gains),
            "gain_percent": round(middle, 1), "gain_quartiles": [round(low, 1), round(high, 1)]}


def named(row):
    """yes: by the first finding. later: by another one."""
    flags = [finding["names_place"] for finding in row["fault"]["findings"]]
    return "yes" if flags[:1] == [True] else "later" if any(flags) else "no"


def range_text(low, high):
    if low is None or high is None:
        return "none"
    low, high = round(low), round(high)
    return f"{low} %" if low == high else f"{low} to {high} %"


def table_row(row):
    start = [row["name"], row["place"]]
    if row.get("reason"):
        return start + [f"not run: {row['reason']}"]
    first = (row["fault"]["findings"] or [None])[0]
    warnings = [finding["rule"] for finding in row["twin"]["findings"]
                if finding["level"] == "warning"]
    gain = row["measured"]
    return start + [
        "nothing" if first is None else
        first["rule"] + ("" if first["level"] == "warning" else f" ({first['level']})"),
        named(row), range_text(first and first["low_percent"], first and first["high_percent"]),
        f"{gain['gain_percent']:.0f} % ({range_text(*gain['gain_quartiles'])})",
        ", ".join(warnings) or "none"]


def table(rows):
    """The table as text. A row with a reason is not counted for the widths of columns."""
    cells = [list(COLUMNS)] + [table_row(row) for row in rows]
    widths = [max(len(row[i]) for row in cells if i < 2 or len(row) == len(COLUMNS))
              for i in range(len(COLUMNS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                     for row in cells)
