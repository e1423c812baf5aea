"""What each column is (its type) and what it does to privacy (its role), guessed or checked.

Types are told from all values of a column, never from a sample: one late odd value must not
come up in the middle of a release.
"""

from wideberth.schema.guessing import Guess, guess
from wideberth.schema.naming import absent, by_column, covers, expanded, prefix_of, short_for, shown
from wideberth.schema.proposing import policy_text
from wideberth.schema.roles import ROLES, check_roles
from wideberth.schema.types import TYPES, convert, infer_type
from wideberth.schema.vectors import components, is_vector, require_finite, require_vectors

__all__ = [
    "ROLES",
    "TYPES",
    "Guess",
    "absent",
    "by_column",
    "check_roles",
    "components",
    "convert",
    "covers",
    "expanded",
    "guess",
    "infer_type",
    "is_vector",
    "policy_text",
    "prefix_of",
    "require_finite",
    "require_vectors",
    "short_for",
    "shown",
]
