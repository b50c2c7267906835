# See that the server describes itself.
set -eu

curl -sS --fail "$ASSAY_URL/openapi.json" | tr ',{' '\n\n' | sed -n 's/^"operationId":"\(.*\)".*/\1/p' | sort
