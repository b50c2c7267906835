"""Have the server compute F1(average=macro) and F1(positive=dog) of a small run."""
import base64
import json
import os
from urllib.request import Request, urlopen

LABELS = """id,label
a,cat
b,cat
c,dog
d,dog
"""
RUN = """id,label
a,cat
b,dog
c,dog
d,dog
"""


def file(name, text):
    """Return a file as it travels within a request."""
    return {"name": name, "content": base64.b64encode(text.encode()).decode()}


body = {
    "runs": [{"files": [file("run.csv", RUN)]}],
    "truth": {
        "files": [file("labels.csv", LABELS)],
        "kind": "classification",
        "format": {"kind": "csv", "idField": "id", "valueField": "label"},
    },
    "measures": ["F1(average=macro)", "F1(positive=dog)"],
}
request = Request(
    os.environ["ASSAY_URL"] + "/v1/tools/evaluate",
    data=json.dumps(body).encode(),
    headers={"Content-Type": "application/json"},
)
with urlopen(request, timeout=30) as answer:
    measures = json.load(answer)["runs"][0]["measures"]
for name, value in sorted(measures.items()):
    print(f"{name} = {value:.4f}")
