"""The upper part of a large table's split tree, grown by scans over its rows."""
