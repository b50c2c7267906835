package transfer

import (
	"fmt"
	"slices"
	"strings"

	"assay/shared/domain/record"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// fate says what an import does with the records of a kind.
type fate int

const (
	// kept records are moved unchanged. A different record with the key in the target is a conflict.
	kept fate = iota
	// shared records can belong to more than the moved part. They are moved if the target has none, and an existing one stays.
	shared
	// granted records are memberships. They are moved if the organizer in the target names the member.
	granted
	// personal records are moved only with a whole store, and only for users who keep their IDs.
	personal
	// rebuilt records are counted again by the import, together with the target's records.
	rebuilt
	// dropped records are useless in another store.
	dropped
)

// recordKind is a kind of records. partition is the part of the partition key before its first #. sort is the sort key, or its beginning if
// sort is empty or ends in #.
type recordKind struct {
	partition, sort string
	fate            fate
	new             func(store.Key) record.Record
}

// kinds lists all kinds of a table, like the first comment of record/keys.go.
var kinds = []recordKind{
	{"ORGANIZER", "ORGANIZER", shared, empty[record.Organizer]},
	{"ORGANIZER", "WEBHOOK#", personal, empty[record.WebhookItem]}, // with its secret
	{"ORGANIZER", "TASKS#", rebuilt, nil},                          // with each task that is created
	{"TASK", "TASK", kept, empty[record.TaskItem]},
	{"TASK", "REGISTRATION#", kept, empty[record.RegistrationItem]},
	{"TASK", "TEAM#", kept, reservation},
	{"TASK", "ALLOWANCE#", kept, empty[record.Allowance]},
	{"TASK", "SUBMITTED#", kept, empty[record.SubmittedDraft]},
	{"TASK", "ANNOUNCEMENT#", kept, empty[record.Announcement]},
	{"TASK", "WEBHOOK#", personal, empty[record.WebhookItem]},
	{"TASK", "EMBARGO", kept, empty[record.Embargo]},
	{"AUDIT", "", kept, empty[record.AuditEntry]},
	{"DATASET", "DATASET", kept, empty[record.DatasetItem]},
	{"DATASET", "TRUTH", kept, empty[record.TruthVersion]},
	// The secret is kept, so that digests of ground truths stay equal. The folder has the ground truth itself.
	{"DATASET", "SECRET", kept, empty[record.TruthSecret]},
	{"SUBMISSION", "SUBMISSION", kept, empty[record.SubmissionItem]},
	{"RUN", "RUN", kept, empty[record.RunItem]}, // with its place in the queue, and its lease, which will expire
	{"RUN", "REVIEW", kept, empty[record.ReviewItem]},
	{"RUN", "LEASE#", dropped, nil}, // the lease ends when the run says
	{"RUN", "LOG#", kept, empty[record.LogChunk]},
	{"EVALUATION", "EVALUATION", kept, empty[record.EvaluationItem]},
	{"EVALUATION", "TOPICS", kept, empty[record.Topics]},
	{"DELETION", "DELETION", dropped, nil}, // deleted resources are not moved
	{"TRASH", "", dropped, nil},
	{"USER", "PROFILE", shared, empty[record.User]},
	// bytes are counted with each created run and dataset; counts of the last day are dropped; the user's quota is moved
	{"USER", "USAGE", rebuilt, empty[record.Usage]},
	{"USER", "MEMBER#", granted, reservation},
	{"USER", "REGISTERED#", kept, empty[record.Registered]},
	{"TOKENS", "", personal, empty[record.AccessTokenItem]}, // digests; the secret contains the user's ID
	{"INVITATIONS", "", dropped, nil},                       // their links lead to the origin
	{"EVENT", "EVENT", personal, empty[record.Event]},
	{"MAILBOX", "BOX", personal, empty[record.Mailbox]},
	{"LASTMAIL", "SENT", dropped, nil}, // kept for ten minutes
	{"WEBHOOK", "", personal, empty[record.DeliveryItem]},
	{"ADDRESSED", "ADDRESSED", dropped, nil}, // kept for a day
	{"STORED", "", rebuilt, nil},             // with USAGE
	{"SERVER", "", rebuilt, nil},             // by the quota.Ledger of the import's store
	{"PLACES", "PLACES", dropped, nil},       // runs move without their leases
	{"WORKERS", "SERVING", dropped, nil},     // workers are seen again
	{"TABLE", "IDENTITY", dropped, nil},      // the target has its own
	{"IDEMPOTENCY", "KEY", dropped, nil},     // answers with links to the origin, kept for a day
}

func empty[R any, P records.Pointer[R]](store.Key) record.Record { return P(new(R)) }

func reservation(k store.Key) record.Record { return &record.Reservation{At: k} }

// kindOf returns the kind of the record with the key.
func kindOf(k store.Key) (recordKind, error) {
	partition, _, _ := strings.Cut(k.Partition, "#")
	i := slices.IndexFunc(kinds, func(of recordKind) bool {
		open := of.sort == "" || strings.HasSuffix(of.sort, "#")
		return of.partition == partition && (of.sort == k.Sort || open && strings.HasPrefix(k.Sort, of.sort))
	})
	if i < 0 {
		return recordKind{}, fmt.Errorf("%s %s is of no kind that this build knows: use the build that wrote it", k.Partition, k.Sort)
	}
	return kinds[i], nil
}

// name returns the name of the kind in reports.
func (k recordKind) name() string {
	if k.sort == "" {
		return k.partition
	}
	return k.partition + "/" + strings.TrimSuffix(k.sort, "#")
}
