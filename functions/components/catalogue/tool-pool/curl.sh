# Pool the first two documents of each run, as qrels to fill in.
set -eu

curl -sS --fail-with-body -H 'Accept: text/plain' --json '{
  "runs": [
    {"files": [{"name": "lexical.txt", "text": "1 Q0 lake 1 12.5 lexical\n1 Q0 road 2 11.0 lexical\n1 Q0 pond 3 3.5 lexical\n"}]},
    {"files": [{"name": "dense.txt", "text": "1 Q0 lake 1 0.9 dense\n1 Q0 pond 2 0.8 dense\n1 Q0 mere 3 0.7 dense\n"}]}
  ],
  "depth": 2,
  "format": "qrels"
}' "$ASSAY_URL/v1/tools/pool"
