"""What an adversary learns from a published table, whoever made it."""

from wideberth.auditing.inquiry import audit
from wideberth.auditing.outcome import Attribute, Audit

__all__ = ["Attribute", "Audit", "audit"]
