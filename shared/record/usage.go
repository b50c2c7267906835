package record

import (
	"maps"
	"strconv"
	"time"

	"assay/shared/problem"
	"assay/shared/store"
)

// Quotas bound what is taken of the platform, beyond the rules of a task.
type Quotas struct {
	User   UsageLimits `json:"user" doc:"what one user may take; administrators may take more"`
	Server UsageLimits `json:"server" doc:"what all users together may take; counted approximately"`
}

// UsageLimits are the quotas of a user, or of the server; what is 0 or absent is not limited.
type UsageLimits struct {
	PerDay       map[string]int64 `json:"perDay" nullable:"false" doc:"how many of each kind may be created in 24 hours: organizers, tasks, datasets, registrations, runs"`
	PendingFiles int64            `json:"pendingFiles" doc:"files whose upload was announced and that have not arrived"`
	PendingBytes int64            `json:"pendingBytes" doc:"bytes of those files, as declared"`
	StoredBytes  int64            `json:"storedBytes" doc:"bytes of all files: arrived, pending, and results of tools until they are deleted"`
}

// The kinds that PerDay limits.
const (
	MadeOrganizers    = "organizers"
	MadeTasks         = "tasks"
	MadeDatasets      = "datasets"
	MadeRegistrations = "registrations"
	MadeRuns          = "runs"
)

// DefaultQuotas are those of a server that sets none.
func DefaultQuotas() Quotas {
	return Quotas{
		User: UsageLimits{
			PerDay:       map[string]int64{MadeOrganizers: 20, MadeTasks: 100, MadeDatasets: 200, MadeRegistrations: 500, MadeRuns: 5_000},
			PendingFiles: 500, PendingBytes: 100 << 30, StoredBytes: 200 << 30,
		},
		Server: UsageLimits{
			PerDay:       map[string]int64{MadeOrganizers: 500, MadeTasks: 2_000, MadeDatasets: 4_000, MadeRegistrations: 50_000, MadeRuns: 200_000},
			PendingFiles: 50_000, PendingBytes: 2 << 40, StoredBytes: 10 << 40,
		},
	}
}

// Charge is what one change takes of the quotas; bytes below zero are given back.
type Charge struct {
	Kind    string             `json:"kind,omitempty"` // what is created: a key of PerDay
	Count   int64              `json:"count,omitempty"`
	Bytes   int64              `json:"bytes,omitempty"`   // of files that records name
	Pending map[string]Uploads `json:"pending,omitempty"` // by the partition of the record that waits for them, what is now announced for it
	Leaving int64              `json:"leaving,omitempty"` // bytes that no record names, and that are there until Until
	Until   Instant            `json:"until,omitzero"`
}

// Uploads are files that are announced and may not have arrived.
type Uploads struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// PendingUploads returns those of the files that have not arrived.
func PendingUploads(files []File) (u Uploads) {
	for _, f := range files {
		if f.State != FileStored {
			u.Files, u.Bytes = u.Files+1, u.Bytes+f.Size
		}
	}
	return u
}

// SizeOf returns the bytes of all the files.
func SizeOf(files []File) (n int64) {
	for _, f := range files {
		n += f.Size
	}
	return n
}

// Window is an amount by the hour, counted from 1970. An hour counts as long as the last instant in it does, so that a
// limit holds for each span of time, and the record stays small however much is counted.
type Window map[int64]int64

func hourOf(t time.Time) int64 { return t.Unix() / 3600 }

func (w Window) sum() (n int64) {
	for _, v := range w {
		n += v
	}
	return n
}

// Counts is what was taken: by a user, or in a shard of what all users took.
type Counts struct {
	Made    map[string]Window  `json:"made,omitempty"` // by kind and hour of creation
	Bytes   int64              `json:"bytes,omitempty"`
	Leaving Window             `json:"leaving,omitempty"` // by the hour in which they are deleted at the latest
	Pending map[string]Uploads `json:"pending,omitempty"` // of a user by record, of the server by hour
}

