#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py - lists what stepscope is built from, as CycloneDX.

    tools/sbom.py OUTPUT VERSION PAGE_LOCK [NAME=VERSION=LICENCE...]

Libraries come from the build, which knows those it found; what is compiled into the page comes from
the page's lock file, with the hashes that npm checked. The same build gives the same bytes.
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


def libraries(words):
    """Shared libraries, which the package manager of the system updates."""
    for word in words:
        name, version, licence = word.split("=")
        yield component("library", name, version, licence, f"pkg:generic/{name}@{version}")


def page_packages(lock):
    """What is inside of the page; what only builds or tests it is not."""
    for path, package in sorted(json.loads(lock)["packages"].items()):
        if not path or package.get("dev"):
            continue
        name, version = path.removeprefix("node_modules/"), package["version"]
        method, _, digest = package["integrity"].partition("-")
        yield component("library", name, version, package["license"], f"pkg:npm/{name}@{version}",
                        hashes=[{"alg": method.replace("sha", "SHA-"),
                                 "content": base64.b64decode(digest).hex()}])


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


def main(output, version, page_lock, *words):
    lock = pathlib.Path(page_lock)
    parts = list(libraries(words)) + list(page_packages(lock.read_text(encoding="utf-8")))
    text = json.dumps(document(version, parts), indent=1) + "\n"
    pathlib.Path(output).write_text(text, encoding="utf-8")


if len(sys.argv) < 4:
    sys.exit(__doc__)
main(*sys.argv[1:])
