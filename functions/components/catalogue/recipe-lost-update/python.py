"""Change a lab under If-Match, and be refused when it has changed meanwhile."""
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


def patch(path, body, etag):
    """Change what is at the path if it still has the entity tag, and return its new one."""
    request = Request(
        os.environ["ASSAY_URL"] + path,
        method="PATCH",
        data=json.dumps(body).encode(),
        headers={
            "Authorization": "Bearer " + os.environ["ASSAY_TOKEN"],
            "Content-Type": "application/merge-patch+json",
            "If-Match": etag,
        },
    )
    with urlopen(request, timeout=30) as answer:
        return answer.headers["ETag"]


lab = call("POST", "/v1/organizers", {"name": "My lab"})["url"]
with urlopen(os.environ["ASSAY_URL"] + lab, timeout=30) as answer:
    etag = answer.headers["ETag"]
patch(lab, {"website": "https://lab.example.org"}, etag)
try:
    patch(lab, {"website": "https://other.example.org"}, etag)
except HTTPError as error:
    print(error.code, json.load(error)["detail"])
