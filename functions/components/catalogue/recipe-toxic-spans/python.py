"""Run SemEval-2021 task 5, toxic spans, from its file to the board."""
import base64
import csv
import io
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

# The format that the task published: the numbers of all toxic characters, and the text, which may have line breaks.
# The texts are made up.
PUBLISHED = """spans,text
"[7, 8, 9, 10, 11, 12, 24, 25, 26, 27, 28]","What a stupid plan,
you idiot."
[],"Thanks, that was a great read!"
"[7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]",Only a complete moron would say so.
"""
TOXIC = ("stupid", "idiot", "moron")


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


def spans(characters):
    """Return where toxic characters that follow each other begin and end."""
    found = []
    for i in characters:
        if found and found[-1]["end"] == i:
            found[-1]["end"] = i + 1
        else:
            found.append({"start": i, "end": i + 1})
    return found


def write(column, lists):
    """Write a list for each post as JSON lines."""
    return "".join(json.dumps({"id": i, column: of}) + "\n" for i, of in enumerate(lists))


posts = list(csv.DictReader(io.StringIO(PUBLISHED, newline="")))
truth = write("spans", [spans(json.loads(post["spans"])) for post in posts])
inputs = write("text", [post["text"] for post in posts])

organizer = call("POST", "/v1/organizers", {"name": "My lab"})["url"].split("/")[-1]
task = call("POST", "/v1/tasks", {"organizerId": organizer, "name": "Toxic spans", "visibility": "private"})["url"]
dataset = call("POST", "/v1/datasets", {
    "taskId": task.split("/")[-1],
    "name": "Trial",
    "split": "validation",
    "inputs": [file("posts.jsonl", inputs)],
    "truths": [file("spans.jsonl", truth)],
    "runFormat": {"kind": "jsonl", "idField": "id", "valueField": "spans"},
    "evaluator": {"kind": "spans", "measures": ["DocumentF1", "F1(average=micro,overlap=units)"]},
    "publish": "onCompletion",
})

# One run marks the words of a list, the other marks nothing.
call("POST", task + "/registrations", {"team": "My team"})
marked = [[{"start": post["text"].index(w), "end": post["text"].index(w) + len(w)} for w in TOXIC if w in post["text"]] for post in posts]
for predicted in (marked, [[] for _ in posts]):
    entry = file("run.jsonl", write("spans", predicted)) | {"datasetId": dataset["id"]}
    run = ended(call("POST", task + "/submissions", {"type": "upload", "files": [entry]})["runIds"][0])

board = call("GET", task + "/evaluations?sort=rank&filter%5BdatasetId%5D=" + dataset["id"])["data"]
for e in board:
    print(e["rank"], " ".join(f"{name} = {value:.4f}" for name, value in sorted(e["measures"].items())))
