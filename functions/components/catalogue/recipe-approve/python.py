"""Accept a registration."""
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
            "Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json",
        },
    )
    try:
        with urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or "null")
    except HTTPError as refusal:  # the answer says what to do about it
        raise SystemExit(f"{method} {path}: {refusal}\n{refusal.read().decode()}") from None


organizer = call("POST", "/v1/organizers", {"name": "My lab"})["url"].split("/")[-1]
task = call("POST", "/v1/tasks", {
    "organizerId": organizer, "name": "Lake search", "visibility": "private", "registration": {"mode": "approval"},
})["url"]
call("POST", task + "/registrations", {"team": "My team", "affiliation": "Lakeside University"})
for registration in call("GET", task + "/registrations")["data"]:
    path = task + "/registrations/" + registration["id"]
    print(registration["team"], call("PATCH", path, {"state": "accepted"})["state"])
