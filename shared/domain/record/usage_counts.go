package record

import (
	"maps"
	"slices"
	"time"

	"assay/shared/language/plural"
	"assay/shared/language/problem"
)

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

// free returns the instant from which at least n of the window's amount no longer counts.
func (w window) free(n int64, now time.Time) time.Time {
	for _, hour := range slices.Sorted(maps.Keys(w)) {
		n -= w[hour]
		if n <= 0 {
			return time.Unix((hour+1)*3600, 0)
		}
	}
	return now.Add(Day)
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

// holder says whose usage a problem is about.
type holder struct {
	subject string // begins the sentence
	object  string // names the same users within it
}

var (
	oneUser  = holder{subject: "You", object: "you"}
	allUsers = holder{subject: "All users together", object: "them"}
)

// refuse returns a problem if the limits do not allow the charge. pending is the sum of the pending uploads, including the charge's.
func (c *Counts) refuse(l UsageLimits, ch Charge, pending Uploads, now time.Time, of holder) error {
	c.Forget(now)
	if err := c.refuseCreated(l, ch, now, of); err != nil {
		return err
	}
	if err := c.refuseStored(l, ch, of); err != nil {
		return err
	}
	if len(ch.Pending) > 0 && l.exceededBy(pending) {
		return problem.QuotaExhausted.New("With these, announced files that have not arrived are %s with %s, and the most for %s is %d files "+
			"and %s. Upload what was announced, or cancel its runs, and try again.",
			plural.Count(pending.Files, "file"), problem.Size(pending.Bytes), of.object, l.PendingFiles, problem.Size(l.PendingBytes))
	}
	return nil
}

// refuseCreated returns a problem if the charge creates more of its kind than the limits allow in 24 hours.
func (c *Counts) refuseCreated(l UsageLimits, ch Charge, now time.Time, of holder) error {
	most := l.PerDay[ch.Kind]
	if most <= 0 || ch.Count <= 0 {
		return nil
	}
	created := c.Timed[ch.Kind]
	excess := created.sum() + ch.Count - most
	if excess <= 0 {
		return nil
	}
	free := created.free(excess, now)
	return problem.QuotaToday.New("%s created %s in 24 hours, and the most for %s is %d. More are possible from %s on; if that is too "+
		"late, ask those who run the platform.",
		of.subject, plural.Count(created.sum(), nouns[ch.Kind]), of.object, most, At(free)).After(free.Sub(now))
}

// refuseStored returns a problem if the charge stores more bytes than the limits allow.
func (c *Counts) refuseStored(l UsageLimits, ch Charge, of holder) error {
	stored := c.stored()
	more := ch.Bytes + ch.Leaving
	if l.StoredBytes <= 0 || more <= 0 || stored+more <= l.StoredBytes {
		return nil
	}
	return problem.QuotaExhausted.New("%s have %s in files, these would be %s more, and the most for %s is %s. Delete submissions, runs or "+
		"files of datasets that are no longer needed, or ask those who run the platform for more; "+
		"results of tools and replaced files are freed by themselves.",
		of.subject, problem.Size(stored), problem.Size(more), of.object, problem.Size(l.StoredBytes))
}
