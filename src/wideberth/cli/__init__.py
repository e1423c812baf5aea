"""The command line: each command calls one library function.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once. Other
distributions can add commands (:mod:`wideberth.cli.plugins`).
"""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from itertools import pairwise
from typing import Any, NoReturn

import click

from wideberth import __version__
from wideberth.cli.advise import advise
from wideberth.cli.anonymize import anonymize
from wideberth.cli.audit import audit
from wideberth.cli.check import check
from wideberth.cli.demo import demo
from wideberth.cli.hierarchy import hierarchy
from wideberth.cli.init import init
from wideberth.cli.join import join
from wideberth.cli.lattice import lattice
from wideberth.cli.measure import measure
from wideberth.cli.metrics import metrics
from wideberth.cli.options import SETTINGS, echo_json
from wideberth.cli.plugins import Commands
from wideberth.cli.principles import principles
from wideberth.cli.report import report
from wideberth.cli.ui import ui
from wideberth.errors import PrivacyWarning, WideberthError, on_command_line, unexpected

INTERRUPTED = 130
_STDERR = 2


@click.group(cls=Commands, context_settings=SETTINGS)
@click.version_option(__version__, prog_name="wideberth")
def wideberth() -> None:
    """Publish tables about people without giving away what is true of one of them.

    \b
    wideberth ui people.csv                         all of it in the browser
    wideberth init people.csv -o policy.toml        guess the roles of the columns
    wideberth advise people.csv --sensitive salary  which parameters are possible?
    wideberth check people.csv -p policy.toml       which principles hold, where do they fail?
    wideberth anonymize people.csv -p policy.toml -o release.csv    make and verify a release
    wideberth audit release.csv --original people.csv   what would an adversary learn?
    wideberth report release.csv --original people.csv -p policy.toml -o report.html
    wideberth measure release.csv --original people.csv -p policy.toml  what is it still worth?
    wideberth lattice people.csv -p policy.toml     which levels of hierarchies can be published?
    wideberth join quasi.csv sensitive.csv -o joined.csv    the two tables of an anatomy as one
    wideberth principles                            all principles and what they protect against
    wideberth metrics                               all measures of what a release is worth
    wideberth reproduce li2008 --rows 20000         run a paper's experiments anew

    Exit codes: 0 satisfied, 1 error, 2 wrong usage, 3 not satisfied, 130 interrupted.
    """


for command in (
    advise,
    anonymize,
    audit,
    check,
    demo,
    hierarchy,
    init,
    join,
    lattice,
    measure,
    metrics,
    principles,
    report,
    ui,
):
    wideberth.add_command(command)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; a user's mistake is one message, never a traceback."""
    warnings.showwarning = _note
    _let_readers_leave()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a "✓" that cannot be shown is no error
    with on_command_line(), _alone_on_stderr(), _ending_in_order():
        sys.exit(_code(sys.argv[1:] if arguments is None else arguments))


def _code(arguments: list[str]) -> int:
    """Run the command line, report what went wrong, and return the exit code."""
    try:
        result = wideberth.main(args=arguments, prog_name="wideberth", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        failed = WideberthError(error.format_message())
        return _failed(arguments, {**failed.to_dict(), "error": "UsageError"}, error.exit_code)
    except WideberthError as error:
        _say(f"error: {error}")
        return _failed(arguments, error.to_dict(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _interrupted(arguments)
    except BrokenPipeError:  # the reader of standard error has gone
        return 1
    except SystemExit:
        raise
    except OSError as error:  # a full disk, say, while results are printed
        failed = WideberthError(error.strerror or "input or output failed")
        _say(f"error: {failed}")
        return _failed(arguments, failed.to_dict(), failed.exit_code)
    except BaseException as error:  # polars' own panics are not even an Exception
        if "KeyboardInterrupt" in str(error):  # at which they happen, now and then
            return _interrupted(arguments)
        _say(_internal(error))
        return _failed(arguments, unexpected(error).to_dict(), 1)
    return result if isinstance(result, int) else 0


def _interrupted(arguments: Sequence[str]) -> int:
    _say("interrupted")
    told = {**WideberthError("interrupted").to_dict(), "error": "Interrupted"}
    return _failed(arguments, told, INTERRUPTED)


def _failed(arguments: Sequence[str], told: dict[str, Any], code: int) -> int:
    """Write an error as JSON as well, if JSON was asked for, and return the exit code."""
    if "--format=json" in (*arguments, *map("=".join, pairwise(arguments))):
        with suppress(OSError):
            echo_json({**told, "exit_code": code})
            sys.stdout.flush()
    return code


class _Output(io.FileIO):
    """Standard output that goes nowhere once its reader has gone, as `head` does."""

    def write(self, data: Any, /) -> int:
        """Write; without a reader, pretend to."""
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return len(memoryview(data).cast("B"))


def _let_readers_leave() -> None:
    """Let commands run to their end, and to their exit code, when the reader of a pipe leaves."""
    # A failed check whose output is cut off by `head` must not end like a satisfied one.
    ours = sys.stdout
    if ours is not sys.__stdout__ or not isinstance(ours, TextIOWrapper):
        return  # a test's or a notebook's
    with suppress(OSError, ValueError):  # closed
        ours.flush()
        raw = _Output(ours.fileno(), "wb", closefd=False)
        sys.stdout = TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=ours.encoding,
            errors=ours.errors,
            line_buffering=ours.line_buffering,
        )


@contextmanager
def _alone_on_stderr() -> Iterator[None]:
    """Keep libraries from writing to standard error: what they print may hold values of people."""
    # Our own messages still go there. WIDEBERTH_TRACEBACK=1 shows everything.
    ours = sys.stderr
    try:
        usual = isinstance(ours, TextIOWrapper) and ours.fileno() == _STDERR
    except (OSError, ValueError):  # closed, or not a file
        usual = False
    if not usual or os.environ.get("WIDEBERTH_TRACEBACK"):
        yield
        return
    ours.flush()
    kept, nowhere = os.dup(_STDERR), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _STDERR)
    os.close(nowhere)
    with open(kept, "w", buffering=1, encoding=ours.encoding, errors="replace") as stream:
        sys.stderr = stream
        try:
            yield
        finally:
            sys.stderr = ours
            os.dup2(kept, _STDERR)


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Turn signals that end the program into exceptions, so that it leaves nothing behind."""

    # A signal that is ignored stays so, as `nohup` wants it; a second one ends the program at once.
    def end(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        sys.exit(128 + number)

    changed = []
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        with suppress(ValueError):  # in another thread than the first
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, end)
                changed.append(number)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


def _internal(error: BaseException) -> str:
    """Describe a bug without the values that it may mention."""
    if os.environ.get("WIDEBERTH_TRACEBACK"):
        return traceback.format_exc()
    return f"error: {unexpected(error)}"


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    kind = "warning" if isinstance(message, PrivacyWarning) else "note"
    _say(f"{kind}: {message}")


def _say(text: str) -> None:
    click.echo(text, err=True)
