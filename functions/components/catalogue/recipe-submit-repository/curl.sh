# Submit a repository, and show the recorded submission.
set -eu

# api calls the server. The token goes by standard input, so that no list of processes shows it.
api() { printf 'header = "Authorization: Bearer %s"\n' "$ASSAY_TOKEN" | curl -sS --fail-with-body -K - "$@"; }

# post creates something and prints its path.
post() { api -o /dev/null -w '%header{location}' --json "$2" "$ASSAY_URL$1"; }

LAB=$(post /v1/organizers '{"name": "My lab"}')
TASK=$(post /v1/tasks '{"organizerId": "'"${LAB##*/}"'", "name": "Lake search", "visibility": "private"}')
QRELS=$(printf '1 0 lake 1\n1 0 pond 0\n' | base64 | tr -d '\n')
DATASET=$(post /v1/datasets '{
  "taskId": "'"${TASK##*/}"'", "name": "Lakes", "split": "training", "pool": "'"${LAB##*/}"'/snippets", "builds": true,
  "truths": [{"name": "qrels.txt", "content": "'"$QRELS"'"}],
  "runFormat": {"kind": "trec-run"}, "evaluator": {"kind": "retrieval", "measures": ["AP"]}
}')
post "$TASK/registrations" '{"team": "My team"}' > /dev/null
SUBMISSION=$(post "$TASK/submissions" '{
  "type": "repository", "title": "Ranker 1", "datasetIds": ["'"${DATASET##*/}"'"],
  "url": "https://git.example.org/lab/ranker.git", "ref": "v1.0"
}')
api "$ASSAY_URL$SUBMISSION?fields=type,url,ref,runIds"
