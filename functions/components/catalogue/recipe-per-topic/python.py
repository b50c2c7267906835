"""Write the values of each topic as CSV, the hardest topic first."""
import csv
import json
import os
from urllib.request import Request, urlopen

QRELS = "1 0 lake 1\n2 0 river 1\n"
WORDS = "1 Q0 lake 1 2.0 words\n2 Q0 pond 1 2.0 words\n2 Q0 river 2 1.0 words\n"
MEANING = "1 Q0 lake 1 0.9 meaning\n2 Q0 river 1 0.8 meaning\n"

# Name stored runs by their ids, {"runId": ...}. They need a token but no truth, because they have been evaluated.
body = {
    "runs": [
        {"name": "words", "files": [{"name": "words.txt", "text": WORDS}]},
        {"name": "meaning", "files": [{"name": "meaning.txt", "text": MEANING}]},
    ],
    "truth": {"files": [{"name": "qrels.txt", "text": QRELS}]},
    "measure": "AP",
}
request = Request(
    os.environ["ASSAY_URL"] + "/v1/tools/topics",
    data=json.dumps(body).encode(),
    headers={"Content-Type": "application/json"},
)
with urlopen(request, timeout=30) as answer:
    found = json.load(answer)
with open("topics.csv", "w", newline="") as table:
    rows = csv.writer(table)
    rows.writerow(["topic", "mean"] + [run["name"] for run in found["runs"]])
    for topic in found["topics"]:
        rows.writerow([topic["topic"], topic["mean"]] + topic["values"])
with open("topics.csv") as table:
    print("topics.csv has:\n" + table.read(), end="")
