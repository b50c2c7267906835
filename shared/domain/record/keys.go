package record

import (
	"fmt"
	"hash/fnv"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/storage/store"
)

// # The table
//
// Single resources, by key (partition / sort):
//
//	ORGANIZER#<id>            / ORGANIZER           an organizer
//	ORGANIZER#<id>            / TASKS#<number>      one part of the number of its tasks
//	TASK#<id>                 / TASK                a task
//	TASK#<id>                 / REGISTRATION#<id>   a registration; the partition lists a task's registrations
//	TASK#<id>                 / TEAM#<name>         reserves the name of a team that is not anonymous
//	TASK#<id>                 / ALLOWANCE#<id>      usage of the task's quota by a team, by registration; usage of a user in a
//	                                                former team, and of baselines, by user
//	TASK#<id>                 / SUBMITTED#<registrationId>#<digest>   the team's latest submission of a draft, by the SHA-256 of the draft
//	TASK#<id>                 / ANNOUNCEMENT#<id>   an announcement
//	TASK#<id>                 / EMBARGO             the datasets whose scores are withheld, and the extensions of teams
//	AUDIT#<organizerId>       / <id>                an audit entry of the organizer or of one of its tasks
//	DATASET#<id>              / DATASET             a dataset
//	DATASET#<id>              / TRUTH               the ground truth (qrels, labels) and settings in use
//	DATASET#<id>              / SECRET              the key of the digests of its ground truths
//	SUBMISSION#<id>           / SUBMISSION          a submission
//	RUN#<id>                  / RUN                 a run
//	RUN#<id>                  / REVIEW              its review
//	RUN#<id>                  / LEASE#<leaseId>     the end of a worker's lease, if later than the end that the run names
//	RUN#<id>                  / LOG#<kind>#<line>   lines of a log, until the whole log is in a file
//	EVALUATION#<id>           / EVALUATION          an evaluation
//	EVALUATION#<id>           / TOPICS              its values per topic
//	DELETION#<id>             / DELETION            an entry of the trash
//	TRASH#<partition>         / <sort>              a deleted item; its former key is this key without TRASH#
//	USER#<id>                 / PROFILE             name and address from the issuer, or the pending deletion of the user
//	USER#<id>                 / USAGE               the user's usage of the platform's quotas, and the user's own quota
//	STORED                    / <bits>#<userId>     an entry for each user with files, by the number of bits of their total size;
//	                                                it moves only when the size doubles or halves
//	SERVER#USAGE              / <shard>             usage of all users together, approximate
//	SERVER#USAGE              / FILES               number of stored files, and of files in the trash
//	USER#<id>                 / MEMBER#<organizerId>      a membership; the partition holds all grants of the user
//	USER#<id>                 / REGISTERED#<taskId>       a registration's grant to a member of the team; at most one for each
//	                                                      user and task. Ended by another person, it stays for 30 days
//	TOKENS#<userId>           / <digest>            an access token of the user, by the SHA-256 of its secret
//	INVITATIONS#<id>          / <digest>            an invitation to the organizer, task or registration, by the SHA-256 of its secret
//	ADDRESSED#<id>            / ADDRESSED           the latest invitations to e-mail addresses: by an organizer, or to teams by a user
//	EVENT#<id>                / EVENT               an event that people and webhooks are notified of
//	MAILBOX#<userId>          / BOX                 which e-mails the user, or the address with this AddressID, wants, and when the next
//	                                                e-mail is sent
//	LASTMAIL#<id>             / SENT                when an e-mail was last sent to the address with the AddressID
//	TASK#<id>                 / WEBHOOK#<id>        a webhook of the task
//	ORGANIZER#<id>            / WEBHOOK#<id>        a webhook of the organizer
//	WEBHOOK#<id>              / <id>                a delivery of an event to the webhook
//	PLACES#<payer>            / PLACES              the payer's runs that functions evaluate now; payer "slow": the slow lane
//	WORKERS                   / SERVING             when workers of each pool and kind of work were last seen
//	TABLE                     / IDENTITY            identifies the table, and names the schema and the digest of its records
//	IDEMPOTENCY#<userId>#<key>/ KEY                 the answer to a POST that carried the key
//
// Lists, by index. The sort key is the ID, except in ByWork. <audience> is the audience of the entry: a list reads only the
// partitions that its caller may see.
//
//	ByKind       ORGANIZER · USER · TASK#<audience> · DATASET#<audience> · RUN#<audience>#<shard> · EVALUATION#<audience>#<shard> ·
//	             DELETION#<audience> · TRASH#<deletionId>, the items in the trash, by partition and sort key
//	ByTask       FEATURED · TASK#<id>#DATASET · TASK#<id>#SUBMISSION#<audience> · TASK#<id>#RUN#<audience> ·
//	             TASK#<id>#EVALUATION#<audience> · TASK#<id>#AUDIT#organizers
//	ByDataset    DATASET#<id>#RUN#<audience> · DATASET#<id>#EVALUATION#<audience>
//	ByUser       TEAM#<registrationId>#<kind>#<audience> · USER#<id>#<kind>#<audience>, records without a team, and records of the user
//	             that everyone sees
//	ByOrganizer  ORGANIZER#<id>#<kind>#<audience>. AUDIT has only audit entries without a task. WAITING has registrations that wait for
//	             a decision and events of missing workers, the latter by the ID of a waiting run
//	ByWork       QUEUE#builtin by payer, task, submitter, team and time of queueing · QUEUE#slow likewise ·
//	             QUEUE#workers by pool, kind of work, and then likewise ·
//	             DUE#runs · DUE#others, pending work by the time at which it is due · DUE#datasets by payer and then likewise ·
//	             OUTBOX by the time of delivery · OUTBOX#deliveries by payer and the time of the next attempt ·
//	             RANK#<datasetId>#<truthVersion>#<audience> by the first measure of the evaluator, best first, then by submission ·
//	             WAITING#<organizerId> runs that wait for a review or have failed, by ID
const (
	ByKind      store.Index = 1
	ByTask      store.Index = 2
	ByDataset   store.Index = 3
	ByUser      store.Index = 4
	ByOrganizer store.Index = 5
	ByWork      store.Index = 6
)

