"""Submit two runs, tell whether they differ by more than chance, and show by topic where."""
import base64
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

# Each topic asks for a lake. A run ranks the lake first, or below a pond.
LAKE, POND = ("lake", "pond"), ("pond", "lake")
BEFORE = [LAKE, LAKE] + 10 * [POND]
AFTER = [POND, LAKE] + 10 * [LAKE]
QRELS = "".join(f"{topic} 0 lake 1\n" for topic in range(1, 13))


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


def trec(rankings):
    """Return rankings as a run in TREC's format."""
    lines = []
    for topic, documents in enumerate(rankings, 1):
        lines += [f"{topic} Q0 {d} {rank} {9 - rank} mine\n" for rank, d in enumerate(documents, 1)]
    return "".join(lines)


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
runs = []
for name, rankings in (("before", BEFORE), ("after", AFTER)):
    entry = file(name + ".txt", trec(rankings)) | {"datasetId": dataset["id"]}
    run = ended(call("POST", task + "/submissions", {"type": "upload", "files": [entry]})["runIds"][0])
    runs.append({"runId": run["id"], "name": name})

# With your own runs, begin here.
pair = call("POST", "/v1/tools/significance", {"runs": runs, "measure": "AP"})["pairs"][0]
print(f"AP of after less before: {-pair['difference']:+.3f}, p = {pair['p']:.4f}:", "different" if pair["different"] else "not distinguished")
for topic in call("POST", "/v1/tools/diffir", {"runs": runs, "measure": "AP", "order": "measure", "limit": 3})["topics"]:
    before, after = topic["values"]
    print(topic["topic"], format(after - before, "+.2f"))
