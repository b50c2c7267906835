# Check a run, without submitting it.
set -eu

RUN=$(printf '1 Q0 lake 1 3.0 mine\n1 Q0 pond 2 high mine\n1 Q0 lake 3 1.0 mine\n' | base64 | tr -d '\n')
curl -sS --fail-with-body --json '{"run": {"files": [{"name": "run.txt", "content": "'"$RUN"'"}]}}' "$ASSAY_URL/v1/tools/validate"
