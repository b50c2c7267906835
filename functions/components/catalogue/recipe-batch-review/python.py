"""Publish all completed runs on a dataset, after a look at what that does."""
import base64
import json
import os
import time
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


organizer = call("POST", "/v1/organizers", {"name": "My lab"})["url"].split("/")[-1]
task = call("POST", "/v1/tasks", {"organizerId": organizer, "name": "Lake search", "visibility": "private"})["url"]
dataset = call("POST", "/v1/datasets", {
    "taskId": task.split("/")[-1],
    "name": "Lakes",
    "split": "test",
    "truths": [file("qrels.txt", "1 0 lake 2\n")],
    "runFormat": {"kind": "trec-run"},
    "evaluator": {"kind": "retrieval", "measures": ["AP"]},
})
call("POST", task + "/registrations", {"team": "My team"})
runs = []
for tag in ("first", "second", "third"):
    entry = file("run.txt", f"1 Q0 lake 1 1.0 {tag}\n") | {"datasetId": dataset["id"]}
    runs += call("POST", task + "/submissions", {"type": "upload", "files": [entry]})["runIds"]
for run in runs:
    for _ in range(60):
        if call("GET", "/v1/runs/" + run)["state"] in ("completed", "failed"):
            break
        time.sleep(0.5)

reviews = "/v1/datasets/" + dataset["id"] + "/reviews"
change = {"filter": {"states": ["completed"]}, "review": {"published": True, "blinded": False}}
preview = call("PATCH", reviews + "?preview=true", change)
print(len(preview["resource"]["data"]), "runs would be reviewed")
for effect in preview["effects"]:
    print(" ", effect["kind"], effect["subject"], effect.get("after", effect.get("count", effect.get("detail"))))
reviewed = 0
while True:
    answer = call("PATCH", reviews, change)
    for run in answer["data"]:
        reviewed += run["status"] == 200
        if run["status"] != 200:
            print(run["runId"], run["problem"]["detail"])
    if "cursor" not in answer:
        break
    change["cursor"] = answer["cursor"]
print(reviewed, "runs are reviewed")
