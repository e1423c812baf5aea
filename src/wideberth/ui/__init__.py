"""A local web app for custodians: open a table, see what is possible, anonymize, judge, export.

Pages are made on the server and brought to life by plain modules; every step has an address. The
state of a table is a policy (:mod:`wideberth.ui.open_tables`), so whatever is done here can be
handed on as a file. Tables are read by processes of their own, one for each job
(:mod:`wideberth.ui.jobs`), which call the functions that the command line calls. Nothing leaves the
machine (:mod:`wideberth.ui.security`), and nothing stays behind (:mod:`wideberth.ui.workspace`).
"""

from wideberth.errors import EngineError


def missing_extra_error(error: ModuleNotFoundError) -> EngineError:
    """Return the error for missing packages of the extra [ui]."""
    return EngineError(
        f"the web app needs {error.name}, which is not installed",
        hint="pip install 'wideberth[ui]'",
    )
