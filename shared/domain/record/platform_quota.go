package record

import "assay/shared/language/plural"

// Quotas limit the use of the platform, in addition to the rules of tasks.
type Quotas struct {
	User   UsageLimits `json:"user" doc:"what one user may take, unless the user has a quota of their own; administrators may take more"`
	Server UsageLimits `json:"server" doc:"what all users together may take; counted approximately"`
}

// UsageLimits are the quotas of a user or of the server. A limit that is 0 or absent does not apply.
type UsageLimits struct {
	PerDay       map[string]int64 `json:"perDay" doc:"how many of each kind may be created in 24 hours: organizers, tasks, datasets, registrations, runs, and auditEntries: changes that are kept for the organizers"`
	PendingFiles int64            `json:"pendingFiles" doc:"files whose upload was announced and that have not arrived"`
	PendingBytes int64            `json:"pendingBytes" doc:"bytes of those files, as declared"`
	StoredBytes  int64            `json:"storedBytes" doc:"bytes of all files: arrived, pending, and results of tools until they are deleted"`
}

// The kinds of created resources: the keys of PerDay.
const (
	MadeOrganizers    = "organizers"
	MadeTasks         = "tasks"
	MadeDatasets      = "datasets"
	MadeRegistrations = "registrations"
	MadeRuns          = "runs"
	MadeAudits        = "auditEntries"
)

// nouns maps each kind to its noun in the singular.
var nouns = map[string]string{
	MadeOrganizers: "organizer", MadeTasks: "task", MadeDatasets: "dataset", MadeRegistrations: "registration", MadeRuns: "run",
	MadeAudits: "audit entry",
}

// MadeInWords returns the noun of a kind in the plural.
func MadeInWords(kind string) string { return plural.Noun(nouns[kind]) }

// DefaultQuotas returns the quotas of a server that configures none.
func DefaultQuotas() Quotas {
	return Quotas{
		User: UsageLimits{
			PerDay: map[string]int64{MadeOrganizers: 20, MadeTasks: 100, MadeDatasets: 200, MadeRegistrations: 500, MadeRuns: 5_000,
				MadeAudits: 10_000},
			PendingFiles: 500, PendingBytes: 100 << 30, StoredBytes: 200 << 30,
		},
		Server: UsageLimits{
			PerDay: map[string]int64{MadeOrganizers: 500, MadeTasks: 2_000, MadeDatasets: 4_000, MadeRegistrations: 50_000, MadeRuns: 200_000,
				MadeAudits: 500_000},
			PendingFiles: 50_000, PendingBytes: 2 << 40, StoredBytes: 10 << 40,
		},
	}
}

// Taken is the current usage of the quotas.
type Taken struct {
	PerDay       map[string]int64 `json:"perDay" doc:"how many of each kind were created in the last 24 hours"`
	PendingFiles int64            `json:"pendingFiles" doc:"files whose upload was announced; of some it may be unknown yet that they have arrived"`
	PendingBytes int64            `json:"pendingBytes" doc:"bytes of those files, as declared"`
	StoredBytes  int64            `json:"storedBytes" doc:"bytes of all files: arrived, pending, in the trash, and results of tools until they are deleted"`
}

// Charge is the usage that one change adds. Negative bytes are given back.
type Charge struct {
	Kind        string // the kind of the created resource: a key of PerDay
	Count       int64
	Bytes       int64              // of files that records name
	Pending     map[string]Uploads // the uploads that each record now waits for, by the record's partition
	Leaving     int64              // bytes of files that no record names, and that are deleted at Until
	Until       Instant
	OrganizerID string // of a created organizer
}

// Uploads counts files that were announced and may not have arrived.
type Uploads struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// PendingUploads counts the files that have not arrived.
func PendingUploads(files []File) (u Uploads) {
	for _, f := range files {
		if f.State != FileStored {
			u.Files++
			u.Bytes += f.Size
		}
	}
	return u
}

// SizeOf returns the total size of the files in bytes.
func SizeOf(files []File) (n int64) {
	for _, f := range files {
		n += f.Size
	}
	return n
}

// total returns the sum of the pending uploads of all records.
func total(pending map[string]Uploads) (all Uploads) {
	for _, p := range pending {
		all.Files += p.Files
		all.Bytes += p.Bytes
	}
	return all
}

// exceededBy reports whether the pending uploads are more than the limits allow.
func (l *UsageLimits) exceededBy(p Uploads) bool {
	tooManyFiles := l.PendingFiles > 0 && p.Files > l.PendingFiles
	tooManyBytes := l.PendingBytes > 0 && p.Bytes > l.PendingBytes
	return tooManyFiles || tooManyBytes
}
