#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py - lists what stepscope is built from, as CycloneDX.

    tools/sbom.py OUTPUT VERSION PARTS PAGE_LOCK [NAME=VERSION...]

PARTS is third_party/parts.json, which has the licences. Libraries come from the build, which knows
those it found; packages of the page have the hashes of its lock file, which npm checked. The same
build gives the same bytes.
"""
import base64
import hashlib
import json
import pathlib
import sys

SPEC = "1.5"


def component(kind, name, version, licence, purl, **more):
    return {"type": kind, "bom-ref": purl, "name": name, "version": version,
            "licenses": [{"expression": licence}], "purl": purl, **more}


def libraries(words, parts):
    """Shared libraries, which the package manager of the system updates."""
    licences = {part["name"]: part["licence"] for part in parts}
    for word in words:
        name, version = word.split("=")
        purl = f"pkg:generic/{name}@{version}"
        yield component("library", name, version, licences[name], purl)


def page_packages(parts, lock):
    """What is inside of the page: npm packages, and what the core was linked with."""
    for part in parts:
        name, version, licence = part["name"], part.get("version"), part["licence"]
        if "npm" in part:
            method, _, digest = lock[f"node_modules/{part['npm']}"]["integrity"].partition("-")
            yield component("library", name, version, licence, f"pkg:npm/{part['npm']}@{version}",
                            hashes=[{"alg": method.replace("sha", "SHA-"),
                                     "content": base64.b64decode(digest).hex()}])
        elif "debian" in part:
            purl = f"pkg:deb/debian/{part['debian']}@{version.replace(':', '%3A')}"
            yield component("library", name, version, licence, purl)


def document(version, parts):
    own = f"pkg:generic/stepscope@{version}"
    body = {
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        "version": 1,
        "metadata": {"component": component("application", "stepscope", version, "Apache-2.0",
                                            own)},
        "components": parts,
        "dependencies": [{"ref": own, "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    # a number of its own for each content, as the format asks for
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    number = f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"
    return {"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
            "serialNumber": f"urn:uuid:{number}", **body}


def main(output, version, parts, page_lock, *words):
    listed = json.loads(pathlib.Path(parts).read_text(encoding="utf-8"))
    lock = json.loads(pathlib.Path(page_lock).read_text(encoding="utf-8"))["packages"]
    within = [*libraries(words, listed), *page_packages(listed, lock)]
    text = json.dumps(document(version, within), indent=1) + "\n"
    pathlib.Path(output).write_text(text, encoding="utf-8")


if len(sys.argv) < 5:
    sys.exit(__doc__)
main(*sys.argv[1:])
