"""Rank documents by shared words, and submit that as a baseline."""
import base64
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

TOPICS = "1\tdeep blue lake\n2\tslow river\n"
DOCUMENTS = "a\ta deep lake\nb\ta blue deep lake of ice\nc\ta slow river\n"
QRELS = "1 0 a 1\n2 0 c 1\n"


def call(method, path, body=None):
    """Send a request as the user of the token, and return what the answer says."""
    request = Request(
        os.environ["ASSAY_URL"] + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["ASSAY_TOKEN"],
            "Content-Type": "application/json",
        },
    )
    try:
        with urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "null")
    except HTTPError as refusal:  # the answer says what to do about it
        raise SystemExit(f"{method} {path}: {refusal}\n{refusal.read().decode()}") from None


def file(name, text):
    """Return a file as it travels within a request."""
    return {"name": name, "content": base64.b64encode(text.encode()).decode()}


def ended(run_id):
    """Wait until the run has ended, and return it."""
    for _ in range(150):
        run = call("GET", "/v1/runs/" + run_id)
        if run["state"] in ("completed", "failed", "cancelled"):
            return run
        time.sleep(0.2)
    raise SystemExit("The run is still at work. Look at it later: /v1/runs/" + run_id)


organizer = call("POST", "/v1/organizers", {"name": "My lab"})["url"].split("/")[-1]
task = call("POST", "/v1/tasks", {"organizerId": organizer, "name": "Lake search", "visibility": "private"})["url"]
dataset = call("POST", "/v1/datasets", {
    "taskId": task.split("/")[-1],
    "name": "Lakes",
    "split": "training",
    "inputs": [file("topics.tsv", TOPICS), file("documents.tsv", DOCUMENTS)],
    "truths": [file("qrels.txt", QRELS)],
    "runFormat": {"kind": "trec-run"},
    "evaluator": {"kind": "retrieval", "measures": ["AP"]},
})

inputs = {}
for given in dataset["inputs"]:
    with urlopen(given["url"], timeout=30) as content:
        rows = content.read().decode().removesuffix("\n").split("\n")
    inputs[given["name"]] = dict(row.split("\t") for row in rows)

lines = []
for topic, question in inputs["topics.tsv"].items():
    words = set(question.split())
    scores = {d: len(words & set(text.split())) for d, text in inputs["documents.tsv"].items()}
    for rank, d in enumerate(sorted(scores, key=scores.get, reverse=True), 1):
        lines.append(f"{topic} Q0 {d} {rank} {scores[d]} overlap\n")

entry = file("overlap.txt", "".join(lines)) | {"datasetId": dataset["id"]}
submission = call("POST", task + "/submissions", {"type": "upload", "title": "Word overlap", "baseline": True, "files": [entry]})
run = ended(submission["runIds"][0])
evaluation = call("GET", "/v1/evaluations/" + run["evaluationId"])
print("baseline", evaluation["baseline"], "AP", evaluation["measures"]["AP"])
