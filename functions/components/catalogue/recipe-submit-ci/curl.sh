# Submit a run and wait for its evaluation.
set -eu

# api calls the server, and again when it or a gateway in front of it is busy (429, 503), as Retry-After says. The key keeps
# repeated requests from being processed twice. The token goes by standard input, so that no list of processes shows it.
api() {
  KEY=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  printf 'header = "Authorization: Bearer %s"\n' "$ASSAY_TOKEN" | curl -sS --fail-with-body --retry 5 -H "Idempotency-Key: $KEY" -K - "$@"
}

# post creates something and prints its path.
post() { api -o /dev/null -w '%header{location}' --json "$2" "$ASSAY_URL$1"; }

LAB=$(post /v1/organizers '{"name": "My lab"}')
TASK=$(post /v1/tasks '{"organizerId": "'"${LAB##*/}"'", "name": "Lake search", "visibility": "private"}')
QRELS=$(printf '1 0 lake 1\n1 0 pond 0\n' | base64 | tr -d '\n')
DATASET=$(post /v1/datasets '{
  "taskId": "'"${TASK##*/}"'", "name": "Lakes", "split": "training",
  "truths": [{"name": "qrels.txt", "content": "'"$QRELS"'"}],
  "runFormat": {"kind": "trec-run"}, "evaluator": {"kind": "retrieval", "measures": ["AP"]}
}')

# A CI job begins here. If the team is registered already, the answer says so, and the job continues.
post "$TASK/registrations" '{"team": "My team"}' > /dev/null || true
RUN=$(printf '1 Q0 lake 1 2.0 mine\n1 Q0 pond 2 1.0 mine\n' | base64 | tr -d '\n')
SUBMISSION=$(api --json '{"type": "upload", "files": [{"datasetId": "'"${DATASET##*/}"'", "name": "run.txt", "content": "'"$RUN"'"}]}' \
  "$ASSAY_URL$TASK/submissions")
ID=$(printf '%s' "$SUBMISSION" | sed 's/.*"runIds":\["\([^"]*\)".*/\1/')
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  STATE=$(api "$ASSAY_URL/v1/runs/$ID?fields=state")
  case $STATE in *completed*|*failed*|*cancelled*) break ;; esac
  sleep 0.5
done

case $STATE in
*completed*) api "$ASSAY_URL/v1/evaluations?filter[runId]=$ID&fields=measures" -g ;;
*) api "$ASSAY_URL/v1/runs/$ID?fields=state,diagnostics" && exit 1 ;;
esac
