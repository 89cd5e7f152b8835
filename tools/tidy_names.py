# SPDX-License-Identifier: Apache-2.0
"""tidy_names.py - rules of tidy.py about names and doors, and the exceptions from rules.

A name says what it does without its file, so that a search finds one place. Each rule yields
(path, line, sentence) for the tree; the sentence begins with the quoted name and how often it is
wrong, which is how tidy_exceptions.txt refers to it. That list only shrinks: an exception that is
larger than the problem is a problem too.
"""

import re
from collections import defaultdict

# Names that a static function may share with one other file, not with more.
FUNCTION_FILES_MAX = 2
TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{")
# Folders that no newcomer opens to learn how a layer works: surfaces stand on these alone.
DOORS = ("api", "base")
EXCEPTION = re.compile(r"^(\S+) '([^']+)' (\d+)$")


def sources(files):
    return [file for file in files if file.folder == "src" and file.path.suffix in (".c", ".h")]


def subject_of(file, names):
    """The path without its ending; X_isal.c, X_zlib.c, X_none.c are one where X_none.c is there."""
    path = file.path.with_suffix("")
    stem = path.name.rpartition("_")[0]
    is_twin = stem and path.parent / (stem + "_none") in names
    if path.parent / (path.name + "_none") in names:
        return path
    return path.parent / stem if is_twin else path


def places_by_name(files, names_of):
    """{ name: { subject: (path, line) } } of what `names_of` finds in a file."""
    found = defaultdict(dict)
    paths = {file.path.with_suffix("") for file in files}
    for file in files:
        for name, offset in names_of(file):
            place = (file.path, file.c.line_at(offset))
            found[name].setdefault(subject_of(file, paths), place)
    return found


def shared(found, most, advice):
    for name, places in sorted(found.items()):
        if len(places) > most:
            path, line = min(places.values())
            yield path, line, f"'{name}' {len(places)} files define it: {advice}"


def shared_function(files, library_path):
    found = places_by_name(
        sources(files),
        lambda file: [(item.name, item.start) for item in file.c.functions if item.name != "main"],
    )
    yield from shared(found, FUNCTION_FILES_MAX, "say what it does to what")


def shared_tag(files, library_path):
    found = places_by_name(
        sources(files),
        lambda file: [(match.group(1), match.start()) for match in TAG.finditer(file.c.code)],
    )
    yield from shared(found, 1, "name it after its subject")


def first_word(name):
    """The object that an exported function is of: session of ss_session_open."""
    words = name.split("_")
    return words[1] if words[0] == "ss" and len(words) > 1 else words[0]


def room_prefix(files, library_path):
    """The first word of an exported name belongs to one room, where a reader looks for it."""
    public = {
        item.name
        for file in files
        if file.folder == "include"
        for item in file.c.prototypes
    }
    rooms = defaultdict(lambda: defaultdict(list))
    for file in sources(files):
        for item in file.c.functions:
            if not item.is_static and item.name not in public and file.path.suffix == ".c":
                place = (file.path, file.c.line_at(item.start), item.name)
                rooms[first_word(item.name)][file.layer].append(place)
    for word, by_room in sorted(rooms.items()):
        if len(by_room) > 1:
            owner = max(by_room, key=lambda room: (len(by_room[room]), room))
            others = [place for room in sorted(by_room) if room != owner for place in by_room[room]]
            path, line, name = others[0]
            yield path, line, f"'{word}' {len(others)} names like {name}: {owner} has this word"


def surface_door(files, library_path, surfaces, starts):
    """Surfaces reach the library through api alone."""
    for file in sources(files):
        if file.layer not in surfaces:
            continue
        allowed = DOORS + (file.layer,) + starts.get(file.layer, ())
        behind = [
            include
            for include in file.c.includes
            if "/" in include.name and include.quoted and include.name.split("/")[0] not in allowed
        ]
        if behind:
            names = " ".join(include.name for include in behind)
            yield file.path, behind[0].line, f"'{file.path}' {len(behind)} behind api: {names}"


def read_exceptions(text):
    """{ (rule, name): number } of the lines of tidy_exceptions.txt."""
    found = {}
    for line in text.splitlines():
        match = EXCEPTION.match(line)
        if match:
            found[match.group(1), match.group(2)] = int(match.group(3))
    return found


def key_of(problem):
    """(rule, name), number of a problem that an exception can be about; None, 0 of others."""
    match = re.match(r"'([^']+)' (\d+) ", problem[3])
    return ((problem[2], match.group(1)), int(match.group(2))) if match else (None, 0)


def without_exceptions(problems, exceptions, path):
    """Problems beyond what the list allows, and entries of the list that nobody needs."""
    left, numbers = [], {}
    for problem in problems:
        key, number = key_of(problem)
        numbers[key] = number
        if number > exceptions.get(key, 0) or key is None:
            left.append(problem)
    for (rule, name), allowed in sorted(exceptions.items()):
        number = numbers.get((rule, name), 0)
        if number < allowed:
            sentence = f"'{name}': {rule} allows {allowed}, there are {number}: shrink the list"
            left.append((path, 1, "exception", sentence))
    return left
