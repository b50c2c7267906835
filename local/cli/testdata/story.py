"""A story with the installed module: it evaluates and submits dicts, data frames and files."""

import pathlib
import tempfile
import warnings

import assay_tasks
import pandas

warnings.simplefilter("error")
qrels = {"1": {"lake": 1}, "2": {"river": 2}}
run = {"1": {"lake": 2.0}, "2": {"sea": 2.0, "river": 1.0}}
want = {"nDCG@10": 0.8154648767857287, "RR": 0.75}


def frame(of, *columns):
    return pandas.DataFrame([(t, d, v) for t, documents in of.items() for d, v in documents.items()], columns=columns)


def refused(call, *arguments, **named):
    try:
        call(*arguments, **named)
    except (assay_tasks.Error, ValueError) as error:
        return error
    raise AssertionError(f"{arguments} is not refused")


scores = assay_tasks.evaluate(qrels, run, ["nDCG@10", "RR"])
assert scores == want, scores
assert scores.per_topic == {"1": {"nDCG@10": 1.0, "RR": 1.0}, "2": {"nDCG@10": 0.6309297535714574, "RR": 0.5}}, scores.per_topic
for named in (("query_id", "doc_id", "relevance", "score"), ("qid", "docno", "label", "score"), ("topic", "docid", "grade", "sim")):
    got = assay_tasks.evaluate(frame(qrels, *named[:3]), frame(run, *named[:2], named[3]), want)
    assert got == want, got
assert assay_tasks.evaluate(frame(qrels, "qid", "docno", "rel").astype({"rel": float}), run, want) == want
assert list(assay_tasks.evaluate(qrels, run)) == ["AP", "P@10", "R@1000", "RR", "nDCG@10"]
assert assay_tasks.evaluate(qrels, run, "RR") == {"RR": 0.75}

error = refused(assay_tasks.evaluate, qrels, {"1": {"lake": float("nan")}}, "RR")
assert error.code == 2 and "run.txt:1: error" in str(error), error
assert "space" in str(refused(assay_tasks.evaluate, qrels, {"1": {"a lake": 1.0}}, "RR"))
assert "no column" in str(refused(assay_tasks.evaluate, qrels, frame(run, "qid", "docno", "x"), "RR"))
assert "did you mean AP" in str(refused(assay_tasks.evaluate, qrels, run, "ap"))

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "my run.txt"
    path.write_text("1 Q0 lake 1 2.0 tom\n2 Q0 sea 1 2.0 tom\n2 Q0 river 2 1.0 tom\n", encoding="utf-8")
    assert assay_tasks.evaluate(qrels, path, want) == want
    [of] = assay_tasks.submit("Lake search", {"Rivers": path}, team="Otters", title="From a file")
    assert of["run"]["state"] == "completed" and of["evaluation"]["measures"] == {"AP": 0.375}, of
[of] = assay_tasks.submit("Lake search", {"Rivers": frame(run, "qid", "docno", "score")}, title=None)
assert "title" not in of["run"] or of["run"]["title"] != "None"
assert of["leaderboard"]["rank"] == 1, of
made = assay_tasks.submit("Lake search", [frame(run, "qid", "docno", "score")], wait=False, dataset="Rivers", public=True)
assert len(made["runIds"]) == 1 and made["visibility"] == "public", made
assert refused(assay_tasks.submit, "Ponds", {"Rivers": run}).code == 7
print("All of it holds.")
