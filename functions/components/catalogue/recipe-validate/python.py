"""Check a run for a dataset, and submit it once it is valid."""
import base64
import json
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

QRELS = "1 0 lake 2\n1 0 pond 1\n"
FAULTY = "1 Q0 lake 1 2.0 mine\n1 Q0 pond 2 high mine\n"
MENDED = "1 Q0 lake 1 2.0 mine\n1 Q0 pond 2 1.0 mine\n"


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

for text in (FAULTY, MENDED):
    run = {"files": [{"name": "run.txt", "text": text}]}
    checked = call("POST", "/v1/tools/validator", {"run": run, "datasetId": dataset["id"]})
    for d in checked["diagnostics"]:
        print(f"{d['severity']} in line {d.get('line', '-')}: {d['message']}")
    if checked["valid"]:
        entry = file("run.txt", text) | {"datasetId": dataset["id"]}
        submission = call("POST", task + "/submissions", {"type": "upload", "files": [entry]})
        print("Submitted as run", submission["runIds"][0])
