"""Write a dataset's leaderboard as a table for LaTeX and as a chart."""
import base64
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

# Each topic asks for a lake. A run ranks the lake first, or below a pond.
LAKE, POND = ("lake", "pond"), ("pond", "lake")
OVERLAP = [LAKE, LAKE] + 10 * [POND]
MINE = [POND, LAKE] + 10 * [LAKE]
QRELS = "".join(f"{topic} 0 lake 1\n" for topic in range(1, 13))


def call(method, path, body=None, accept="application/json"):
    """Send a request as the user of the token, and return what the answer says."""
    request = Request(
        os.environ["ASSAY_URL"] + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["ASSAY_TOKEN"],
            "Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json",
            "Accept": accept,
        },
    )
    try:
        with urlopen(request, timeout=30) as answer:
            content = answer.read()
        return json.loads(content or "null") if accept == "application/json" else content
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
    "evaluator": {"kind": "retrieval", "measures": ["AP", "P@1"]},
})
call("POST", task + "/registrations", {"team": "Lakes & rivers"})
for rankings, baseline in ((OVERLAP, True), (MINE, False)):
    entry = file("run.txt", trec(rankings)) | {"datasetId": dataset["id"]}
    run = ended(call("POST", task + "/submissions", {"type": "upload", "baseline": baseline, "files": [entry]})["runIds"][0])
    call("PATCH", "/v1/runs/" + run["id"] + "/review", {"published": True})

# With your own dataset, begin here. The public view has the published results, with the aliases of
# anonymous teams. "caller" would add results that only you may see.
escape = str.maketrans({c: "\\" + c for c in "&%$#_{}"} | {"~": "\\~{}", "^": "\\^{}", "\\": "\\textbackslash{}"})
wanted = {"datasetId": dataset["id"], "best": False, "view": "public", "limit": 200, "seed": 1}
board = call("POST", "/v1/tools/leaderboard", wanted)
print(" & ".join(["Team", *board["measures"], "95\\,\\%", "Group"]), r"\\")
for e in board["entries"]:
    values = ["--" if e["measures"][m] is None else format(e["measures"][m], ".3f") for m in board["measures"]]
    interval = "--" if "interval" not in e else f"{e['interval']['low']:.3f}--{e['interval']['high']:.3f}"
    print(" & ".join([e["team"].translate(escape), *values, interval, e.get("group", "--")]), r"\\")
with open("leaderboard.svg", "wb") as chart:
    chart.write(call("POST", "/v1/tools/leaderboard", wanted, "image/svg+xml"))
print(f"% {board['dataset']['name']}, version {board['truthVersion']} of the ground truth and evaluator, view {board['view']}")
if board["more"]:
    print("% These are the first 200 entries of the leaderboard.")
print(f"% Entries: {len(board['entries'])}, not public: {board['notPublic']}; the chart is in leaderboard.svg")