// Kind is a kind of resource, as it stands in keys.
type Kind string

// The kinds that lists are made of.
const (
	KindOrganizer  Kind = "ORGANIZER"
	KindUser       Kind = "USER"
	KindTask       Kind = "TASK"
	KindDataset    Kind = "DATASET"
	KindSubmission Kind = "SUBMISSION"
	KindRun        Kind = "RUN"
	KindEvaluation Kind = "EVALUATION"
	KindAudit      Kind = "AUDIT"
	KindDeletion   Kind = "DELETION"
	KindTeam       Kind = "TEAM" // the kind of List for the resources of a registration
)

// FeaturedTasks is the partition of ByTask that holds the featured public tasks.
const FeaturedTasks = "FEATURED"

// shards is the number of partitions over which each list of all tasks is spread. Without them, all writes of a deadline would go to
// the newest end of one partition.
const shards = 4

var audienceNames = [...]string{
	access.Nobody: "nobody", access.Organizers: "organizers", access.Owners: "team",
	access.Registrants: "registrants", access.Everyone: "everyone",
}

// AudienceName returns the audience's name in answers.
func AudienceName(a access.Audience) string { return audienceNames[a] }

// Audiences lists the audiences that a resource can have, widest first.
var Audiences = []access.Audience{access.Everyone, access.Registrants, access.Owners, access.Organizers}

// AudiencesOf returns the audiences that resources of the kind below a task can have, widest first. Lists need not read the others.
func AudiencesOf(k Kind) []access.Audience {
	switch k {
	case KindDataset:
		return Audiences[:2]
	case KindSubmission, KindRun:
		return Audiences[:3]
	case KindDeletion:
		return Audiences[1:]
	default:
		return Audiences
	}
}

// KindPartitions returns the partitions of ByKind that hold the kind's resources with the audience.
func KindPartitions(k Kind, a access.Audience) []string {
	switch k {
	case KindRun, KindEvaluation:
		parts := make([]string, shards)
		for i := range parts {
			parts[i] = fmt.Sprintf("%s#%s#%d", k, audienceNames[a], i)
		}
		return parts
	case KindOrganizer, KindUser:
		return []string{string(k)}
	default:
		return []string{string(k) + "#" + audienceNames[a]}
	}
}

