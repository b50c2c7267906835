# Make a dataset whose truth is TREC qrels, and check that its first version was accepted.
set -eu

# api calls the server. The token goes by standard input, so that no list of processes shows it.
api() { printf 'header = "Authorization: Bearer %s"\n' "$ASSAY_TOKEN" | curl -sS --fail-with-body -K - "$@"; }

# post creates something and prints its path.
post() { api -o /dev/null -w '%header{location}' --json "$2" "$ASSAY_URL$1"; }

LAB=$(post /v1/organizers '{"name": "My lab"}')
TASK=$(post /v1/tasks '{"organizerId": "'"${LAB##*/}"'", "name": "Lake search", "visibility": "private"}')
QRELS=$(printf '1 0 lake 2\n1 0 pond 1\n1 0 road 0\n' | base64 | tr -d '\n')
DATASET=$(post /v1/datasets '{
  "taskId": "'"${TASK##*/}"'", "name": "Lakes", "split": "training",
  "truths": [{"name": "qrels.txt", "content": "'"$QRELS"'"}],
  "runFormat": {"kind": "trec-run"},
  "evaluator": {"kind": "retrieval", "measures": ["nDCG@10", "AP"]}
}')
api "$ASSAY_URL$DATASET?fields=name,truthVersion"
