package record

import (
	"time"

	"assay/shared/storage/store"
)

// ServerShards is the number of items over which the counters of the server are spread.
const ServerShards = 4

// ServerUsage is one shard of the usage of all users. A process writes its charges every few seconds, after the changes. Charges of a
// process that dies before writing are lost, so the counters are approximate.
type ServerUsage struct {
	Meta // ID is the number of the shard
	Counts
}

// ServerPartition holds the shards.
const ServerPartition = "SERVER#USAGE"

// Key implements Record.
func (u *ServerUsage) Key() store.Key { return store.Key{Partition: ServerPartition, Sort: u.ID} }

// Refuse returns a problem if the limits of all users together do not allow the charge. Each upload counts for UploadTime, whether it
// arrives or not.
func (u *ServerUsage) Refuse(l UsageLimits, ch Charge, now time.Time) error {
	pending := u.pending(now)
	more := total(ch.Pending)
	pending.Files += more.Files
	pending.Bytes += more.Bytes
	return u.refuse(l, ch, pending, now, allUsers)
}

// Taken returns the usage at now.
func (u *ServerUsage) Taken(now time.Time) Taken { return u.taken(u.pending(now), now) }

// pending returns the sum of the uploads that were announced within UploadTime.
func (u *ServerUsage) pending(now time.Time) Uploads {
	u.Forget(now)
	return Uploads{Files: u.Timed[pendingFiles].sum(), Bytes: u.Timed[pendingBytes].sum()}
}

// Add counts the charge of a user.
func (u *ServerUsage) Add(ch Charge, now time.Time) {
	u.add(ch, now)
	pending := total(ch.Pending)
	end := hourOf(now.Add(UploadTime))
	u.count(pendingFiles, end, pending.Files)
	u.count(pendingBytes, end, pending.Bytes)
}

// FileCount is the number of stored files. The job that deletes abandoned files counts them.
type FileCount struct {
	Files     int64   `json:"files" doc:"how many there are, without those of the last day; a file of several datasets counts for each"`
	InTrash   int64   `json:"inTrash" doc:"how many of those belong to nothing but what was deleted and can be restored"`
	CountedAt Instant `json:"countedAt" doc:"when the last of them was counted, which is done once a day or more often"`
}

// StoredFiles holds the last complete count of files, and the count in progress.
type StoredFiles struct {
	Meta
	Counted  *FileCount `json:"counted,omitempty"` // nil until the first count is complete
	Counting FileCount  `json:"counting"`
}

// StoredFilesKey returns the key of StoredFiles.
func StoredFilesKey() store.Key { return store.Key{Partition: ServerPartition, Sort: "FILES"} }

// Key implements Record.
func (*StoredFiles) Key() store.Key { return StoredFilesKey() }

// Add adds to the count in progress at now. first starts a new count, and last completes it.
func (s *StoredFiles) Add(more FileCount, first, last bool, now time.Time) {
	if first {
		s.Counting = FileCount{}
	}
	s.Counting.Files += more.Files
	s.Counting.InTrash += more.InTrash
	s.Counting.CountedAt = At(now)
	if last {
		counted := s.Counting
		s.Counted = &counted
	}
}
