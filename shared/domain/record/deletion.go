package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"assay/shared/domain/access"
	"assay/shared/storage/store"
)

// TrashTime is how long a deleted resource stays in the trash and can be restored.
const TrashTime = 30 * 24 * time.Hour

// DeletedKind is a kind of resource that can be restored.
type DeletedKind string

// The kinds of resources that can be restored.
const (
	TaskInTrash       DeletedKind = "task"
	DatasetInTrash    DeletedKind = "dataset"
	SubmissionInTrash DeletedKind = "submission"
	RunInTrash        DeletedKind = "run"
)

// Deletion is an entry of the trash: a deleted resource, with everything that belongs to it.
type Deletion struct {
	Meta
	Kind       DeletedKind `json:"kind" enum:"task,dataset,submission,run" doc:"what was deleted"`
	Subject    string      `json:"subject" doc:"path of the resource before it was deleted, and after it is restored"`
	ResourceID string      `json:"resourceId" doc:"id of the resource"`
	TaskID     string      `json:"taskId"`
	Name       string      `json:"name" doc:"name of a task or dataset; title of a submission; title, label or tag of a run"`
	DeletedBy  string      `json:"deletedBy" doc:"id of the user who deleted it"`
	By         *Person     `json:"by,omitempty" doc:"who that is; for organizers"`
	ExpiresAt  Instant     `json:"expiresAt" doc:"when the resource can no longer be restored, and is deleted with its files"`

	OrganizerID    string `json:"organizerId" doc:"organizer of the task"`
	RegistrationID string `json:"registrationId,omitempty" doc:"the team of a submission or run"`
	ByOrganizers   bool   `json:"byOrganizers,omitempty" doc:"organizers deleted it, so that only organizers can restore it"`

	UnmarkedRunIDs []string `json:"unmarkedRunIds,omitempty" doc:"only in the answer for a single entry: final runs that would not be final again if you restored the entry now, because the team has marked as many others as the dataset takes"`
}

// DeletionItem is a stored entry of the trash.
type DeletionItem struct {
	Deletion
	OwnerID string `json:"ownerId,omitempty"`
	// RestoredBy is the user who asked for the pending restoration.
	RestoredBy string `json:"restoredBy,omitempty"`
	// PendingWork is the next work: MoveToTrash and then PurgeTrash, or RestoreTrash. An entry whose work is Decided is in no list: the
	// resource was restored or can no longer be.
	PendingWork *PendingWork `json:"pendingWork"`
}

// NewDeletion returns the entry for deleting, at now, the resource with the ID and the scope. byTeam reports whether its team, or the user
// who submitted a baseline, deletes it.
func NewDeletion(now time.Time, kind DeletedKind, id, subject, name string, of access.Scope, by string, byTeam bool) *DeletionItem {
	return &DeletionItem{
		Deletion: Deletion{Meta: NewMeta(now), Kind: kind, Subject: subject, ResourceID: id, TaskID: of.TaskID, Name: name, DeletedBy: by,
			ExpiresAt: At(now.Add(TrashTime)), OrganizerID: of.OrganizerID, RegistrationID: of.RegistrationID, ByOrganizers: !byTeam},
		OwnerID:     of.OwnerID,
		PendingWork: NewPendingWork(PurgeTrash, now.Add(TrashTime)),
	}
}

// Key implements Record.
func (d *DeletionItem) Key() store.Key { return DeletionKey(d.ID) }

// DeletionKey returns the key of the entry of the trash.
func DeletionKey(id string) store.Key { return keyOf(KindDeletion, id, "DELETION") }

// ResourceKey returns the key of the resource before its deletion.
func (d *DeletionItem) ResourceKey() store.Key {
	of := map[DeletedKind]func(string) store.Key{TaskInTrash: TaskKey, DatasetInTrash: DatasetKey, SubmissionInTrash: SubmissionKey,
		RunInTrash: RunKey}
	return of[d.Kind](d.ResourceID)
}

// Rename replaces a user's ID in the entry, and reports whether the entry names the user.
func (d *DeletionItem) Rename(userID, by string) (named bool) {
	for _, id := range []*string{&d.OwnerID, &d.DeletedBy, &d.RestoredBy} {
		if *id == userID {
			*id, named = by, true
		}
	}
	return named
}

// Over reports whether the resource can no longer be restored.
func (d *DeletionItem) Over() bool { return d.PendingWork.State == Decided }

// Indexes implements Record.
func (d *DeletionItem) Indexes() [store.NumIndexes]store.Key {
	x := indexes{}.pending(DueOthers, d.PendingWork, d.ID)
	if d.Over() {
		return x
	}
	return x.listed(KindDeletion, d.ID, d.Scope(), true)
}

// Scope returns the scope of the entry: the organizers, and the team of the resource. A baseline without a registration has no team; its
// owner sees the entry only of an own deletion.
func (d *DeletionItem) Scope() access.Scope {
	s := access.Scope{OrganizerID: d.OrganizerID, TaskID: d.TaskID, Audience: access.Organizers}
	if d.RegistrationID != "" || !d.ByOrganizers {
		s.RegistrationID = d.RegistrationID
		s.OwnerID = d.OwnerID
		s.Audience = access.Owners
	}
	return s
}

// For returns the entry that a caller with the roles sees.
func (d *DeletionItem) For(roles access.Role) Deletion {
	v := d.Deletion
	if roles&(access.Organizer|access.Admin) != 0 {
		v.By = PersonIn(d.Scope(), d.DeletedBy)
	}
	return v
}

func (d *DeletionItem) pendingWork() *PendingWork { return d.PendingWork }

// trashed is the form of an item in the trash: its data, and its former entries in indexes.
type trashed struct {
	Indexes [store.NumIndexes]store.Key `json:"indexes"`
	Item    json.RawMessage             `json:"item"`
}

const trashPrefix = "TRASH#"

// TrashKey returns the key in the trash of the item with the key.
func TrashKey(k store.Key) store.Key {
	return store.Key{Partition: trashPrefix + k.Partition, Sort: k.Sort}
}

// TrashPartition returns the partition of ByKind with all items in the trash for the deletion.
func TrashPartition(deletionID string) string { return trashPrefix + deletionID }

// Trash returns the form of the item in the trash. Only its key and TrashPartition lead to it.
func Trash(it store.Item, deletionID string) (store.Item, error) {
	data, err := encodeJSON("", trashed{it.Indexes, it.Data})
	in := store.Item{Key: TrashKey(it.Key), Version: it.Version, Data: data}
	in.Indexes[ByKind-1] = store.Key{Partition: TrashPartition(deletionID), Sort: it.Partition + "/" + it.Sort}
	return in, err
}

// DeletionOf returns the ID of the deletion for which the item lies in the trash, and "" for an item that does not exist.
func DeletionOf(in store.Item) string {
	id, _ := strings.CutPrefix(in.Entry(ByKind).Partition, trashPrefix)
	return id
}

// Untrash is the inverse of Trash. For an item that does not exist it returns an item that does not exist, with the former key.
func Untrash(in store.Item) (store.Item, error) {
	it := store.Item{Key: store.Key{Partition: in.Partition[len(trashPrefix):], Sort: in.Sort}, Version: in.Version}
	if !in.Exists() {
		return it, nil
	}
	var t trashed
	if err := json.Unmarshal(in.Data, &t); err != nil {
		return it, fmt.Errorf("record: decode %s %s: %w", in.Partition, in.Sort, err)
	}
	it.Indexes, it.Data = t.Indexes, t.Item
	return it, nil
}
