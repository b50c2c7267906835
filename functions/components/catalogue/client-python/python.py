"""Call the server, and read its errors."""
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
            "Content-Type": "application/json",
        },
    )
    with urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or "null")


lab = call("POST", "/v1/organizers", {"name": "My lab"})["url"]
print(call("GET", lab)["name"])
try:
    call("POST", "/v1/organizers", {"name": ""})
except HTTPError as error:
    problem = json.load(error)
    if "errors" not in problem:  # for example the message of a gateway in front of the server
        raise
    for fault in problem["errors"]:
        print(error.code, fault["pointer"], fault["detail"])
