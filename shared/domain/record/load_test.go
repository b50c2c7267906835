package record_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/storage/store"
)

// partitionUnits is DynamoDB's limit of write units per second for one partition of a table or index.
const partitionUnits = 1000

// load counts the write units of a deadline day, by index and partition, as DynamoDB charges them.
type load struct {
	t       *testing.T
	units   map[string]float64
	stored  map[store.Key]store.Item
	second  float64 // length of the trace in seconds
	writers *rand.Rand
}

// write counts the cost of putting the records in one transaction: two units for each KB of the item, one unit for each KB of a changed
// index entry, and twice that for an entry that moves.
func (l *load) write(records ...record.Record) {
	l.t.Helper()
	for _, r := range records {
		it, err := record.Item(r)
		if err != nil {
			l.t.Fatal(err)
		}
		kb := float64((len(it.Data) + 200 + 1023) / 1024) // 200 bytes for keys and attribute names
		l.add(store.Table, it.Partition, 2*kb)
		was := l.stored[it.Key]
		for i := store.Index(1); i <= store.NumIndexes; i++ {
			before, after := was.Entry(i), it.Entry(i)
			if !before.IsZero() && before != after {
				l.add(i, before.Partition, kb)
			}
			if !after.IsZero() {
				l.add(i, after.Partition, kb)
			}
		}
		l.stored[it.Key] = it
	}
}

func (l *load) add(i store.Index, partition string, units float64) {
	l.units[fmt.Sprintf("%d %s", i, partition)] += units
}

// shape returns the kind of a partition: its name without IDs.
func shape(partition string) string {
	parts := strings.Split(partition, "#")
	for i, p := range parts {
		switch {
		case record.IsID(p):
			parts[i] = "<id>"
		case i == len(parts)-1 && len(p) == 1 && len(parts) > 2:
			parts[i] = "<shard>"
		}
	}
	return strings.Join(parts, "#")
}

// hottest returns the units per second of the busiest partition of each kind. Shards count as equally busy, because writes spread
// evenly over time.
func (l *load) hottest() map[string]float64 {
	out, shards := map[string]float64{}, map[string]float64{}
	for partition, units := range l.units {
		s := shape(partition)
		if strings.HasSuffix(s, "<shard>") {
			out[s], shards[s] = out[s]+units/l.second, shards[s]+1
		} else {
			out[s] = max(out[s], units/l.second)
		}
	}
	for s, n := range shards {
		out[s] /= n
	}
	return out
}

// submit writes the life of a submission with one run: created, leased, evaluated.
func (l *load) submit(task, dataset, user string, now time.Time) {
	access := record.AccessAttributes{OrganizerID: record.NewID(now), Blinded: true}
	s := &record.SubmissionItem{Access: access}
	s.Meta = record.NewMeta(now)
	s.TaskID = task
	s.UserID = user
	s.Team = "A team"
	s.Description = strings.Repeat("words ", 60)
	at := record.At(now)
	r := &record.RunItem{Access: access, Type: record.UploadType, Queue: record.QueueBuiltin}
	r.Meta = record.NewMeta(now)
	r.SubmissionID = s.ID
	r.TaskID = task
	r.DatasetID = dataset
	r.UserID = user
	r.State = record.Queued
	r.QueuedAt = &at
	r.Files = []record.File{{Name: "run.txt", Size: 5 << 20, SHA256: strings.Repeat("0", 64), State: record.FileStored}}
	review := &record.ReviewItem{OrganizerID: access.OrganizerID, TaskID: task, UserID: user}
	review.Meta, review.RunID = record.NewMeta(now), r.ID
	a := &record.Allowance{Meta: record.NewMeta(now), TaskID: task, Used: record.Used{Total: 1, Recent: []string{r.ID}}}
	a.ID = user
	l.write(s, r, review, a)

	r.State = record.Evaluating
	r.Lease = &record.Lease{ID: record.NewID(now), Holder: "function", Until: record.At(now.Add(time.Minute))}
	l.write(r)
	e := &record.EvaluationItem{Access: access}
	e.Meta = record.NewMeta(now)
	e.RunID = r.ID
	e.SubmissionID = s.ID
	e.TaskID = task
	e.DatasetID = dataset
	e.UserID = user
	e.TruthVersion = 1
	e.Measured = []string{"nDCG@10", "AP", "RR", "P@10", "R@1000"}
	e.Measures = map[string]*float64{}
	for _, name := range e.Measured {
		v := l.writers.Float64()
		e.Measures[name] = &v
	}
	r.State = record.Completed
	r.Lease = nil
	r.EvaluationID = e.ID
	r.Evaluations = []string{e.ID}
	l.write(r, e, &record.Topics{Meta: e.Meta, PerTopic: topics(l.writers)})
}

// topics returns values for a hundred topics.
func topics(random *rand.Rand) map[string]map[string]float64 {
	values := map[string]map[string]float64{}
	for i := range 100 {
		values[fmt.Sprint(i)] = map[string]float64{"nDCG@10": random.Float64(), "AP": random.Float64()}
	}
	return values
}

// TestPartitions_BearADeadlineDay writes a minute of a deadline day: one task has half of the submissions, ten other tasks share the
// rest, and each user submits once. It logs which partitions first exceed DynamoDB's limit, and at how many submissions per minute.
// infra/cost.md describes what happens then.
func TestPartitions_BearADeadlineDay(t *testing.T) {
	const submissions = 2000
	l := &load{t: t, units: map[string]float64{}, stored: map[store.Key]store.Item{}, second: 60, writers: rand.New(rand.NewPCG(1, 2))}
	now := time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC)
	tasks := make([][2]string, 11)
	for i := range tasks {
		tasks[i] = [2]string{record.NewID(now), record.NewID(now)}
	}
	for i := range submissions {
		of := tasks[0]
		if i%2 == 1 {
			of = tasks[1+l.writers.IntN(10)]
		}
		l.submit(of[0], of[1], record.NewID(now), now.Add(time.Duration(i)*time.Minute/submissions))
	}
	type row struct {
		shape string
		most  float64 // submissions per minute
	}
	var rows []row
	for s, units := range l.hottest() {
		rows = append(rows, row{s, submissions * partitionUnits / units})
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.most, b.most), cmp.Compare(a.shape, b.shape)) })
	var table strings.Builder
	table.WriteString("| partition | full at, submissions a minute |\n|---|---:|\n")
	for _, r := range rows {
		if r.most < 150_000 {
			fmt.Fprintf(&table, "| `%s` | %.0f |\n", r.shape, math.Round(r.most/1000)*1000)
		}
	}
	document, err := os.ReadFile("../../../infra/cost.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(document), "<!-- computed by shared/domain/record/load_test.go -->\n")
	if got, _, closed := strings.Cut(rest, "<!-- end -->"); !found || !closed || got != table.String() {
		t.Errorf("infra/cost.md is not what the trace gives; write:\n%s", &table)
	}
	if rows[0].most < 10*1000 {
		t.Errorf("%s is full at %.0f submissions a minute, which leaves no room above 1,000", rows[0].shape, rows[0].most)
	}
}
