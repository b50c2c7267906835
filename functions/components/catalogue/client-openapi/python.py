"""List the operations that the server describes."""
import json
import os
from urllib.request import urlopen

with urlopen(os.environ["ASSAY_URL"] + "/openapi.json", timeout=30) as answer:
    description = json.load(answer)
for path, operations in sorted(description["paths"].items()):
    for method, operation in operations.items():
        if "operationId" in operation:
            print(method.upper(), path, operation["operationId"])
