package record

import (
	"fmt"
	"hash/fnv"
	"strings"

	"assay/shared/access"
	"assay/shared/store"
)

// # The table
//
// Single resources, by key (partition / sort):
//
//	ORGANIZER#<id>            / ORGANIZER           an organizer
//	ORGANIZER#<id>            / TASKS#<number>      a part of the count of its tasks
//	TASK#<id>                 / TASK                a task
//	TASK#<id>                 / REGISTRATION#<id>   a registration; the partition lists a task's registrations
//	TASK#<id>                 / TEAM#<name>         reserves the name of a team that is shown within the task
//	TASK#<id>                 / ALLOWANCE#<id>      what a team has used of the task's quota, by its registration; what a user
//	                                                used in a former team, and baselines, by the user
//	TASK#<id>                 / ANNOUNCEMENT#<id>   an announcement
//	TASK#<id>                 / EMBARGO             of which datasets scores are withheld, and the later closes of teams
//	AUDIT#<organizerId>       / <id>                an audit entry of the organizer or of one of its tasks
//	DATASET#<id>              / DATASET             a dataset
//	DATASET#<id>              / TRUTH               the truth and settings that runs are evaluated with now
//	DATASET#<id>              / SECRET              keys the digests of its truths
//	SUBMISSION#<id>           / SUBMISSION          a submission
//	RUN#<id>                  / RUN                 a run
//	RUN#<id>                  / REVIEW              its review
//	RUN#<id>                  / LEASE#<leaseId>     until when the lease of a worker lasts, if that is later than its run says
//	RUN#<id>                  / LOG#<kind>#<line>   lines of a log, until the whole log is a file
//	EVALUATION#<id>           / EVALUATION          an evaluation
//	EVALUATION#<id>           / TOPICS              its values per topic
//	DELETION#<id>             / DELETION            an entry of the trash
//	TRASH#<partition>         / <sort>              an item of what was deleted, which had this key without TRASH#
//	USER#<id>                 / PROFILE             name and address of a user, as the issuer said last, or that the user is being deleted
//	USER#<id>                 / USAGE               what the user has taken of the platform's quotas, and the user's own
//	STORED                    / <bits>#<userId>     that the user has files that count, by the number of bits of their bytes, so that
//	                                                it moves only when these double or halve
//	SERVER#USAGE              / <shard>             what all users have taken together, about
//	SERVER#USAGE              / FILES               how many files there are, and in the trash
//	USER#<id>                 / MEMBER#<organizerId>      a membership; the partition is all that a user was granted
//	USER#<id>                 / REGISTERED#<taskId>       a registration's grant to a member of the team; reserves user and task
//	TOKENS#<userId>           / <digest>            an access token of the user, by the SHA-256 of its secret
//	INVITATIONS#<id>          / <digest>            an invitation to the organizer, task or registration, by the SHA-256 of its secret
//	ADDRESSED#<id>            / ADDRESSED           the latest invitations of an organizer, or of a user to teams, to e-mail addresses
//	EVENT#<id>                / EVENT               something happened that people and webhooks are notified of
//	MAILBOX#<userId>          / BOX                 what the user, or by its AddressID an e-mail address, wants to be notified of, and
//	                                                when the next e-mail is sent
//	LASTMAIL#<id>             / SENT                when an e-mail was last sent to the address with the AddressID
//	TASK#<id>                 / WEBHOOK#<id>        a webhook of the task, and so
//	ORGANIZER#<id>            / WEBHOOK#<id>        one of the organizer
//	WEBHOOK#<id>              / <id>                an event that is or was sent to the webhook
//	PLACES#<payer>            / PLACES              which runs of the payer are evaluated in functions; of the slow lane by "slow"
//	WORKERS                   / SERVING             when workers of each pool and kind of work were last seen
//	TABLE                     / IDENTITY            tells the table from others, and names the schema and the digest of its records
//	IDEMPOTENCY#<userId>#<key>/ KEY                 the answer to a POST that carried the key
//
// Lists, by index; sort is the id throughout, save in ByWork. <audience> is who may see the entry, so that a list reads
// only partitions that its caller may see:
//
//	ByKind       ORGANIZER · USER · TASK#<audience> · DATASET#<audience> · RUN#<audience>#<shard> · EVALUATION#<audience>#<shard> ·
//	             DELETION#<audience> · TRASH#<deletionId>, which has what lies in the trash, by partition and sort
//	ByTask       FEATURED · TASK#<id>#DATASET · TASK#<id>#SUBMISSION#<audience> · TASK#<id>#RUN#<audience> ·
//	             TASK#<id>#EVALUATION#<audience> · TASK#<id>#AUDIT#organizers
//	ByDataset    DATASET#<id>#RUN#<audience> · DATASET#<id>#EVALUATION#<audience>
//	ByUser       TEAM#<registrationId>#<kind>#<audience> · USER#<id>#<kind>#<audience>, which has what everyone sees by the name of
//	             the user, and what is of no team
//	ByOrganizer  ORGANIZER#<id>#<kind>#<audience>; of audit entries those that are of no task; as WAITING registrations that wait for a
//	             decision, and events of workers that are missing by the id of a run that waits
//	ByWork       QUEUE#builtin by payer, task, submitter, team and the instant it was queued · QUEUE#slow likewise ·
//	             QUEUE#workers by pool, kind of work, and then likewise · DUE by the instant something must happen by itself ·
//	             OUTBOX by the instant something is delivered ·
//	             OUTBOX#deliveries by payer and the instant of the next attempt ·
//	             RANK#<datasetId>#<truthVersion>#<audience> by the primary measure, best first, then by submission ·
//	             WAITING#<organizerId> the runs that wait for a review or that failed, by id
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
	KindTeam       Kind = "TEAM" // whose lists those of a registration are
)

