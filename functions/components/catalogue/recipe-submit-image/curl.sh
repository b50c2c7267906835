# Submit an image, and check that its run waits for a worker.
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
SUBMISSION=$(api --json '{
  "type": "image", "title": "Ranker 1", "datasetIds": ["'"${DATASET##*/}"'"],
  "image": "registry.example.org/lab/ranker@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "command": "rank --input $ASSAY_INPUT --output $ASSAY_OUTPUT/run.txt"
}' "$ASSAY_URL$TASK/submissions")
ID=$(printf '%s' "$SUBMISSION" | sed 's/.*"runIds":\["\([^"]*\)".*/\1/')
api "$ASSAY_URL/v1/runs/$ID?fields=state,attempts,queuedAt"
