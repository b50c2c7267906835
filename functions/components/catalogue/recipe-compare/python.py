"""Submit two runs, and show on which topics the second is better."""
import base64
import json
import os
import time
from urllib.request import Request, urlopen

QRELS = "1 0 lake 1\n2 0 river 1\n"
BEFORE = "1 Q0 lake 1 2.0 a\n1 Q0 pond 2 1.0 a\n2 Q0 pond 1 2.0 a\n2 Q0 river 2 1.0 a\n"
AFTER = "1 Q0 pond 1 2.0 b\n1 Q0 lake 2 1.0 b\n2 Q0 river 1 2.0 b\n2 Q0 pond 2 1.0 b\n"


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
    with urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or "null")


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

call("POST", task + "/registrations", {"team": "My team"})
topics = []
for text in (BEFORE, AFTER):
    entry = file("run.txt", text) | {"datasetId": dataset["id"]}
    run = ended(call("POST", task + "/submissions", {"type": "upload", "files": [entry]})["runIds"][0])
    topics.append(call("GET", "/v1/evaluations/" + run["evaluationId"])["perTopic"])

before, after = topics
for topic in sorted(before):
    print(topic, format(after[topic]["AP"] - before[topic]["AP"], "+.2f"))
