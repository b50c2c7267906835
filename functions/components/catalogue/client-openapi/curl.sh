# See that the server describes itself.
set -eu

DESCRIPTION=$(curl -sS --fail "$ASSAY_URL/openapi.json")
printf '%s' "$DESCRIPTION" | tr ',{' '\n\n' | sed -n 's/^"operationId":"\(.*\)".*/\1/p' | sort
