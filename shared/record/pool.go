package record

import (
	"regexp"
	"strings"

	"assay/shared/problem"
)

// DefaultPool is the pool of workers that serves the datasets which name none. It is the platform's; every other pool belongs to an
// organizer, whose id, with a slash, its name begins with.
const DefaultPool = "default"

var pool = regexp.MustCompile(`^([0-7][0-9A-HJKMNP-TV-Z]{25}/)?[a-z0-9-]{1,50}$`)

// IsPool reports whether s can be the name of a pool of workers. Names without an organizer other than DefaultPool are those of
// datasets made before pools belonged to organizers.
func IsPool(s string) bool { return pool.MatchString(s) }

// PoolOrganizer returns the id of the organizer that the pool belongs to; empty for one of the platform.
func PoolOrganizer(pool string) string {
	organizer, _, ok := strings.Cut(pool, "/")
	if !ok {
		return ""
	}
	return organizer
}

// CheckPool says what is wrong with the pool of a draft of a dataset of the organizer; old is the dataset's pool so far.
func (d *DatasetDraft) CheckPool(organizerID, old string) (fields problem.Fields) {
	fields.AddIf(d.Pool != old && d.Pool != "" && d.Pool != DefaultPool && PoolOrganizer(d.Pool) != organizerID, "/pool",
		"must be %s, or a pool of the organizer: %s/ and a name, such as %[2]s/gpu", DefaultPool, organizerID)
	return fields
}
