"""Receive the events of a task, and check their signatures."""
import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
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


def verified(secret, headers, body):
    """Say whether the event is signed with the secret and not older than five minutes."""
    sent = headers["webhook-timestamp"]
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = (headers["webhook-id"] + "." + sent + ".").encode() + body
    want = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return abs(time.time() - int(sent)) < 300 and any(
        hmac.compare_digest(want, given) for given in headers["webhook-signature"].split())


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 to events that are signed, and 400 to all else."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        good = verified(webhook["secret"], self.headers, body)
        self.send_response(204 if good else 400)
        self.end_headers()
        if good and self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            print(json.loads(body)["type"])

    def log_message(self, *_):
        """Log nothing."""


seen = set()
server = HTTPServer(("127.0.0.1", 0), Receiver)
server.timeout = 20
organizer = call("POST", "/v1/organizers", {"name": "My lab"})["url"].split("/")[-1]
task = call("POST", "/v1/tasks", {"organizerId": organizer, "name": "Lake search", "visibility": "private"})["url"]
webhook = call("POST", task + "/webhooks", {"url": "http://127.0.0.1:%d/" % server.server_port})
server.handle_request()  # the first event tries the receiver
call("POST", task + "/announcements", {"title": "Welcome", "body": "The task is *open*."})
server.handle_request()
for delivery in call("GET", task + "/webhooks/" + webhook["id"] + "/deliveries")["data"]:
    if "failure" in delivery:
        print(delivery["type"], "did not arrive:", delivery["failure"])
server.server_close()
