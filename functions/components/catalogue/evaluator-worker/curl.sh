# Make a dataset whose runs are evaluated by an image of the organizer.
set -eu

# api calls the server. The token goes by standard input, so that no list of processes shows it.
api() { printf 'header = "Authorization: Bearer %s"\n' "$ASSAY_TOKEN" | curl -sS --fail-with-body -K - "$@"; }

# post creates something and prints its path.
post() { api -o /dev/null -w '%header{location}' --json "$2" "$ASSAY_URL$1"; }

LAB=$(post /v1/organizers '{"name": "My lab"}')
TASK=$(post /v1/tasks '{"organizerId": "'"${LAB##*/}"'", "name": "Summaries", "visibility": "private"}')
TRUTH=$(printf 'what the judges wrote\n' | base64 | tr -d '\n')
DATASET=$(post /v1/datasets '{
  "taskId": "'"${TASK##*/}"'", "name": "Summaries", "split": "test", "pool": "'"${LAB##*/}"'/gpu",
  "truths": [{"name": "references.txt", "content": "'"$TRUTH"'"}],
  "runFormat": {"kind": "jsonl", "idField": "id", "valueField": "text"},
  "evaluator": {
    "kind": "worker", "image": "registry.example.org/lab/judge:1",
    "measures": ["Fluency", "Errors"]
  },
  "columns": [{"key": "Fluency", "decimals": 1}, {"key": "Errors", "title": "Errors per text", "lowerIsBetter": true}]
}')
api "$ASSAY_URL$DATASET?fields=evaluator,columns"
