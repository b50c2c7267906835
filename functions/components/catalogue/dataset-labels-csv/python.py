"""Make a dataset whose truth are labels in a CSV file."""
import base64
import json
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

LABELS = """id,label
a,cat
b,cat
c,dog
d,dog
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


organizer = call("POST", "/v1/organizers", {"name": "My lab"})["url"].split("/")[-1]
task = call("POST", "/v1/tasks", {"organizerId": organizer, "name": "Animals", "visibility": "private"})["url"]
dataset = call("POST", "/v1/datasets", {
    "taskId": task.split("/")[-1],
    "name": "Pictures",
    "split": "training",
    "truths": [file("labels.csv", LABELS)],
    "runFormat": {"kind": "csv", "idField": "id", "valueField": "label"},
    "evaluator": {"kind": "classification", "measures": ["Accuracy"]},
})

print("version", dataset["truthVersion"], "of the ground truth and evaluator")
