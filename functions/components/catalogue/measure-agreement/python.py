"""Have the server compute Kappa and MCC of a small run."""
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

body = {
    "runs": [{"files": [{"name": "run.csv", "text": RUN}]}],
    "truth": {
        "files": [{"name": "labels.csv", "text": LABELS}],
        "kind": "classification",
        "format": {"kind": "csv", "idField": "id", "valueField": "label"},
    },
    "measures": ["Kappa", "MCC"],
}
request = Request(
    os.environ["ASSAY_URL"] + "/v1/tools/evaluator",
    data=json.dumps(body).encode(),
    headers={"Content-Type": "application/json"},
)
with urlopen(request, timeout=30) as answer:
    measures = json.load(answer)["runs"][0]["measures"]
for name, value in sorted(measures.items()):
    print(f"{name} = {value:.4f}")
