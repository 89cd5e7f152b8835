#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""installed.py - what `meson install` puts into place, and programs that find it there.

Usage: installed.py STEPSCOPE SOURCE_ROOT BUILD_ROOT [--whole]. tests/api/examples.py does
pkg-config. The files of the desktop are read by its own tools where those are there.
"""

import configparser
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

WANTED = [
    "bin/stepscope",
    "include/stepscope.h",
    "lib*/**/libstepscope.so",
    "lib*/**/pkgconfig/stepscope.pc",
    "lib*/**/cmake/stepscope/stepscopeConfig.cmake",
    "share/applications/stepscope.desktop",
    "share/icons/hicolor/scalable/apps/stepscope.svg",
    "share/mime/packages/stepscope.xml",
    "share/man/man1/stepscope.1",
    "share/bash-completion/completions/stepscope",
    "share/zsh/site-functions/_stepscope",
    "share/fish/vendor_completions.d/stepscope.fish",
    "share/doc/stepscope/LICENSE",
    "share/stepscope/stepscope.cdx.json",
]
LISTS = """cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(stepscope {version} REQUIRED)
add_executable(user {source})
target_link_libraries(user PRIVATE stepscope::stepscope)
"""
MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_files(prefix):
    missing = [pattern for pattern in WANTED if not list(prefix.glob(pattern))]
    assert not missing, f"not installed: {missing}"
    print(f"{len(WANTED)} files are in place")


def check_command(prefix, version):
    """From another folder and without variables, as after an installation."""
    said = run(prefix / "bin/stepscope", "version", cwd="/", env={"PATH": "/nowhere"})
    assert re.fullmatch(rf"stepscope {re.escape(version)}( \([0-9a-f]{{10}}\+?\))?\n", said), said
    print("the installed command runs")


def check_desktop(prefix):
    entry = configparser.ConfigParser(interpolation=None)
    path = prefix / "share/applications/stepscope.desktop"
    entry.read(path)
    entry = entry["Desktop Entry"]
    assert entry["Exec"].split()[0] == "stepscope", entry["Exec"]
    types = ElementTree.parse(prefix / "share/mime/packages/stepscope.xml").getroot()
    declared = {kind.get("type") for kind in types.iter(f"{MIME}mime-type")}
    assert set(entry["MimeType"].strip(";").split(";")) == declared, declared
    if shutil.which("desktop-file-validate"):
        run("desktop-file-validate", path)
    if shutil.which("update-mime-database"):
        run("update-mime-database", prefix / "share/mime")
    print("desktop file and types agree:", *sorted(declared))


def find_with_cmake(source, folder, prefix, wanted):
    """What CMake says when a project asks for this version."""
    project = folder / f"user-{wanted}"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        LISTS.format(version=wanted, source=source / "examples/steps.c"))
    done = subprocess.run(["cmake", "-S", project, "-B", project / "build",
                           f"-DCMAKE_PREFIX_PATH={prefix}"], capture_output=True, text=True)
    return done, project / "build"


def check_cmake(source, folder, prefix, version, trace):
    if not shutil.which("cmake"):
        print("no CMake here: find_package is left out")
        return
    done, build = find_with_cmake(source, folder, prefix, version)
    assert done.returncode == 0, done.stdout + done.stderr
    run("cmake", "--build", build)
    steps = run(build / "user", trace)
    assert "ProfilerStep" in steps, steps
    major, minor, _ = version.split(".")
    for other in (f"{major}.{int(minor) + 1}", f"{int(major) + 1}.0"):
        done, _ = find_with_cmake(source, folder, prefix, other)
        assert done.returncode and "stepscopeConfig.cmake" in done.stderr, f"{other} was found"
    print("find_package: found, compiled, run; newer versions refused")


def check_subproject(source, folder, version, is_whole):
    """A project that has stepscope as a subproject is configured; with --whole it is built."""
    project = folder / "above"
    (project / "subprojects").mkdir(parents=True)
    (project / "subprojects/stepscope").symlink_to(source)
    (project / "main.c").write_text("#include <stdio.h>\n#include <stepscope.h>\n"
                                    "int main(void)\n{\n\tputs(ss_version());\n}\n")
    (project / "meson.build").write_text(
        "project('above', 'c', default_options: ['c_std=c17'])\n"
        "executable('main', 'main.c', dependencies: dependency('stepscope',\n"
        "  fallback: 'stepscope', default_options: ['python=disabled']))\n")
    run(shutil.which("meson"), "setup", project / "build", project)
    if not is_whole:
        print("configured as a subproject")
        return
    run("ninja", "-C", project / "build", "main")
    said = run(project / "build/main").strip()
    assert said == version, said
    print("built as a subproject")


def main(stepscope, source, build, *whole):
    source = Path(source)
    version = run(stepscope, "version").split()[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(shutil.which("meson"), "install", "-C", build, "--no-rebuild", "--destdir",
            folder / "root")
        [command] = (folder / "root").rglob("bin/stepscope")
        prefix = command.parent.parent
        check_files(prefix)
        check_command(prefix, version)
        check_desktop(prefix)
        run(stepscope, "sim", "--preset", "gpu1-healthy", "--steps", "2", "-o",
            folder / "job")
        [trace] = (folder / "job").glob("rank*.json*")
        check_cmake(source, folder, prefix, version, trace)
        check_subproject(source, folder, version, whole == ("--whole",))


main(*sys.argv[1:])
