# Get the server's description of its API.
set -eu

DESCRIPTION=$(curl -sS --fail "$ASSAY_URL/openapi.json")
printf '%s' "$DESCRIPTION" | tr ',{' '\n\n' | sed -n 's/^ *"operationId": *"\([^"]*\)".*/\1/p' | sort
