# Make a dataset whose truth is numbers as JSON lines.
set -eu

# api calls the server. The token goes by standard input, so that no list of processes shows it.
api() { printf 'header = "Authorization: Bearer %s"\n' "$ASSAY_TOKEN" | curl -sS --fail-with-body -K - "$@"; }

# post creates something and prints its path.
post() { api -o /dev/null -w '%header{location}' --json "$2" "$ASSAY_URL$1"; }

LAB=$(post /v1/organizers '{"name": "My lab"}')
TASK=$(post /v1/tasks '{"organizerId": "'"${LAB##*/}"'", "name": "Depths", "visibility": "private"}')
TRUTH=$(printf '{"id": "a", "depth": 1}\n{"id": "b", "depth": 2.5}\n' | base64 | tr -d '\n')
DATASET=$(post /v1/datasets '{
  "taskId": "'"${TASK##*/}"'", "name": "Lakes", "split": "validation",
  "truths": [{"name": "depths.jsonl", "content": "'"$TRUTH"'"}],
  "runFormat": {"kind": "jsonl", "idField": "id", "valueField": "depth"},
  "evaluator": {"kind": "regression", "measures": ["RMSE", "Pearson"]}
}')
api "$ASSAY_URL$DATASET?fields=name,truthVersion"
