"""Watch a run until it has ended."""
import base64
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

QRELS = "1 0 lake 2\n1 0 pond 1\n2 0 river 1\n"


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

call("POST", task + "/registrations", {"team": "My team"})
entry = file("run.txt", "1 Q0 lake 1 1.0 mine\n") | {"datasetId": dataset["id"]}
run_id = call("POST", task + "/submissions", {"type": "upload", "files": [entry]})["runIds"][0]

seen, wait = None, 0.1
while seen not in ("completed", "failed", "cancelled"):
    run = call("GET", "/v1/runs/" + run_id + "?fields=state,logTail,diagnostics")
    if run["state"] != seen:
        seen, wait = run["state"], 0.1
        print(seen)
    time.sleep(wait)
    wait = min(2 * wait, 10)  # polls long runs less often
