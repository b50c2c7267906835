"""Have texts evaluated that a system wrote."""
import base64
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

REFERENCES = [
    {"id": 1, "text": ["The lake lies north of the town.", "North of the town lies a lake."]},
    {"id": 2, "text": "Nobody knows who built the old bridge."},
    {"id": 3, "text": []},  # there is no answer
    {"id": 4, "text": "It flows into the sea."},
]
RUN = [
    {"id": 1, "text": "The lake lies north of the town."},
    {"id": 2, "text": "Nobody knows who built the bridge."},
    {"id": 3, "text": ""},
    {"id": 4, "text": "It ends in the sea."},
]


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


def file(name, items):
    """Return items as a file of JSON lines, as it travels within a request."""
    text = "".join(json.dumps(item) + "\n" for item in items)
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
task = call("POST", "/v1/tasks", {"organizerId": organizer, "name": "Questions", "visibility": "private"})["url"]
dataset = call("POST", "/v1/datasets", {
    "taskId": task.split("/")[-1],
    "name": "Rivers",
    "split": "training",
    "truths": [file("references.jsonl", REFERENCES)],
    "runFormat": {"kind": "jsonl", "idField": "id", "valueField": "text"},
    "evaluator": {"kind": "text", "measures": ["ROUGEL", "EM", "TokenF1", "BLEU"]},
})

call("POST", task + "/registrations", {"team": "My team"})
entry = file("run.jsonl", RUN) | {"datasetId": dataset["id"]}
run = ended(call("POST", task + "/submissions", {"type": "upload", "files": [entry]})["runIds"][0])
measures = call("GET", "/v1/evaluations/" + run["evaluationId"])["measures"]
for name, value in sorted(measures.items()):
    print(f"{name} = {value:.4f}")
