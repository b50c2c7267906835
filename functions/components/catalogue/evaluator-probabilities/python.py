"""Have scores evaluated as those of PAN's authorship verification are, and probabilities of several labels."""
import base64
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

TRUTH = """{"id": "a", "value": true}
{"id": "b", "value": false}
{"id": "c", "value": true}
{"id": "d", "value": false}
"""
RUN = """{"id": "a", "value": 0.9}
{"id": "b", "value": 0.2}
{"id": "c", "value": 0.5}
{"id": "d", "value": 0.6}
"""
CLASSES = """id,value
a,negative
b,neutral
c,positive
d,neutral
"""
COLUMNS = """id,negative,neutral,positive
a,0.7,0.2,0.1
b,0.2,0.5,0.3
c,0.1,0.3,0.6
d,0.3,0.3,0.4
"""


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
task = call("POST", "/v1/tasks", {"organizerId": organizer, "name": "Authors", "visibility": "private"})["url"]
dataset = call("POST", "/v1/datasets", {
    "taskId": task.split("/")[-1],
    "name": "Pairs of texts",
    "split": "training",
    "truths": [file("truth.jsonl", TRUTH)],
    "runFormat": {"kind": "jsonl", "idField": "id", "valueField": "value"},
    "evaluator": {"kind": "probabilities", "measures": ["PAN", "AUC", "F1", "C@1", "F05u", "Brier"]},
})

call("POST", task + "/registrations", {"team": "My team"})
entry = file("run.jsonl", RUN) | {"datasetId": dataset["id"]}
run = ended(call("POST", task + "/submissions", {"type": "upload", "files": [entry]})["runIds"][0])
measures = call("GET", "/v1/evaluations/" + run["evaluationId"])["measures"]
for name, value in sorted(measures.items()):
    print(f"{name} = {value:.4f}")

# For more than two labels, a run has the probability of each: a column in CSV, or a member of an object in JSON lines.
several = call("POST", "/v1/tools/evaluator", {
    "runs": [{"files": [{"name": "run.csv", "text": COLUMNS}]}],
    "truth": {
        "files": [{"name": "truth.csv", "text": CLASSES}],
        "kind": "probabilities",
        "format": {"kind": "csv", "idField": "id", "valueField": "value"},
    },
    "measures": ["AUC(average=macro)", "LogLoss"],
})
for name, value in several["runs"][0]["measures"].items():
    print(f"{name} = {value:.4f}")
