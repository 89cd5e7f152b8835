# SPDX-License-Identifier: Apache-2.0
# The C part. Its users are the other files of this folder.
from collections.abc import Callable
from typing import Any, final

# what memoryview() and numpy.frombuffer() take; typing has no word for it before 3.12
_Buffer = Any

version: str

class Error(Exception): ...
class FileError(Error, OSError): ...
class FormatError(Error, ValueError): ...
class LimitError(Error, MemoryError): ...
class MissingError(Error, LookupError): ...
class UsageError(Error, ValueError): ...
class StoppedError(Error): ...

_Options = tuple[str, ...]

@final
class Table:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...
    def metadata(self) -> dict[str, str]: ...
    def fields(self) -> list[tuple[str, str, dict[str, str]]]: ...
    def column(self, index: int, /) -> tuple[_Buffer, _Buffer | None, list[str] | None]: ...
    def values(self, index: int, start: int, stop: int, /) -> list[object]: ...

class Session:
    def __new__(
        cls,
        paths: tuple[bytes, ...],
        threads: int = 0,
        memory_limit: int = 0,
        run: str | None = None,
        reduce: bool = False,
        progress: Callable[[str, float], object] | None = None,
    ) -> Session: ...
    def run(
        self,
        what: str | None,
        format: str | None,
        rank: str | None,
        step: str | None,
        top: int,
        width: int,
        color: bool,
        options: _Options,
        /,
    ) -> str: ...
    def table(
        self,
        what: str | None,
        format: str | None,
        rank: str | None,
        step: str | None,
        top: int,
        width: int,
        color: bool,
        options: _Options,
        /,
    ) -> Table: ...
    def memory(
        self,
        before: Session | None,
        what: str | None,
        format: str | None,
        rank: str | None,
        step: str | None,
        top: int,
        width: int,
        color: bool,
        options: _Options,
        /,
    ) -> str: ...
    def memory_table(
        self,
        before: Session | None,
        what: str | None,
        format: str | None,
        rank: str | None,
        step: str | None,
        top: int,
        width: int,
        color: bool,
        options: _Options,
        /,
    ) -> Table: ...
    def compare(
        self,
        other: Session,
        what: str | None,
        format: str | None,
        rank: str | None,
        step: str | None,
        top: int,
        width: int,
        color: bool,
        options: _Options,
        /,
    ) -> str: ...
    def compare_table(
        self,
        other: Session,
        what: str | None,
        format: str | None,
        rank: str | None,
        step: str | None,
        top: int,
        width: int,
        color: bool,
        options: _Options,
        /,
    ) -> Table: ...
    def report(self, other: Session | None, page: bytes, limit: int, /) -> bytes: ...
    def sql(
        self,
        statements: str,
        library: str | None,
        allow_files: bool,
        threads: int,
        memory_limit: int,
        /,
    ) -> Table | None: ...
    def counts(self) -> tuple[int, int, int]: ...
    def cancel(self) -> None: ...
    def close(self) -> None: ...

def offers() -> list[tuple[str, str, bool, bool]]: ...
def snapshot_offers() -> list[tuple[str, str, bool, bool]]: ...
def options_of(what: str, /) -> list[tuple[str, str | None, str]]: ...
def explain(
    what: str | None,
    format: str | None,
    rank: str | None,
    step: str | None,
    top: int,
    width: int,
    color: bool,
    options: _Options,
    /,
) -> str: ...
def store_changes(store: bytes, job: str | None, library: str | None, /) -> Table: ...
def simulate(folder: bytes, preset: str, seed: int, /) -> int: ...
def viewer() -> bytes | None: ...
def command(words: tuple[bytes, ...], /) -> int: ...
