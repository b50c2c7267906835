"""Submit a run file by its digest, and upload it to the address in the answer."""
import base64
import hashlib
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

QRELS = "1 0 lake 2\n1 0 pond 1\n2 0 river 1\n"
RUN = b"".join(b"1 Q0 lake%d 1 %d.0 mine\n" % (i, i) for i in range(1000))


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
large = {
    "datasetId": dataset["id"],
    "name": "run.txt",
    "size": len(RUN),
    "sha256": hashlib.sha256(RUN).hexdigest(),
}
submission = call("POST", task + "/submissions", {"type": "upload", "files": [large]})
for given in submission["files"]:
    upload = given["upload"]
    # The address is signed: it takes no token.
    request = Request(upload["url"], data=RUN, method=upload["method"], headers=upload["headers"])
    try:
        with urlopen(request, timeout=300):
            print("uploaded", given["name"])
    except HTTPError as refused:
        if refused.code != 412:  # 412: an earlier attempt has arrived
            raise
print(ended(submission["runIds"][0])["state"])
