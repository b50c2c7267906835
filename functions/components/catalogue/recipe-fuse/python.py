"""Submit two runs, fuse them, and submit what comes out."""
import base64
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

QRELS = "1 0 lake 1\n2 0 river 1\n"
WORDS = "1 Q0 lake 1 9 words\n2 Q0 road 1 9 words\n2 Q0 river 2 8 words\n"
MEANING = "1 Q0 pond 1 0.9 meaning\n1 Q0 lake 2 0.8 meaning\n2 Q0 river 1 0.9 meaning\n"


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


def submit(name, text):
    """Submit a run, and return its id once it is evaluated."""
    entry = file(name + ".txt", text) | {"datasetId": dataset["id"]}
    run = ended(call("POST", task + "/submissions", {"type": "upload", "title": name, "files": [entry]})["runIds"][0])
    print(name, "AP", call("GET", "/v1/evaluations/" + run["evaluationId"])["measures"]["AP"])
    return run["id"]


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

runs = [{"runId": submit("words", WORDS)}, {"runId": submit("meaning", MEANING)}]
fused = call("POST", "/v1/tools/fusion", {"runs": runs, "method": "rrf", "tag": "fused"})
submit("fused", base64.b64decode(fused["file"]["content"]).decode())
