# Convert relevance judgments to the BEIR format.
set -eu

curl -sS --fail-with-body -H 'Accept: text/plain' --json '{
  "qrels": {"files": [{"name": "qrels.txt", "text": "1 0 lake 2\n1 0 pond 1\n1 0 road 0\n"}]},
  "to": "beir"
}' "$ASSAY_URL/v1/tools/converter"
