"""Have a ranking evaluated with subtopics."""
import base64
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

QRELS = """1 animal panther 1
1 animal habitat 1
1 car dealer 1
1 car panther 0
1 music guitar 1
"""
RUN = """1 Q0 panther 1 4.0 mine
1 Q0 habitat 2 3.0 mine
1 Q0 dealer 3 2.0 mine
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
task = call("POST", "/v1/tasks", {"organizerId": organizer, "name": "Ambiguous queries", "visibility": "private"})["url"]
dataset = call("POST", "/v1/datasets", {
    "taskId": task.split("/")[-1],
    "name": "Jaguar",
    "split": "training",
    "truths": [file("qrels.txt", QRELS)],
    "runFormat": {"kind": "trec-run"},
    "evaluator": {"kind": "diversity", "measures": ["alpha_nDCG@20", "ERR_IA@20", "StRecall@20"]},
})

call("POST", task + "/registrations", {"team": "My team"})
entry = file("run.txt", RUN) | {"datasetId": dataset["id"]}
run = ended(call("POST", task + "/submissions", {"type": "upload", "files": [entry]})["runIds"][0])
measures = call("GET", "/v1/evaluations/" + run["evaluationId"])["measures"]
for name, value in sorted(measures.items()):
    print(f"{name} = {value:.4f}")
