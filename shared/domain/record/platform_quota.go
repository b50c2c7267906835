package record

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"assay/shared/language/plural"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

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
	Kind    string // the kind of the created resource: a key of PerDay
	Count   int64
	Bytes   int64              // of files that records name
	Pending map[string]Uploads // the uploads that each record now waits for, by the record's partition
	Leaving int64              // bytes of files that no record names, and that are deleted at Until
	Until   Instant
	Made    string // the ID of the created organizer
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
			u.Files, u.Bytes = u.Files+1, u.Bytes+f.Size
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

// window maps hours since 1970 to amounts. An amount counts until the end of its hour. So a limit holds for every span of time, and the
// record stays small whatever the number of charges.
type window map[int64]int64

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

func (w window) sum() (n int64) {
	for _, v := range w {
		n += v
	}
	return n
}

// Counts is the usage of one user, or one shard of the usage of all users.
type Counts struct {
	Bytes int64             `json:"bytes,omitempty"` // of files that records name; negative in a shard if other shards counted the files
	Timed map[string]window `json:"timed,omitempty"` // amounts that stop counting at some hour, by kind
}

// The kinds of Timed besides the keys of PerDay.
const (
	leavingBytes = "leavingBytes" // count until the files are deleted
	pendingFiles = "pendingFiles" // only of the server: Usage.Pending is exact for users
	pendingBytes = "pendingBytes"
)

// Usage is what one user has used of the quotas. It is updated in the transaction of each change that adds or gives back usage, so that
// concurrent changes cannot exceed a user's quota. It is in the same partition as the user's grants, which every change reads.
//
// Arriving files do not update Pending. An entry of Pending is therefore an upper bound until package quota verifies it, which it does
// only if a limit would be exceeded or the entries are many.
type Usage struct {
	Meta // ID is the user's
	Counts
	Pending map[string]Uploads `json:"pending,omitempty"` // by the partition of the record that waits for the uploads
	Quota   UserQuota          `json:"quota,omitzero"`    // overrides the limits that apply to all users
	// StoredBits is the user's position in StoragePartition.
	StoredBits int `json:"storedBits,omitempty"`
	// FirstOrganizer is the ID of the first organizer that the user made. It identifies the user as the payer of all later ones.
	FirstOrganizer string `json:"firstOrganizer,omitempty"`
	Took           Charge `json:"-"` // the last charge, for the counters of the server
}

const usageSort = "USAGE"

// UsageKey returns the key of the user's usage.
func UsageKey(userID string) store.Key { return keyOf(KindUser, userID, usageSort) }

// Key implements Record.
func (u *Usage) Key() store.Key { return UsageKey(u.ID) }

// Payer returns Organizer.Payer for the next organizer that the user makes. It returns "" if the user has made none.
func (u *Usage) Payer() string {
	if u == nil {
		return ""
	}
	return u.FirstOrganizer
}

// Taken returns the user's usage at now. A nil Usage has no usage.
func (u *Usage) Taken(now time.Time) Taken {
	if u == nil {
		u = new(Usage)
	}
	return u.taken(total(u.Pending), now)
}

// Take counts the charge. If the limits do not allow the charge, Take returns a problem and counts nothing.
func (u *Usage) Take(l UsageLimits, ch Charge, now time.Time) error {
	pending := u.pendingWith(ch)
	if err := u.refuse(l, ch, total(pending), now, "You", "you"); err != nil {
		return err
	}
	u.add(ch, now)
	u.Bytes = max(0, u.Bytes)
	u.Pending = pending
	u.FirstOrganizer = cmp.Or(u.FirstOrganizer, ch.Made)
	u.Took = ch
	u.rank()
	return nil
}

// PassesPending reports whether the pending uploads would exceed the limits after the charge.
func (u *Usage) PassesPending(l UsageLimits, ch Charge) bool {
	return len(ch.Pending) > 0 && l.exceededBy(total(u.pendingWith(ch)))
}

func (u *Usage) pendingWith(ch Charge) map[string]Uploads {
	if len(ch.Pending) == 0 {
		return u.Pending
	}
	all := map[string]Uploads{}
	maps.Copy(all, u.Pending)
	maps.Copy(all, ch.Pending)
	return all
}

func total(pending map[string]Uploads) (all Uploads) {
	for _, p := range pending {
		all.Files, all.Bytes = all.Files+p.Files, all.Bytes+p.Bytes
	}
	return all
}

func (l *UsageLimits) exceededBy(p Uploads) bool {
	return l.PendingFiles > 0 && p.Files > l.PendingFiles || l.PendingBytes > 0 && p.Bytes > l.PendingBytes
}

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
	s.Counting = FileCount{s.Counting.Files + more.Files, s.Counting.InTrash + more.InTrash, At(now)}
	if last {
		counted := s.Counting
		s.Counted = &counted
	}
}

