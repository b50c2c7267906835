"""Evaluates and submits runs with the command line in this package.

    scores = assay_tasks.evaluate({"1": {"lake": 1}}, {"1": {"lake": 2.5, "sea": 1.0}}, ["nDCG@10", "RR"])
    scores["nDCG@10"], scores.per_topic["1"]["RR"]
    assay_tasks.submit("Lake search", "run.txt", team="Otters")

Judgments and runs are dicts of dicts (topic, document, grade or score), data frames of pandas or polars with a column for each of
these, or paths of files.
"""

import importlib.metadata
import json
import os
import subprocess
import tempfile
import warnings

_PATH = (str, os.PathLike)


class Error(Exception):
    """An error of the command line, with its message. code is the exit code, and result the JSON output, if any."""

    def __init__(self, text, code, result):
        super().__init__(text)
        self.code, self.result = code, result


class Scores(dict):
    """The values of a run by measure. An undefined value is None. per_topic has the values of each topic."""

    def __init__(self, values, per_topic):
        super().__init__(values)
        self.per_topic = per_topic


def evaluate(qrels, run, measures=()):
    """Evaluates a run without a server, with the server's code."""
    measures = [measures] if isinstance(measures, str) else [str(m) for m in measures]
    with tempfile.TemporaryDirectory() as folder:
        kind = [] if isinstance(run, _PATH) else ["--kind", "retrieval"]
        truth = _write(qrels, os.path.join(folder, "qrels.txt"), ("relevance", "label", "rel", "grade"), "{} 0 {} {:g}\n")
        found = _call(["eval", "--per-topic", *kind, "--", truth, _run(run, folder), *measures], folder)["runs"][0]
    return Scores(found["measures"], found.get("perTopic", {}))


def submit(task, files, wait=True, **options):
    """Submits a run, a list of runs, or a dict with a run for each dataset, and returns the outcome of each run, with its scores.

    Options are those of `assay submit`, such as team="Otters" or accept_terms=True. Without wait, the submission is returned.
    """
    flags = [f"--{name.replace('_', '-')}={str(value).lower() if isinstance(value, bool) else value}"
             for name, value in {"wait": wait, **options}.items() if value is not None]
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(files, dict):
            files = [f"{dataset}={_run(run, folder, f'run-{i}.txt')}" for i, (dataset, run) in enumerate(files.items())]
        else:
            files = files if isinstance(files, (list, tuple)) else [files]
            files = [_run(run, folder, f"run-{i}.txt") for i, run in enumerate(files)]
        return _call(["submit", *flags, "--", task, *files])


def _call(arguments, folder=None):
    """Runs the command line of this package, and returns its JSON output."""
    program = next(f for f in importlib.metadata.files("assay-tasks") if f.stem == "assay" and f.suffix in ("", ".exe"))
    done = subprocess.run([os.path.abspath(program.locate()), "--json", *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          encoding="utf-8", cwd=folder, check=False)
    result = json.loads(done.stdout) if done.stdout else None
    if done.returncode:
        raise Error(done.stderr.strip(), done.returncode, result)
    if done.stderr:
        warnings.warn(done.stderr.strip(), stacklevel=3)
    return result


def _run(value, folder, name="run.txt"):
    return _write(value, os.path.join(folder, name), ("score", "sim"), "{} Q0 {} 0 {!r} run\n")


def _write(value, path, columns, line):
    if isinstance(value, _PATH):
        return os.path.abspath(value)
    if hasattr(value, "columns"):
        named = (("query_id", "qid", "topic"), ("doc_id", "docno", "docid"), columns)
        rows = zip(*(value[_column(value, names)] for names in named))
    else:
        rows = ((topic, document, v) for topic, documents in value.items() for document, v in documents.items())
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for topic, document, v in rows:
            if len(f"{topic} {document}".split()) != 2:
                raise ValueError(f"the topic {topic!r} or the document {document!r} has a space in it, or is empty")
            file.write(line.format(topic, document, float(v)))
    return path


def _column(frame, names):
    for name in names:
        if name in frame.columns:
            return name
    raise ValueError(f"the data frame has no column {' or '.join(names)}")
