"""How results look: numbers in words, tables, charts, and small HTML for notebooks.

Everything here takes plain dicts, those that results give as JSON, and knows nothing of how they
came about.
"""