// Refuse returns a problem if the limits of all users together do not allow the charge. Each upload counts for UploadTime, whether it
// arrives or not.
func (u *ServerUsage) Refuse(l UsageLimits, ch Charge, now time.Time) error {
	pending, more := u.pending(now), total(ch.Pending)
	pending.Files += more.Files
	pending.Bytes += more.Bytes
	return u.refuse(l, ch, pending, now, "All users together", "them")
}

// Taken returns the usage at now.
func (u *ServerUsage) Taken(now time.Time) Taken { return u.taken(u.pending(now), now) }

func (u *ServerUsage) pending(now time.Time) Uploads {
	u.Forget(now)
	return Uploads{u.Timed[pendingFiles].sum(), u.Timed[pendingBytes].sum()}
}

// Add counts the charge of a user.
func (u *ServerUsage) Add(ch Charge, now time.Time) {
	u.add(ch, now)
	pending := total(ch.Pending)
	u.count(pendingFiles, hourOf(now.Add(UploadTime)), pending.Files)
	u.count(pendingBytes, hourOf(now.Add(UploadTime)), pending.Bytes)
}

// Merge adds the usage of other.
func (c *Counts) Merge(other Counts) {
	c.Bytes += other.Bytes
	for kind, w := range other.Timed {
		for hour, n := range w {
			c.count(kind, hour, n)
		}
	}
}

// Forget drops amounts that no longer count at now.
func (c *Counts) Forget(now time.Time) {
	for _, w := range c.Timed {
		maps.DeleteFunc(w, func(hour, _ int64) bool { return hour < hourOf(now) })
	}
}

func (c *Counts) add(ch Charge, now time.Time) {
	c.Forget(now)
	c.Bytes += ch.Bytes
	c.count(ch.Kind, hourOf(now.Add(Day)), ch.Count)
	c.count(leavingBytes, hourOf(ch.Until.Time), ch.Leaving)
}

func (c *Counts) count(kind string, hour, n int64) {
	if n == 0 {
		return
	}
	if c.Timed == nil {
		c.Timed = map[string]window{}
	}
	if c.Timed[kind] == nil {
		c.Timed[kind] = window{}
	}
	c.Timed[kind][hour] += n
}

func (c *Counts) taken(pending Uploads, now time.Time) Taken {
	c.Forget(now)
	t := Taken{PerDay: map[string]int64{}, PendingFiles: pending.Files, PendingBytes: pending.Bytes, StoredBytes: c.stored()}
	for kind := range nouns {
		t.PerDay[kind] = c.Timed[kind].sum()
	}
	return t
}

func (c *Counts) stored() int64 { return max(0, c.Bytes) + c.Timed[leavingBytes].sum() }

// refuse returns a problem if the limits do not allow the charge. pending is the sum of the pending uploads, including the charge's.
// The problem's detail begins with subject ("You"), and its object names the same users ("you").
func (c *Counts) refuse(l UsageLimits, ch Charge, pending Uploads, now time.Time, subject, object string) error {
	c.Forget(now)
	made := c.Timed[ch.Kind]
	if most := l.PerDay[ch.Kind]; most > 0 && ch.Count > 0 && made.sum()+ch.Count > most {
		free := made.free(made.sum()+ch.Count-most, now)
		return problem.QuotaToday.New("%s created %s in 24 hours, and the most for %s is %d. More are possible from %s on; if that is too "+
			"late, ask those who run the platform.",
			subject, plural.Count(made.sum(), nouns[ch.Kind]), object, most, At(free)).After(free.Sub(now))
	}
	stored, more := c.stored(), ch.Bytes+ch.Leaving
	if l.StoredBytes > 0 && more > 0 && stored+more > l.StoredBytes {
		return problem.QuotaExhausted.New("%s have %s in files, these would be %s more, and the most for %s is %s. Delete submissions, runs or "+
			"files of datasets that are no longer needed, or ask those who run the platform for more; "+
			"results of tools and replaced files are freed by themselves.", subject, problem.Size(stored), problem.Size(more), object,
			problem.Size(l.StoredBytes))
	}
	if len(ch.Pending) > 0 && l.exceededBy(pending) {
		return problem.QuotaExhausted.New("With these, announced files that have not arrived are %s with %s, and the most for %s is %d files "+
			"and %s. Upload what was announced, or cancel its runs, and try again.",
			plural.Count(pending.Files, "file"), problem.Size(pending.Bytes), object, l.PendingFiles, problem.Size(l.PendingBytes))
	}
	return nil
}

// free returns when at least n of the window's amount will no longer count.
func (w window) free(n int64, now time.Time) time.Time {
	for _, hour := range slices.Sorted(maps.Keys(w)) {
		n -= w[hour]
		if n <= 0 {
			return time.Unix((hour+1)*3600, 0)
		}
	}
	return now.Add(Day)
}
