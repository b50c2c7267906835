package organizers

import (
	"slices"

	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/table"
)

// grant adds the changes of members to tx: a grant for each who came, and none any more for each who went.
func grant(c *api.Call, tx *table.Tx, organizerID string, before, after []string) error {
	changes := 0
	for _, m := range after {
		if !slices.Contains(before, m) {
			tx.Create(&record.Reservation{Meta: record.NewMeta(c.Now()), At: record.MembershipKey(m, organizerID)})
			changes++
		}
	}
	for _, m := range before {
		if !slices.Contains(after, m) {
			tx.DeleteKey(record.MembershipKey(m, organizerID))
			changes++
		}
	}
	if changes > record.MaxMemberChanges {
		return problem.Check([]problem.Field{{Pointer: "/members", Detail: "can change by at most 90 users in one request: change it in several"}})
	}
	return nil
}
