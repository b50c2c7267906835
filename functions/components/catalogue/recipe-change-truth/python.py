"""Correct a truth, and see the run evaluated again."""
import base64
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

QRELS = "1 0 lake 1\n"
RUN = "1 Q0 pond 1 2.0 mine\n1 Q0 lake 2 1.0 mine\n"


def call(method, path, body=None):
    """Send a request as the user of the token, and return what the answer says."""
    request = Request(
        os.environ["ASSAY_URL"] + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["ASSAY_TOKEN"],
            "Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json",
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
    "evaluator": {"kind": "retrieval", "measures": ["RR"]},
})
call("POST", task + "/registrations", {"team": "My team"})
entry = file("run.txt", RUN) | {"datasetId": dataset["id"]}
run = ended(call("POST", task + "/submissions", {"type": "upload", "files": [entry]})["runIds"][0])


def show(run):
    evaluation = call("GET", "/v1/evaluations/" + run["evaluationId"])
    print("version", evaluation["truthVersion"], "of the ground truth and evaluator: RR", evaluation["measures"]["RR"])


show(run)
corrected = {"truths": [file("qrels.txt", QRELS + "1 0 pond 1\n")]}
version = call("PATCH", "/v1/datasets/" + dataset["id"], corrected)["truthVersion"]
for _ in range(150):
    again = call("GET", "/v1/runs/" + run["id"])
    if again["state"] == "completed" and again["evaluationId"] != run["evaluationId"]:
        break
    time.sleep(0.2)
show(again)