// Usage is what a user has taken. It is written in the transaction that takes more or gives back, so that no race
// overshoots a quota of the user. It stands with the grants, which are read for each change anyway.
//
// Pending is not written when a file arrives: an entry is an upper bound until it is verified, which is needed only when
// there are many or a limit would be passed.
type Usage struct {
	Meta // ID is the user's
	Counts
	Took Charge `json:"took"` // what the last change took, for the counters of the server
}

// UsageSort is the sort key of every Usage.
const UsageSort = "USAGE"

// UsageKey is where what the user has taken stands in the table.
func UsageKey(userID string) store.Key {
	return store.Key{Partition: UserPartition(userID), Sort: UsageSort}
}

// Key implements Record.
func (u *Usage) Key() store.Key { return UsageKey(u.ID) }

// Indexes implements Record.
func (u *Usage) Indexes() [store.NumIndexes]store.Key { return indexes{} }

// Take counts the charge, or returns the problem when the limits do not allow it.
func (u *Usage) Take(l UsageLimits, ch Charge, now time.Time) error {
	if err := u.Refuse(l, ch, now, "You", "you"); err != nil {
		return err
	}
	u.Add(ch, now)
	u.Took = ch
	return nil
}

// ServerShards is over how many items the counters of the server are spread.
const ServerShards = 4

// ServerUsage is a shard of what all users have taken. It is written after the changes that it counts, some seconds of
// them at once, so what a process that dies has not written is missing: it is approximate.
type ServerUsage struct {
	Meta // ID is the shard's number
	Counts
}

// ServerPartition holds the shards.
const ServerPartition = "SERVER#USAGE"

// Key implements Record.
func (u *ServerUsage) Key() store.Key { return store.Key{Partition: ServerPartition, Sort: u.ID} }

// Indexes implements Record.
func (u *ServerUsage) Indexes() [store.NumIndexes]store.Key { return indexes{} }

// Forget drops what no longer counts at now. Uploads that were announced for runs end after UploadTime by themselves.
func (c *Counts) Forget(now time.Time) {
	for _, w := range c.Made {
		maps.DeleteFunc(w, func(hour, _ int64) bool { return hour < hourOf(now.Add(-Day)) })
	}
	maps.DeleteFunc(c.Leaving, func(hour, _ int64) bool { return hour < hourOf(now) })
	maps.DeleteFunc(c.Pending, func(of string, _ Uploads) bool {
		hour, err := strconv.ParseInt(of, 10, 64)
		return err == nil && hour < hourOf(now.Add(-UploadTime)) || !waitsUntil(of).IsZero() && waitsUntil(of).Before(now)
	})
}

// waitsUntil is when the run of the partition no longer waits for files; zero for what is no run.
func waitsUntil(partition string) time.Time {
	const prefix = "RUN#"
	if len(partition) < len(prefix) || partition[:len(prefix)] != prefix {
		return time.Time{}
	}
	return madeAt(partition[len(prefix):]).Add(UploadTime)
}

// Add counts the charge.
func (c *Counts) Add(ch Charge, now time.Time) {
	c.Forget(now)
	if ch.Count > 0 {
		if c.Made == nil {
			c.Made = map[string]Window{}
		}
		if c.Made[ch.Kind] == nil {
			c.Made[ch.Kind] = Window{}
		}
		c.Made[ch.Kind][hourOf(now)] += ch.Count
	}
	c.Bytes = max(0, c.Bytes+ch.Bytes)
	if ch.Leaving > 0 {
		if c.Leaving == nil {
			c.Leaving = Window{}
		}
		c.Leaving[hourOf(ch.Until.Time)] += ch.Leaving
	}
	for of, p := range ch.Pending {
		if c.Pending == nil {
			c.Pending = map[string]Uploads{}
		}
		if c.Pending[of] = p; p.Files == 0 {
			delete(c.Pending, of)
		}
	}
}

