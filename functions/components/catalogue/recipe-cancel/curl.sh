# Submit an image, and cancel its run.
set -eu

# api calls the server. The token goes by standard input, so that no list of processes shows it.
api() { printf 'header = "Authorization: Bearer %s"\n' "$ASSAY_TOKEN" | curl -sS --fail-with-body -K - "$@"; }

# post creates something and prints its path.
post() { api -o /dev/null -w '%header{location}' --json "$2" "$ASSAY_URL$1"; }

LAB=$(post /v1/organizers '{"name": "My lab"}')
TASK=$(post /v1/tasks '{"organizerId": "'"${LAB##*/}"'", "name": "Lake search", "visibility": "private"}')
QRELS=$(printf '1 0 lake 1\n1 0 pond 0\n' | base64 | tr -d '\n')
DATASET=$(post /v1/datasets '{
  "taskId": "'"${TASK##*/}"'", "name": "Lakes", "split": "training", "pool": "'"${LAB##*/}"'/snippets",
  "truths": [{"name": "qrels.txt", "content": "'"$QRELS"'"}],
  "runFormat": {"kind": "trec-run"}, "evaluator": {"kind": "retrieval", "measures": ["AP"]}
}')
post "$TASK/registrations" '{"team": "My team"}' > /dev/null
SUBMISSION=$(api --json '{"type": "image", "image": "registry.example.org/lab/ranker:1", "datasetIds": ["'"${DATASET##*/}"'"]}' \
  "$ASSAY_URL$TASK/submissions")
ID=$(printf '%s' "$SUBMISSION" | sed 's/.*"runIds":\["\([^"]*\)".*/\1/')
api -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"state": "cancelled"}' -o /dev/null "$ASSAY_URL/v1/runs/$ID"
api "$ASSAY_URL/v1/runs/$ID?fields=state"
