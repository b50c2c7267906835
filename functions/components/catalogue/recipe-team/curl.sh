# Join a task by a link, as a team, and invite two more members.
set -eu

# api calls the server. The token goes by standard input, so that no list of processes shows it.
api() { printf 'header = "Authorization: Bearer %s"\n' "$ASSAY_TOKEN" | curl -sS --fail-with-body -K - "$@"; }

# post creates something and prints its path.
post() { api -o /dev/null -w '%header{location}' --json "$2" "$ASSAY_URL$1"; }

# invite makes a link and prints its secret, the part of the link after #.
invite() { api --json "$2" "$ASSAY_URL$1/invitations" | sed 's/.*"secret":"\([^"]*\)".*/\1/'; }

LAB=$(post /v1/organizers '{"name": "My lab"}')
TASK=$(post /v1/tasks '{"organizerId": "'"${LAB##*/}"'", "name": "Lake search", "visibility": "private", "registration": {"mode": "approval"}}')
SECRET=$(invite "$TASK" '{"uses": 10}')

TEAM=$(post /v1/user/memberships '{"secret": "'"$SECRET"'", "registration": {"team": "My team"}}')
invite "$TEAM" '{"uses": 2}' > /dev/null # the others send it to /v1/user/memberships as {"secret": ...}, or open the link
api "$ASSAY_URL$TEAM?fields=team,state,members"
api "$ASSAY_URL$TEAM/invitations?fields=uses,expiresAt"