// FeaturedTasks is the partition of ByTask that holds the public tasks that are featured.
const FeaturedTasks = "FEATURED"

// DuePartition holds, in ByWork, what must happen by itself, by the instant.
const DuePartition = "DUE"

// Shards spread the lists over all tasks, because a deadline's writes all go to their newest end.
const shards = 4

var audienceNames = [...]string{
	access.Nobody: "nobody", access.Organizers: "organizers", access.Owners: "owners",
	access.Registrants: "registrants", access.Everyone: "everyone",
}

// AudienceName is what answers call the audience.
func AudienceName(a access.Audience) string { return audienceNames[a] }

// Audiences lists those that a resource can have, the widest first.
var Audiences = []access.Audience{access.Everyone, access.Registrants, access.Owners, access.Organizers}

// AudiencesOf lists those that a resource of the kind below a task can have, the widest first: a list has no need to look
// for others.
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

// listIndexes are the indexes with the lists of what belongs to one of a kind.
var listIndexes = map[Kind]store.Index{
	KindTask: ByTask, KindDataset: ByDataset, KindTeam: ByUser, KindUser: ByUser, KindOrganizer: ByOrganizer,
}

// List returns the index and its partition with the resources of the kind that belong to the one with the id, whose kind is of. The list of
// a user has those that everyone sees by name or that are of no team, and that of a team the others.
func List(of Kind, id string, k Kind, a access.Audience) (i store.Index, partition string) {
	if of == KindTask && k == KindDataset {
		return ByTask, TaskDatasets(id)
	}
	return listIndexes[of], string(of) + "#" + id + "#" + string(k) + "#" + audienceNames[a]
}

// TaskDatasets is the partition of ByTask with a task's datasets, of whatever audience.
func TaskDatasets(taskID string) string { return "TASK#" + taskID + "#DATASET" }

// RankPartition returns the partition of ByWork with a dataset's evaluations against a truth version, best first.
func RankPartition(datasetID string, truthVersion int64, a access.Audience) string {
	return fmt.Sprintf("RANK#%s#%d#%s", datasetID, truthVersion, audienceNames[a])
}

// keyOf is the key of the resource of the kind, or of what belongs to it.
func keyOf(k Kind, id, sort string) store.Key {
	return store.Key{Partition: string(k) + "#" + id, Sort: sort}
}

// indexes collects entries by index.
type indexes [store.NumIndexes]store.Key

func (x indexes) with(i store.Index, partition, sort string) indexes {
	x[i-1] = store.Key{Partition: partition, Sort: sort}
	return x
}

// in adds the resource with the id to a list, as List names it.
func (x indexes) in(of Kind, ofID string, k Kind, a access.Audience, id string) indexes {
	i, partition := List(of, ofID, k, a)
	return x.with(i, partition, id)
}

// listed adds one resource of a task to every list but that of its dataset. The list of a team or a user
// never shows, to others, what was done under an alias.
func (x indexes) listed(k Kind, id string, s access.Scope, alias bool) indexes {
	x = x.in(KindTask, s.TaskID, k, s.Audience, id)
	if k != KindSubmission { // no list has submissions of several tasks, but those of a user
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

// empty makes empty records, by what their sort keys begin with, of the kinds that are read by what they can do, whichever they are:
// have pending work, or name files.
var empty = map[string]func() Record{
	"RUN":          func() Record { return new(RunItem) },
	"DATASET":      func() Record { return new(DatasetItem) },
	"TRUTH":        func() Record { return new(Truth) },
	"TOPICS":       func() Record { return new(Topics) },
	"TASK":         func() Record { return new(TaskItem) },
	"EMBARGO":      func() Record { return new(Embargo) },
	"REGISTRATION": func() Record { return new(RegistrationItem) },
	"DELETION":     func() Record { return new(DeletionItem) },
	"PROFILE":      func() Record { return new(User) },
}

// emptyAt returns an empty record of the kind that the store has under the key; nil for one of other kinds.
func emptyAt(k store.Key) Record {
	sort, _, _ := strings.Cut(k.Sort, "#")
	if kind, ok := empty[sort]; ok {
		return kind()
	}
	return nil
}
