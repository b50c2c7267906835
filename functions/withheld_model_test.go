//go:build !race

package functions_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"assay/shared/domain/record"

	"github.com/oklog/ulid/v2"
)

// modelTime is the clock of the model. It is a single instant, so that time makes no difference between answers. It is close to
// the present, because links are not signed for the past.
var modelTime = time.Now()

// model describes all data of a platform by attributes. It makes the records of two stores for one caller. One store has all
// records. In the other, data that the caller may not see is missing or replaced. The model repeats the rules of the design.
type model struct {
	tasks   []modelTask
	members []modelRegistration
	entries []modelEntry
	truths  []modelTruth // truths of the datasets of the only task, whose runs wait for evaluation; nil in other models
}

type modelTask struct {
	name, organizer string
	private         bool
	datasets        int
	embargoed       func(dataset int) bool // whether the dataset shows scores after the last close, which never comes
	second          record.Column          // the rule of the second column of the first dataset; the first is shown to everyone at once
}

type modelRegistration struct {
	user      string
	task      int
	state     record.RegistrationState
	anonymous bool
}

type modelEntry struct {
	name                       string
	user                       string
	task, dataset              int
	public, published, blinded bool
	embargoed                  bool // until the last close of the dataset, which never comes
	ownSecond, allSecond       bool // whether the team and everyone see the second column, once the review shows them values
	baseline                   bool
	state                      record.RunState
	ap                         float64
	run                        string // the file of a run that waits for evaluation
}

// dark reports whether only the organizers see results of the entry.
func (e *modelEntry) dark() bool { return e.blinded || e.embargoed }

// modelCallers are participants, organizers, owners, a worker, an administrator and unrelated callers.
var modelCallers = []string{"", "outsider", "member", "pending", "rejected", "ada", "dan", "rival", "olga", "robot", "root"}

func newModel(seed uint64) *model {
	random := rand.New(rand.NewPCG(seed, 11))
	second := func(dataset int) bool { return dataset == 1 }
	every := func(int) bool { return true }
	later := record.From(record.At(modelTime.Add(time.Hour)).String())
	rules := []record.Column{{}, {}, {Audience: record.ForTeam}, {Audience: record.ForOrganizers}, {From: record.FromClose}, {From: later},
		{From: record.FromPublication}, {Audience: record.ForTeam, From: later}}
	rule := func() record.Column { return rules[random.IntN(len(rules))] }
	m := &model{tasks: []modelTask{{"open", "olga", false, 2, second, rule()}, {"closed", "olga", true, 2, second, rule()},
		{"other", "rival", false, 1, second, rule()}, {"dark", "rival", true, 1, every, rule()}}}
	for task := range m.tasks {
		for _, user := range []string{"ada", "bob"} {
			m.members = append(m.members, modelRegistration{user: user, task: task, state: record.Accepted})
		}
		m.members = append(m.members, modelRegistration{user: "dan", task: task, state: record.Accepted, anonymous: true})
	}
	for task := range 2 {
		m.members = append(m.members,
			modelRegistration{user: "member", task: task, state: record.Accepted},
			modelRegistration{user: "rejected", task: task, state: record.Rejected, anonymous: random.IntN(2) == 0},
			modelRegistration{user: "pending", task: task, state: record.Pending})
	}
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	yes := func() bool { return random.IntN(2) == 0 }
	for i := range 16 {
		e := modelEntry{name: fmt.Sprint("entry", i), user: pick("ada", "bob", "dan", "dan", "rejected", "olga", "rival"),
			task:   random.IntN(len(m.tasks)),
			public: yes(), published: yes(), blinded: yes(), baseline: yes(),
			state: record.Completed, ap: float64(random.IntN(3)) / 4}
		switch e.user {
		case "rejected":
			e.task %= 2
		case "olga", "rival": // baselines of organizers, who are not registered
			e.task = slices.IndexFunc(m.tasks, func(t modelTask) bool { return t.organizer == e.user }) + e.task%2
			e.baseline = true
		}
		if random.IntN(4) == 0 {
			e.state = record.Failed
		}
		e.dataset = random.IntN(m.tasks[e.task].datasets)
		t := m.tasks[e.task]
		e.embargoed = t.embargoed(e.dataset)
		reached := t.second.From == "" || t.second.From == record.FromPublication && e.published
		e.ownSecond = e.dataset > 0 || reached && t.second.Audience != record.ForOrganizers
		e.allSecond = e.dataset > 0 || reached && t.second.Audience == ""
		m.entries = append(m.entries, e)
	}
	return m
}

