package record

import (
	"encoding/json"
	"fmt"
	"time"

	"assay/shared/access"
	"assay/shared/store"
)

// TrashTime is how long what was deleted lies in the trash, from where it can be restored.
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

// Deletion is an entry of the trash: a resource that was deleted, with everything that belongs to it.
type Deletion struct {
	Meta
	Kind       DeletedKind `json:"kind" enum:"task,dataset,submission,run" doc:"what was deleted"`
	Subject    string      `json:"subject" doc:"path that the resource had, and has again once it is restored"`
	ResourceID string      `json:"resourceId" doc:"its id"`
	TaskID     string      `json:"taskId"`
	Name       string      `json:"name" doc:"name of a task or dataset, title of a submission, label of a run"`
	DeletedBy  string      `json:"deletedBy" doc:"id of the user who deleted it"`
	By         *Person     `json:"by,omitempty" doc:"who that is; for organizers"`
	ExpiresAt  Instant     `json:"expiresAt" doc:"from when on it cannot be restored, and is deleted with its files"`
}

// DeletionItem is an entry of the trash as the store holds it.
type DeletionItem struct {
	Deletion
	OrganizerID    string `json:"organizerId"`
	RegistrationID string `json:"registrationId,omitempty"`
	OwnerID        string `json:"ownerId,omitempty"`
	// ByOwner is whether the team deleted it, which therefore can restore it. What organizers deleted they alone see and restore.
	ByOwner bool `json:"byOwner,omitempty"`
	// RestoredBy is the user who asked for the restoring that is pending.
	RestoredBy string `json:"restoredBy,omitempty"`
	// PendingWork is what becomes of it next: MoveToTrash, then PurgeTrash, or RestoreTrash. One that is Decided is in no list, and cannot be
	// restored any more, or is restored already.
	PendingWork *PendingWork `json:"pendingWork"`
}

// NewDeletion is the deletion, now, of the resource with the id, which has the scope.
func NewDeletion(now time.Time, kind DeletedKind, id, subject, name string, of access.Scope, by string, byOwner bool) *DeletionItem {
	return &DeletionItem{
		Deletion: Deletion{Meta: NewMeta(now), Kind: kind, Subject: subject, ResourceID: id, TaskID: of.TaskID, Name: name, DeletedBy: by,
			ExpiresAt: At(now.Add(TrashTime))},
		OrganizerID: of.OrganizerID, RegistrationID: of.RegistrationID, OwnerID: of.OwnerID, ByOwner: byOwner,
		PendingWork: NewPendingWork(PurgeTrash, now.Add(TrashTime)),
	}
}

// Key implements Record.
func (d *DeletionItem) Key() store.Key { return DeletionKey(d.ID) }

// DeletionKey is the key of the entry of the trash.
func DeletionKey(id string) store.Key { return keyOf(KindDeletion, id, "DELETION") }

// ResourceKey is the key that the resource had.
func (d *DeletionItem) ResourceKey() store.Key {
	of := map[DeletedKind]func(string) store.Key{TaskInTrash: TaskKey, DatasetInTrash: DatasetKey, SubmissionInTrash: SubmissionKey,
		RunInTrash: RunKey}
	return of[d.Kind](d.ResourceID)
}

// Rename has another id stand for a user in the entry, and reports whether it names the user.
func (d *DeletionItem) Rename(userID, by string) (named bool) {
	for _, id := range []*string{&d.OwnerID, &d.DeletedBy, &d.RestoredBy} {
		if *id == userID {
			*id, named = by, true
		}
	}
	return named
}

// Over reports whether nothing can be restored any more.
func (d *DeletionItem) Over() bool { return d.PendingWork.State == Decided }

// Indexes implements Record.
func (d *DeletionItem) Indexes() [store.NumIndexes]store.Key {
	x := indexes{}.pending(d.PendingWork, d.ID)
	if d.Over() {
		return x
	}
	return x.listed(KindDeletion, d.ID, d.Scope(), true)
}

// Scope is the scope of the entry: of the team, if that deleted it, and the organizers.
func (d *DeletionItem) Scope() access.Scope {
	s := access.Scope{OrganizerID: d.OrganizerID, TaskID: d.TaskID, Audience: access.Organizers}
	if d.ByOwner {
		s.RegistrationID = d.RegistrationID
		s.OwnerID = d.OwnerID
		s.Audience = access.Owners
	}
	return s
}

// For returns the entry as one who has the roles sees it.
func (d *DeletionItem) For(roles access.Role) Deletion {
	v := d.Deletion
	if roles&(access.Organizer|access.Admin) != 0 {
		v.By = PersonIn(d.Scope(), d.DeletedBy)
	}
	return v
}

func (d *DeletionItem) pendingWork() *PendingWork { return d.PendingWork }

// trashed is the form in which an item lies in the trash: as it was, with the entries that it had in indexes.
type trashed struct {
	Indexes [store.NumIndexes]store.Key `json:"indexes"`
	Item    json.RawMessage             `json:"item"`
}

const trashPrefix = "TRASH#"

// TrashKey is where the item of the key lies in the trash.
func TrashKey(k store.Key) store.Key {
	return store.Key{Partition: trashPrefix + k.Partition, Sort: k.Sort}
}

// TrashPartition is the partition of ByKind that has everything that lies in the trash for the deletion.
func TrashPartition(deletionID string) string { return trashPrefix + deletionID }

// Trash returns the item as it lies in the trash for the deletion, where nothing finds it but by its key and in TrashPartition.
func Trash(it store.Item, deletionID string) (store.Item, error) {
	data, err := encodeJSON("", trashed{it.Indexes, it.Data})
	in := store.Item{Key: TrashKey(it.Key), Version: it.Version, Data: data}
	in.Indexes[ByKind-1] = store.Key{Partition: TrashPartition(deletionID), Sort: it.Partition + "/" + it.Sort}
	return in, err
}

// Untrash returns the item that lies in the trash as it was, with its key of before; a missing one stays missing.
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
