"""The command line: each command calls one library function.

Nothing heavy is imported before a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from io import TextIOWrapper
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
from wideberth.cli.options import SETTINGS
from wideberth.cli.principles import principles
from wideberth.cli.report import report
from wideberth.cli.reproduce import reproduce
from wideberth.cli.ui import ui
from wideberth.errors import WideberthError, unexpected

INTERRUPTED = 130


@click.group(context_settings=SETTINGS)
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
    reproduce,
    ui,
):
    wideberth.add_command(command)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; a user's mistake is one message, never a traceback."""
    warnings.showwarning = _note
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a "✓" that cannot be shown is no error
    try:
        result = wideberth.main(args=arguments, prog_name="wideberth", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except WideberthError as error:
        _say(f"error: {error}")
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has gone; let the interpreter's last flush go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except SystemExit:
        raise
    except OSError as error:  # a full disk, say, while results are printed
        _say(f"error: {error.strerror or 'input or output failed'}")
        sys.exit(1)
    except BaseException as error:  # polars' own panics are not even an Exception
        _say(_internal(error))
        sys.exit(1)
    sys.exit(result if isinstance(result, int) else 0)


def _internal(error: BaseException) -> str:
    """Describe a bug without the values that it may mention."""
    if os.environ.get("WIDEBERTH_TRACEBACK"):
        return traceback.format_exc()
    return f"error: {unexpected(error)}"


def _note(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(f"note: {message}")


def _say(text: str) -> None:
    click.echo(text, err=True)