func (m *model) registration(user string, task int) (modelRegistration, bool) {
	for _, r := range m.members {
		if r.user == user && r.task == task {
			return r, true
		}
	}
	return modelRegistration{}, false
}

func (m *model) organizes(caller string, task int) bool {
	return caller == "root" || caller == m.tasks[task].organizer
}

// names reports whether the caller learns who the user is.
func (m *model) names(caller, user string) bool {
	return caller == "root" || caller == user ||
		slices.ContainsFunc(m.members, func(r modelRegistration) bool { return r.user == user && m.organizes(caller, r.task) }) ||
		slices.ContainsFunc(m.entries, func(e modelEntry) bool { return e.user == user && m.organizes(caller, e.task) })
}

func (m *model) sees(caller string, task int) bool {
	r, ok := m.registration(caller, task)
	return !m.tasks[task].private || m.organizes(caller, task) || ok && r.state == record.Accepted
}

// modelID returns the id with this number. It does not depend on other resources. Higher numbers have later ids. Kinds differ by
// a thousand.
func modelID(kind string, n int) string {
	at := map[string]int{"organizer": 0, "task": 1, "dataset": 2, "registration": 3, "submission": 4, "run": 5, "review": 6, "evaluation": 7,
		"audit": 8, "secret": 9}[kind]*1000 + n
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(kind), uint64(n)))
	var id ulid.ULID
	_ = id.SetTime(uint64(modelTime.Add(time.Duration(at-100_000) * time.Second).UnixMilli()))
	_ = id.SetEntropy(sum[:10])
	return id.String()
}

func modelMeta(kind string, n int) record.Meta {
	at := record.At(modelTime.Add(-time.Hour))
	return record.Meta{ID: modelID(kind, n), CreatedAt: at, UpdatedAt: at, Version: 1}
}

func (m *model) organizerID(task int) string { return modelID("organizer", task/2) }

func (m *model) datasetNumber(task, dataset int) int { return 10*task + dataset }

const (
	modelTopics = "1 lake\n"
	modelQrels  = "1 0 a 1\n1 0 b 0\n"
	modelRun    = "1 Q0 a 1 2.5 x\n1 Q0 b 2 1.5 x\n"
)

func modelFile(name, content string) record.File {
	sum := sha256.Sum256([]byte(content))
	return record.File{Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), MediaType: "text/plain",
		State: record.FileStored}
}

// objects returns, by key, the files of the model that some caller may read.
func (m *model) objects() map[string]string {
	all := map[string]string{}
	put := func(h record.Holder, kind string, n int, content string) {
		all[record.ObjectKey(h, modelID(kind, n), modelFile("", content).SHA256)] = content
	}
	for i, t := range m.tasks {
		for n := range t.datasets {
			put(record.HolderInputs, "dataset", m.datasetNumber(i, n), modelTopics)
			put(record.HolderTruths, "dataset", m.datasetNumber(i, n), modelQrels)
		}
	}
	for n, t := range m.truths {
		for _, content := range t.contents {
			put(record.HolderTruths, "dataset", n, content)
		}
	}
	for i, e := range m.entries {
		put(record.HolderRuns, "run", i, cmp.Or(e.run, modelRun))
	}
	return all
}
