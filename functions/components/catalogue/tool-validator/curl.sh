# Check a run, without submitting it.
set -eu

curl -sS --fail-with-body --json '{
  "run": {"files": [{"name": "run.txt", "text": "1 Q0 lake 1 3.0 mine\n1 Q0 pond 2 high mine\n1 Q0 lake 3 1.0 mine\n"}]}
}' "$ASSAY_URL/v1/tools/validator"
