# Authenticate to the server, create an organizer, and read it.
set -eu

# api calls the server. The token goes by standard input, so that no list of processes shows it.
api() { printf 'header = "Authorization: Bearer %s"\n' "$ASSAY_TOKEN" | curl -sS --fail-with-body -K - "$@"; }

# post creates something and prints its path.
post() { api -o /dev/null -w '%header{location}' --json "$2" "$ASSAY_URL$1"; }

api "$ASSAY_URL/v1/user?fields=name,roles"
LAB=$(post /v1/organizers '{"name": "My lab", "website": "https://lab.example.org"}')
api "$ASSAY_URL$LAB?fields=name,website"
