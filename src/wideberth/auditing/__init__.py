"""What an adversary learns from a published table, whoever made it."""

from wideberth.auditing.inquiry import Attribute, Audit, audit

__all__ = ["Attribute", "Audit", "audit"]
