"""Tables that do not fit into memory: on a cluster, or in files larger than it.

The same questions, the same answers. What algorithms and principles need of a table is little: the
distinct values of its columns with their counts (`digest`), sums over rows (`scanning`), and a part
of the rows at a time (`finishing`). Who can give these is an engine: Spark, or files on a disk.
"""
