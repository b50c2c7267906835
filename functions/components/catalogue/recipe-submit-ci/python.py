"""Submit a run, and fail with its diagnostics unless it is evaluated."""
import base64
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

QRELS = "1 0 lake 1\n1 0 pond 0\n"
RUN = "1 Q0 lake 1 2.0 mine\n1 Q0 pond 2 1.0 mine\n"


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
    "truths": [file("qrels.txt", QRELS)],
    "runFormat": {"kind": "trec-run"},
    "evaluator": {"kind": "retrieval", "measures": ["AP"]},
})

# A CI job begins here, with the task and the dataset.
call("POST", task + "/registrations", {"team": "My team"})
entry = file("run.txt", RUN) | {"datasetId": dataset["id"]}
submission = call("POST", task + "/submissions", {"type": "upload", "title": "build 1", "files": [entry]})
for run_id in submission["runIds"]:
    run = ended(run_id)
    for d in run["diagnostics"]:
        print(d["severity"], d.get("file", ""), d.get("line", ""), d["message"])
    if run["state"] != "completed":
        raise SystemExit(f"Run {run_id} is {run['state']}.")
    evaluation = call("GET", "/v1/evaluations/" + run["evaluationId"] + "?fields=measures")
    print(json.dumps(evaluation, separators=(",", ":")))
