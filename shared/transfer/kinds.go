package transfer

import (
	"fmt"
	"slices"
	"strings"

	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// fate says what becomes of records of a kind.
type fate int

const (
	// kept: moved as they are; where the target has another under the key, that is a conflict.
	kept fate = iota
	// shared: moved where the target has none, since they can belong to more than what is moved; an existing one stays as it is.
	shared
	// granted: a membership, moved where the organizer, as the target has it then, names the member.
	granted
	// personal: moved with a whole store alone, of users who keep their ids.
	personal
	// rebuilt: the import counts again, together with what the target has.
	rebuilt
	// dropped: of no use in another store.
	dropped
)

// kind is one of the kinds of records, by what their keys begin with: the partition up to its first #, and the sort part, or, where
// that ends in # or is empty, the beginning of it.
type kind struct {
	partition, sort string
	fate            fate
	new             func(store.Key) record.Record
}

// kinds are all that a table has, as the first comment of record/keys.go lists them.
var kinds = []kind{
	{"ORGANIZER", "ORGANIZER", shared, empty[record.Organizer]},
	{"ORGANIZER", "WEBHOOK#", personal, empty[record.WebhookItem]}, // with its secret
	{"ORGANIZER", "TASKS#", rebuilt, nil},                          // with each task that is created
	{"TASK", "TASK", kept, empty[record.TaskItem]},
	{"TASK", "REGISTRATION#", kept, empty[record.RegistrationItem]},
	{"TASK", "TEAM#", kept, reservation},
	{"TASK", "ALLOWANCE#", kept, empty[record.Allowance]},
	{"TASK", "ANNOUNCEMENT#", kept, empty[record.Announcement]},
	{"TASK", "WEBHOOK#", personal, empty[record.WebhookItem]},
	{"TASK", "EMBARGO", kept, empty[record.Embargo]},
	{"AUDIT", "", kept, empty[record.AuditEntry]},
	{"DATASET", "DATASET", kept, empty[record.DatasetItem]},
	{"DATASET", "TRUTH", kept, empty[record.Truth]},
	{"DATASET", "SECRET", kept, empty[record.TruthSecret]}, // so that digests of a truth stay equal; the folder has the truth itself
	{"SUBMISSION", "SUBMISSION", kept, empty[record.SubmissionItem]},
	{"RUN", "RUN", kept, empty[record.RunItem]}, // with its place in the queue, and its lease, which ends by itself
	{"RUN", "REVIEW", kept, empty[record.ReviewItem]},
	{"RUN", "LEASE#", dropped, nil}, // the lease ends as the run has it
	{"RUN", "LOG#", kept, empty[record.LogChunk]},
	{"EVALUATION", "EVALUATION", kept, empty[record.EvaluationItem]},
	{"EVALUATION", "TOPICS", kept, empty[record.Topics]},
	{"DELETION", "DELETION", dropped, nil}, // what was deleted moves nowhere
	{"TRASH", "", dropped, nil},
	{"USER", "PROFILE", shared, empty[record.User]},
	// bytes, with each run and dataset that is created; what was made in the last day is forgotten, and the user's quota is moved
	{"USER", "USAGE", rebuilt, empty[record.Usage]},
	{"USER", "MEMBER#", granted, reservation},
	{"USER", "REGISTERED#", kept, empty[record.Registered]},
	{"TOKENS", "", personal, empty[record.AccessTokenItem]}, // digests; the secret has the user's id in it
	{"INVITATIONS", "", dropped, nil},                       // links lead to the origin
	{"EVENT", "EVENT", personal, empty[record.Event]},
	{"MAILBOX", "BOX", personal, empty[record.Mailbox]},
	{"LASTMAIL", "SENT", dropped, nil}, // of ten minutes
	{"WEBHOOK", "", personal, empty[record.DeliveryItem]},
	{"ADDRESSED", "ADDRESSED", dropped, nil}, // of a day
	{"STORED", "", rebuilt, nil},             // with USAGE
	{"SERVER", "", rebuilt, nil},             // by the quota.Ledger of the import's store
	{"PLACES", "PLACES", dropped, nil},       // runs move without their leases
	{"WORKERS", "SERVING", dropped, nil},     // workers are seen again
	{"TABLE", "IDENTITY", dropped, nil},      // the target has its own
	{"IDEMPOTENCY", "KEY", dropped, nil},     // for a day, whole answers with the links of the origin
}

func empty[R any, P records.Pointer[R]](store.Key) record.Record { return P(new(R)) }

func reservation(k store.Key) record.Record { return &record.Reservation{At: k} }

// kindOf returns the kind of the record with the key.
func kindOf(k store.Key) (kind, error) {
	partition, _, _ := strings.Cut(k.Partition, "#")
	i := slices.IndexFunc(kinds, func(of kind) bool {
		open := of.sort == "" || strings.HasSuffix(of.sort, "#")
		return of.partition == partition && (of.sort == k.Sort || open && strings.HasPrefix(k.Sort, of.sort))
	})
	if i < 0 {
		return kind{}, fmt.Errorf("%s %s is of no kind that this build knows: use the build that wrote it", k.Partition, k.Sort)
	}
	return kinds[i], nil
}

// name is what reports call the kind.
func (k kind) name() string {
	if k.sort == "" {
		return k.partition
	}
	return k.partition + "/" + strings.TrimSuffix(k.sort, "#")
}
