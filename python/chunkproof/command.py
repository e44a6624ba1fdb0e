# SPDX-License-Identifier: Apache-2.0
"""What the commands of the package share: a file is written whole or not at all."""
import contextlib
import errno
import os
import sys
import tempfile
from collections.abc import Iterable

from .refusal import Refusal


def begin() -> None:
    """Without standard error, which was closed before Python began, messages lead nowhere. Python
    would write them to standard output."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")


def refused(refusal: Exception, who: str = "") -> int:
    """Says on standard error what is not taken, and returns 2, also where nobody can read it."""
    try:
        print(f"{who}{refusal}", file=sys.stderr, flush=True)
    except OSError:
        to_nowhere(2)
    return 2


def to_nowhere(handle: int) -> None:
    """Python would try to write again at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), handle)


def write(text: str, path: str | None, sources: Iterable[str]) -> None:
    """To a file, which is none of the sources, and gets its name once it is complete; without one,
    to standard output."""
    data = text.encode()
    try:
        if path is None:
            if sys.stdout is None:  # it was closed before Python began
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            return
        if os.path.exists(path) and any(os.path.samefile(one, path) for one in sources):
            raise Refusal(f"{path} is a file of the program; name another file to write")
        if os.path.exists(path) and not os.path.isfile(path):  # /dev/stdout, a pipe
            with open(path, "wb") as file:
                file.write(data)
            return
        whole(data, path)
    except OSError as error:
        to_nowhere(1)
        raise Refusal(f"cannot write {path or 'to standard output'}: {error.strerror}") from None


def whole(data: bytes, path: str) -> None:
    folder = os.path.dirname(os.path.realpath(path))
    handle, name = tempfile.mkstemp(prefix=".chunkproof-", dir=folder)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, os.path.realpath(path))
    except BaseException:
        os.unlink(name)
        raise
