"""From a table about people to a release: group, recode, publish, verify."""
