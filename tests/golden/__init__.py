"""What must not change: names, help, output and releases, compared with the files in `stored`.

`snapshots` compares and rewrites; the tables that commands read are in `tables`.
"""
