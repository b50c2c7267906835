"""Organize a task with two datasets."""
import base64
import json
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen


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
task = call("POST", "/v1/tasks", {
    "organizerId": organizer,
    "name": "Lake search",
    "description": "Rank lakes by how well they answer a question.",
    "visibility": "private",
    "registration": {"mode": "open"},
    "submissions": {"perDay": 5, "types": ["upload"], "closesAt": "2099-12-31T23:59:59Z"},
})["url"]
for split in ("training", "test"):
    dataset = call("POST", "/v1/datasets", {
        "taskId": task.split("/")[-1],
        "name": "Lakes, " + split,
        "split": split,
        "inputs": [file("topics.tsv", "1\tdeep lakes\n")],
        "truths": [file("qrels.txt", "1 0 lake 2\n1 0 pond 0\n")],
        "runFormat": {"kind": "trec-run"},
        "evaluator": {"kind": "retrieval", "measures": ["nDCG@10", "AP"]},
    })
    print(f"{dataset['name']}: version {dataset['truthVersion']} of the ground truth and evaluator")
print("The task is at", task)