func kindPartition(k Kind, a access.Audience, id string) string {
	parts := KindPartitions(k, a)
	if len(parts) == 1 {
		return parts[0]
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return parts[h.Sum32()%uint32(len(parts))]
}

// listIndexes maps the kind of an owner to the index with the lists of its resources.
var listIndexes = map[Kind]store.Index{
	KindTask: ByTask, KindDataset: ByDataset, KindTeam: ByUser, KindUser: ByUser, KindOrganizer: ByOrganizer,
}

// List returns the index and the partition that list the resources of kind k that belong to the resource of kind of with the ID. The
// list of a user has resources that everyone sees by the user's name, and resources without a team. The list of a team has the others.
func List(of Kind, id string, k Kind, a access.Audience) (i store.Index, partition string) {
	if of == KindTask && k == KindDataset {
		return ByTask, TaskDatasets(id)
	}
	return listIndexes[of], string(of) + "#" + id + "#" + string(k) + "#" + audienceNames[a]
}

// TaskDatasets returns the partition of ByTask with a task's datasets of every audience.
func TaskDatasets(taskID string) string { return "TASK#" + taskID + "#DATASET" }

// RankPartition returns the partition of ByWork with a dataset's evaluations against a ground truth version, best first.
func RankPartition(datasetID string, truthVersion int64, a access.Audience) string {
	return fmt.Sprintf("RANK#%s#%d#%s", datasetID, truthVersion, audienceNames[a])
}

// keyOf returns the key of a resource of the kind, or of a record that belongs to the resource.
func keyOf(k Kind, id, sort string) store.Key {
	return store.Key{Partition: string(k) + "#" + id, Sort: sort}
}

// indexes holds a record's entries, by index.
type indexes [store.NumIndexes]store.Key

func (x indexes) with(i store.Index, partition, sort string) indexes {
	x[i-1] = store.Key{Partition: partition, Sort: sort}
	return x
}

// in adds the resource with the ID to the list that List names.
func (x indexes) in(of Kind, ofID string, k Kind, a access.Audience, id string) indexes {
	i, partition := List(of, ofID, k, a)
	return x.with(i, partition, id)
}

// listed adds a resource of a task to every list except its dataset's. Nobody but the owners sees an anonymous team's resources in the
// lists of the team or its users.
func (x indexes) listed(k Kind, id string, s access.Scope, alias bool) indexes {
	x = x.in(KindTask, s.TaskID, k, s.Audience, id)
	if k != KindSubmission { // only lists of users have submissions of several tasks
		x = x.with(ByKind, kindPartition(k, s.Audience, id), id).in(KindOrganizer, s.OrganizerID, k, s.Audience, id)
	}
	own := s.Audience
	if own == access.Registrants || alias && own == access.Everyone {
		own = access.Owners
	}
	switch {
	case s.OwnerID == "":
		return x
	case s.RegistrationID == "" || own == access.Everyone:
		return x.in(KindUser, s.OwnerID, k, own, id)
	default:
		return x.in(KindTeam, s.RegistrationID, k, own, id)
	}
}

// empty maps the beginning of a sort key to a function that makes an empty record. It has the kinds that DecodePending and
// DecodeFileHolder read.
var empty = map[string]func() Record{
	"RUN":          func() Record { return new(RunItem) },
	"DATASET":      func() Record { return new(DatasetItem) },
	"TRUTH":        func() Record { return new(TruthVersion) },
	"TOPICS":       func() Record { return new(Topics) },
	"TASK":         func() Record { return new(TaskItem) },
	"EMBARGO":      func() Record { return new(Embargo) },
	"REGISTRATION": func() Record { return new(RegistrationItem) },
	"DELETION":     func() Record { return new(DeletionItem) },
	"PROFILE":      func() Record { return new(User) },
}

// emptyAt returns an empty record of the kind that the key is for. It returns nil for kinds without an entry in empty.
func emptyAt(k store.Key) Record {
	sort, _, _ := strings.Cut(k.Sort, "#")
	if kind, ok := empty[sort]; ok {
		return kind()
	}
	return nil
}
