# Change a quota, and find the change in the audit entries.
set -eu

# api calls the server. The token goes by standard input, so that no list of processes shows it.
api() { printf 'header = "Authorization: Bearer %s"\n' "$ASSAY_TOKEN" | curl -sS --fail-with-body -K - "$@"; }

# post creates something and prints its path.
post() { api -o /dev/null -w '%header{location}' --json "$2" "$ASSAY_URL$1"; }

LAB=$(post /v1/organizers '{"name": "My lab"}')
TASK=$(post /v1/tasks '{"organizerId": "'"${LAB##*/}"'", "name": "Lake search", "visibility": "private"}')

api -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"submissions": {"perDay": 3}}' -o /dev/null "$ASSAY_URL$TASK"
api "$ASSAY_URL$TASK/audit-entries"
