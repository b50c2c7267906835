"""Rebuild the E2E NLG Challenge: from its files to a leaderboard."""
import base64
import csv
import io
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

# As in the files of the challenge, a meaning representation has a row for each of its references.
TEST = """mr,ref
"name[The Heron], eatType[pub], near[Mill Lane]","The Heron is a pub near Mill Lane."
"name[The Heron], eatType[pub], near[Mill Lane]","Near Mill Lane you find a pub called The Heron."
"name[Olive Garden], food[Greek], priceRange[cheap]","Olive Garden serves cheap Greek food."
"name[Olive Garden], food[Greek], priceRange[cheap]","For Greek food at a low price, try Olive Garden."
"name[Olive Garden], food[Greek], priceRange[cheap]","The Greek food of Olive Garden is cheap."
"name[Blue Door], familyFriendly[no]","Blue Door is no place for families."
"""
# The output of a system has a text in each line, in the order of the meaning representations.
TEMPLATE = """The Heron is a pub, near Mill Lane.
Olive Garden serves food, Greek, cheap.
Blue Door is not family friendly.
"""
NEURAL = """The Heron is a pub near Mill Lane.
Olive Garden serves Greek food at a low price.
Blue Door is no place for families.
"""


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


def lines(items):
    """Return items as JSON lines."""
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)


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


references = {}  # by meaning representation, in the order of the file
for row in csv.DictReader(io.StringIO(TEST, newline="")):
    references.setdefault(row["mr"], []).append(row["ref"])
truth = lines({"id": i, "text": texts} for i, texts in enumerate(references.values(), 1))
inputs = lines({"id": i, "mr": mr} for i, mr in enumerate(references, 1))


def run_of(output):
    """Return the output of a system as a run."""
    texts = output.removesuffix("\n").split("\n")  # splitlines would also split at other characters
    if len(texts) != len(references):
        raise SystemExit(f"The output has {len(texts)} lines; expected one for each of {len(references)} meaning representations.")
    return lines({"id": i, "text": text} for i, text in enumerate(texts, 1))


organizer = call("POST", "/v1/organizers", {"name": "My lab"})["url"].split("/")[-1]
task = call("POST", "/v1/tasks", {"organizerId": organizer, "name": "Restaurants in words", "visibility": "private"})["url"]
dataset = call("POST", "/v1/datasets", {
    "taskId": task.split("/")[-1],
    "name": "Test",
    "split": "training",  # "test" would keep runs blinded until a review
    "inputs": [file("mrs.jsonl", inputs)],
    "truths": [file("references.jsonl", truth)],
    "runFormat": {"kind": "jsonl", "idField": "id", "valueField": "text"},
    "evaluator": {"kind": "text", "measures": ["BLEU", "ROUGEL", "chrF++"]},
})
call("POST", task + "/registrations", {"team": "Neural lab"})
for output, baseline in ((TEMPLATE, True), (NEURAL, False)):
    entry = file("run.jsonl", run_of(output)) | {"datasetId": dataset["id"]}
    run = ended(call("POST", task + "/submissions", {"type": "upload", "baseline": baseline, "files": [entry]})["runIds"][0])
    call("PATCH", "/v1/runs/" + run["id"] + "/review", {"published": True})

board = call("POST", "/v1/tools/leaderboard", {"datasetId": dataset["id"], "view": "public"})
print("team", *board["measures"], sep=" | ")
for e in board["entries"]:
    print(e["team"], *(format(e["measures"][m], ".4f") for m in board["measures"]), sep=" | ")
