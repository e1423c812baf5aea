"""Tables larger than memory, on the command line."""

import json
from pathlib import Path

from wideberth import datasets, io

QUASI = ("age", "birthplace", "occupation")

LINE = [
    "anonymize",
    "many.csv",
    "--qi",
    "age,birthplace,occupation",
    "--sensitive",
    "income",
    "--principle",
    "epsilon-m:epsilon=1000,m=3",
    "--memory",
    "600MB",
    "--bucket-rows",
    "2000",
    "-o",
    "out.csv",
]


def test_anonymize_under_a_limit(run):
    io.write(datasets.sal(6_000, seed=4), "many.csv")
    done = run(*LINE)
    assert done.code == 0, done.err
    assert "6,000 rows" in done.out
    told = json.loads(Path("out.csv.manifest.json").read_text())
    assert told["engine"]["name"] == "files"
    assert told["input"]["name"] == "many.csv"
    checked = ["check", "out.csv", "--group", "group", "--sensitive", "income", "--memory", "600MB"]
    assert run(*checked, "--principle", "epsilon-m:epsilon=1000,m=3").code == 0
    assert run(*LINE).code == 1  # it exists
    assert run(*LINE, "--force").code == 0


def test_options_that_need_the_table_in_memory(run):
    io.write(datasets.sal(100, seed=4), "many.csv")
    run(*LINE, "--report", "r.html").refuses(2, "--report needs all of TABLE in memory")
    run(*LINE, "--threads", "2").refuses(2, "--threads needs all of TABLE in memory")
    run(*LINE, "--master", "local[2]").refuses(2, "--master is for --engine spark")
    run(*LINE, "--engine", "spark").refuses(2, "--memory is for files")


def test_a_folder_of_files_is_one_table(run):
    people = datasets.sal(400, seed=4)
    Path("parts.parquet").mkdir()
    for number, part in enumerate(people.iter_slices(150)):
        io.write(part, f"parts.parquet/{number}.parquet")
    line = ["check", "parts.parquet", "--qi", "age", "--sensitive", "income"]
    line += ["--principle", "distinct-l:l=2"]
    io.write(people, "whole.parquet")
    there = run(*line, "--memory", "600MB", "--format", "json")
    here = run(line[0], "whole.parquet", *line[2:], "--format", "json")
    told, other = json.loads(there.out), json.loads(here.out)
    for worst in other["principles"][0]["worst"]:
        assert worst["number"]
        worst["number"] = None  # groups of a file have no numbers
    assert told == other
    run(*line).refuses(1, "is a directory", "--memory")
    io.write(people.rename({"age": "Age"}), "parts.parquet/x.parquet")
    run(*line, "--memory", "600MB").refuses(1, "have different columns")


def test_refused_before_spark_starts(run):
    line = ["anonymize", "no.parquet", "--qi", "age", "--sensitive", "income", "--engine", "spark"]
    line += ["--principle", "k-anonymity:k=3", "-o", "out.parquet"]
    run(*line).refuses(1, "there is no file no.parquet")
    run(*line, "--cuts", "quality").refuses(2, "needs the whole table in memory")
    run(*line, "--algorithm", "anatomy").refuses(2, "needs the whole table in memory")
    Path("out.parquet").mkdir()
    run(*line, "--force").refuses(1, "no release that could be replaced")


def test_where_spark_cannot_write(run):
    io.write(datasets.sal(100, seed=4), "many.parquet")
    line = [
        "anonymize",
        "many.parquet",
        "--qi",
        "age,birthplace,occupation",
        "--sensitive",
        "income",
    ]
    line += ["--principle", "k-anonymity:k=3", "--engine", "spark", "-o"]
    run(*line, "out.csv").refuses(1, "Spark writes Parquet", "release.parquet")
    run(*line, "many.parquet", "--force").refuses(1, "is the file that is read")
    run(*line, "no/out.parquet").refuses(1, "there is no directory no")
    Path("out.parquet.manifest.json").touch()
    run(*line, "out.parquet").refuses(1, "out.parquet.manifest.json exists", "--force")
