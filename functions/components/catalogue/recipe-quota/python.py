"""Use up a quota, and be told when to come back."""
import base64
import json
import os
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
    with urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or "null")


def file(name, text):
    """Return a file as it travels within a request."""
    return {"name": name, "content": base64.b64encode(text.encode()).decode()}


organizer = call("POST", "/v1/organizers", {"name": "My lab"})["url"].split("/")[-1]
task = call("POST", "/v1/tasks", {
    "organizerId": organizer, "name": "Lake search", "visibility": "private", "submissions": {"perDay": 1},
})["url"]
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
try:
    for _ in range(2):
        submission = call("POST", task + "/submissions", {"type": "upload", "files": [entry], "again": True})
        print("left:", submission["quota"]["datasets"][0]["left"])
except HTTPError as error:
    print(error.code, "come back in", error.headers["Retry-After"], "seconds")
