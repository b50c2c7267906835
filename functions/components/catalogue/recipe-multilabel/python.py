"""Rebuild SemEval-2018 task 1 E-c, emotions of tweets, from the files in which it was published."""
import base64
import csv
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

# A few made-up lines: an id, the tweet, and 1 or 0 for each emotion. The task has eleven emotions.
GOLD = """ID\tTweet\tanger\tfear\tjoy\tsadness
2018-En-00001\tMissed the last train again.\t1\t0\t0\t1
2018-En-00002\tWhat a wonderful morning!\t0\t0\t1\t0
2018-En-00003\tThe shop opens at nine.\t0\t0\t0\t0
2018-En-00004\tThe exam is tomorrow, and I know nothing.\t0\t1\t0\t1
"""
SYSTEM = """ID\tTweet\tanger\tfear\tjoy\tsadness
2018-En-00001\tMissed the last train again.\t1\t0\t0\t0
2018-En-00002\tWhat a wonderful morning!\t0\t0\t1\t0
2018-En-00003\tThe shop opens at nine.\t0\t0\t0\t0
2018-En-00004\tThe exam is tomorrow, and I know nothing.\t1\t1\t0\t1
"""


def converted(text):
    """Return a file with a 0 or 1 for each label as JSON lines with the labels that have a 1."""
    lines = []
    rows = text.split("\n")  # splitlines would split tweets that have other line breaks
    for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE):
        emotions = [name for name, value in row.items() if name not in ("ID", "Tweet") and value == "1"]
        lines.append(json.dumps({"id": row["ID"], "labels": emotions}) + "\n")
    return "".join(lines)


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
task = call("POST", "/v1/tasks", {"organizerId": organizer, "name": "Affect in tweets", "visibility": "private"})["url"]
dataset = call("POST", "/v1/datasets", {
    "taskId": task.split("/")[-1],
    "name": "E-c, English",
    "split": "training",
    "truths": [file("gold.jsonl", converted(GOLD))],
    "runFormat": {"kind": "jsonl", "idField": "id", "valueField": "labels"},
    "evaluator": {
        "kind": "multilabel",
        "measures": ["Jaccard(average=samples,zero_division=1)", "F1(average=micro)", "F1(average=macro)"],
    },
})

call("POST", task + "/registrations", {"team": "My team"})
entry = file("run.jsonl", converted(SYSTEM)) | {"datasetId": dataset["id"]}
ended(call("POST", task + "/submissions", {"type": "upload", "files": [entry]})["runIds"][0])
board = call("GET", f"{task}/evaluations?filter%5BdatasetId%5D={dataset['id']}&sort=rank")
for rank, row in enumerate(board["data"], 1):
    values = ", ".join(f"{row['measures'][name]:.4f}" for name in dataset["evaluator"]["measures"])
    print(rank, row["team"], values)