// ByHour returns the charge as it counts among those of others: its uploads by the hour in which they were announced.
func (ch Charge) ByHour(now time.Time, before Counts) Charge {
	hour := strconv.FormatInt(hourOf(now), 10)
	all := before.Pending[hour]
	for _, p := range ch.Pending {
		all.Files, all.Bytes = all.Files+p.Files, all.Bytes+p.Bytes
	}
	ch.Pending = map[string]Uploads{hour: all}
	return ch
}

// Merge adds what other has counted.
func (c *Counts) Merge(other Counts) {
	if c.Made == nil {
		*c = Counts{Made: map[string]Window{}, Leaving: Window{}, Pending: map[string]Uploads{}}
	}
	for kind, w := range other.Made {
		if c.Made[kind] == nil {
			c.Made[kind] = Window{}
		}
		for hour, n := range w {
			c.Made[kind][hour] += n
		}
	}
	c.Bytes += other.Bytes
	for hour, n := range other.Leaving {
		c.Leaving[hour] += n
	}
	for of, p := range other.Pending {
		c.Pending[of] = Uploads{c.Pending[of].Files + p.Files, c.Pending[of].Bytes + p.Bytes}
	}
}

// PendingWith returns all uploads that count once the charge is made.
func (c *Counts) PendingWith(ch Charge) (all Uploads) {
	for of, p := range c.Pending {
		if _, replaced := ch.Pending[of]; !replaced {
			all.Files, all.Bytes = all.Files+p.Files, all.Bytes+p.Bytes
		}
	}
	for _, p := range ch.Pending {
		all.Files, all.Bytes = all.Files+p.Files, all.Bytes+p.Bytes
	}
	return all
}

// TooManyPending reports whether the uploads that count once the charge is made would pass the limits.
func (c *Counts) TooManyPending(l UsageLimits, ch Charge) bool {
	all := c.PendingWith(ch)
	return len(ch.Pending) > 0 && all.Files > 0 && (l.PendingFiles > 0 && all.Files > l.PendingFiles || l.PendingBytes > 0 && all.Bytes > l.PendingBytes)
}

// Refuse returns the problem when the limits do not allow the charge to those who took what is counted. Who begins a
// sentence with them, and whom ends one.
func (c *Counts) Refuse(l UsageLimits, ch Charge, now time.Time, who, whom string) error {
	c.Forget(now)
	if most := l.PerDay[ch.Kind]; most > 0 && ch.Count > 0 && c.Made[ch.Kind].sum()+ch.Count > most {
		free := c.Made[ch.Kind].free(ch.Count-most, now)
		return problem.QuotaToday.New("%s created %d %s in 24 hours, and the most for %s is %d. More are possible from %s on; if that is too late, ask those who run the platform.",
			who, c.Made[ch.Kind].sum(), ch.Kind, whom, most, At(free)).After(free.Sub(now))
	}
	stored, more := c.Bytes+c.Leaving.sum(), ch.Bytes+ch.Leaving
	if l.StoredBytes > 0 && more > 0 && stored+more > l.StoredBytes {
		return problem.QuotaExhausted.New("%s have %d bytes in files, these would be %d more, and the most for %s is %d. Delete submissions, runs or files of datasets that are no longer needed, or ask those who run the platform for more; "+
			"results of tools and replaced files are freed by themselves.", who, stored, more, whom, l.StoredBytes)
	}
	if c.TooManyPending(l, ch) {
		all := c.PendingWith(ch)
		return problem.QuotaExhausted.New("With these, %d files with %d bytes were announced and have not arrived, and the most for %s is %d files and %d bytes. Upload what was announced, or cancel its runs, and try again.",
			all.Files, all.Bytes, whom, l.PendingFiles, l.PendingBytes)
	}
	return nil
}

// free is when the window has so much room that the sum is at most -over.
func (w Window) free(over int64, now time.Time) time.Time {
	left := w.sum() + over
	for hour := hourOf(now.Add(-Day)); hour <= hourOf(now); hour++ {
		if left -= w[hour]; left <= 0 {
			return time.Unix((hour+1)*3600, 0).Add(Day)
		}
	}
	return now.Add(Day)
}
