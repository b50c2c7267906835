# Delete a task, and restore it.
set -eu

# api calls the server. The token goes by standard input, so that no list of processes shows it.
api() { printf 'header = "Authorization: Bearer %s"\n' "$ASSAY_TOKEN" | curl -sS --fail-with-body -K - "$@"; }

# post creates something and prints its path.
post() { api -o /dev/null -w '%header{location}' --json "$2" "$ASSAY_URL$1"; }

LAB=$(post /v1/organizers '{"name": "My lab"}')
TASK=$(post /v1/tasks '{"organizerId": "'"${LAB##*/}"'", "name": "Lake search", "visibility": "private"}')
api -X DELETE "$ASSAY_URL$TASK?with=submissions&name=Lake%20search"

DELETED=$(api -g "$ASSAY_URL/v1/deletions?filter[taskId]=${TASK##*/}&fields=id,kind,name,expiresAt")
printf '%s\n' "$DELETED"
api -X DELETE "$ASSAY_URL/v1/deletions/$(printf '%s' "$DELETED" | sed 's/^{"data":\[{"id":"\([^"]*\)".*/\1/')"
api "$ASSAY_URL$TASK?fields=name"
