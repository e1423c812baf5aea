"""A report: what a release risks, what it costs and what it promises, for people who decide."""
