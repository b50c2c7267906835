package record

import (
	"regexp"
	"strings"

	"assay/shared/language/problem"
)

// DefaultPool is the pool of workers for datasets that name none. It belongs to the platform. Every other pool belongs to an organizer:
// its name begins with the organizer's ID and a slash.
const DefaultPool = "default"

var pool = regexp.MustCompile(`^([0-7][0-9A-HJKMNP-TV-Z]{25}/)?[a-z0-9-]{1,50}$`)

// IsPool reports whether s has the form of a pool's name.
func IsPool(s string) bool { return pool.MatchString(s) }

// PoolOrganizer returns the ID of the organizer that the pool belongs to. It returns "" for pools of the platform.
func PoolOrganizer(pool string) string {
	organizer, _, ok := strings.Cut(pool, "/")
	if !ok {
		return ""
	}
	return organizer
}

// CheckPool reports the errors of the pool that a draft for the organizer's dataset names. The dataset's present pool, old, is always
// valid.
func (d *DatasetDraft) CheckPool(organizerID, old string) (fields problem.Fields) {
	fields.AddIf(d.Pool != old && d.Pool != "" && d.Pool != DefaultPool && PoolOrganizer(d.Pool) != organizerID, "/pool",
		"must be %s, or a pool of the organizer: %s/ and a name, such as %[2]s/gpu", DefaultPool, problem.Resource("organizer", organizerID))
	return fields
}
