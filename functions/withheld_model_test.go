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

	"assay/shared/measure"
	"assay/shared/record"
	"assay/shared/record/recordtest"

	"github.com/oklog/ulid/v2"
)

// modelTime is the clock of the model: one instant, so that two answers differ in nothing that time makes. It is about now, for
// links are not signed for the past.
var modelTime = time.Now()

// model is everything that a platform holds, by attributes. It makes the records of two stores for one caller: in full, and
// with all that the caller may not see left out or replaced. The rules are those of the design, written once more.
type model struct {
	tasks   []modelTask
	members []modelRegistration
	entries []modelEntry
	truths  []modelTruth // of the datasets of the only task, whose runs wait to be evaluated; nil in a model without
}

type modelTask struct {
	name, organizer string
	private         bool
	datasets        int
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
	embargoed                  bool // until the last close of the dataset, which has none
	baseline                   bool
	state                      record.RunState
	ap                         float64
	run                        string // the file of one that waits to be evaluated
}

// dark reports whether nobody but the organizers is shown results of the entry.
func (e *modelEntry) dark() bool { return e.blinded || e.embargoed }

// The callers: participants, organizers, owners, a worker, an administrator and unrelated ones.
var modelCallers = []string{"", "outsider", "member", "pending", "rejected", "ada", "dan", "rival", "olga", "robot", "root"}

func newModel(seed uint64) *model {
	random := rand.New(rand.NewPCG(seed, 11))
	m := &model{tasks: []modelTask{{"open", "olga", false, 2}, {"closed", "olga", true, 2}, {"other", "rival", false, 1},
		{"dark", "rival", true, 1}}}
	for task := range m.tasks {
		for _, user := range []string{"ada", "bob"} {
			m.members = append(m.members, modelRegistration{user, task, record.Accepted, false})
		}
		m.members = append(m.members, modelRegistration{"dan", task, record.Accepted, true})
	}
	for task := range 2 {
		m.members = append(m.members, modelRegistration{"member", task, record.Accepted, false}, modelRegistration{
			"rejected", task, record.Rejected, random.IntN(2) == 0},
			modelRegistration{"pending", task, record.Pending, false})
	}
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	yes := func() bool { return random.IntN(2) == 0 }
	for i := range 16 {
		e := modelEntry{name: fmt.Sprint("entry", i), user: pick("ada", "bob", "dan", "dan", "rejected", "olga", "rival"),
			task:   random.IntN(len(m.tasks)),
			public: yes(), published: yes(), blinded: yes(), embargoed: random.IntN(3) == 0, baseline: yes(),
			state: record.Completed, ap: float64(random.IntN(3)) / 4}
		switch e.user {
		case "rejected":
			e.task %= 2
		case "olga", "rival": // baselines of organizers, who are not registered
			e.task, e.baseline = slices.IndexFunc(m.tasks, func(t modelTask) bool { return t.organizer == e.user })+e.task%2, true
		}
		if random.IntN(4) == 0 {
			e.state = record.Failed
		}
		e.dataset = random.IntN(m.tasks[e.task].datasets)
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

// names reports whether the caller learns who the user is: administrators, and organizers of a task that the user takes part in.
func (m *model) names(caller, user string) bool {
	return caller == "root" || caller == user ||
		slices.ContainsFunc(m.members, func(r modelRegistration) bool { return r.user == user && m.organizes(caller, r.task) }) ||
		slices.ContainsFunc(m.entries, func(e modelEntry) bool { return e.user == user && m.organizes(caller, e.task) })
}

func (m *model) sees(caller string, task int) bool {
	r, ok := m.registration(caller, task)
	return !m.tasks[task].private || m.organizes(caller, task) || ok && r.state == record.Accepted
}

// modelID is the id of the name, whatever else there is: those made later have later names. Kinds are apart by a thousand.
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

// objects are the files of the model that somebody may read, by key.
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

// records makes those of a store. Without withhold they are all there; with it, what the caller may not see is not.
func (m *model) records(caller string, withhold bool) []record.Record {
	b := &modelBuilder{model: m, caller: caller, withhold: withhold}
	for i, user := range []string{"olga", "rival"} {
		o := &record.Organizer{Meta: modelMeta("organizer", i)}
		o.Name, o.Members = "Lab of "+user, []string{recordtest.UserID(user)}
		count := &record.TaskCount{Meta: o.Meta, Tasks: 2}
		o.Owners = o.Members
		b.all = append(b.all, o, count, &record.Reservation{Meta: o.Meta, At: record.MembershipKey(o.Members[0], o.ID)})
	}
	for _, user := range []string{"ada", "bob", "dan", "rejected", "olga", "rival"} {
		if u := (&record.User{Meta: modelMeta("organizer", 9), Name: user, Email: user + "@example.org"}); !b.hides(m.names(caller, user)) {
			u.ID = recordtest.UserID(user)
			b.all = append(b.all, u)
		}
	}
	for i := range m.tasks {
		b.task(i)
	}
	for i, r := range m.members {
		b.register(i, r)
	}
	for i, e := range m.entries {
		b.enter(i, e)
	}
	return b.all
}

type modelBuilder struct {
	*model
	caller   string
	withhold bool
	all      []record.Record
}

// hides reports whether what the caller sees or not is to be withheld.
func (b *modelBuilder) hides(sees bool) bool { return b.withhold && !sees }

// other is the text, or another one where it is withheld.
func (b *modelBuilder) other(sees bool, text string) string {
	if b.hides(sees) {
		return "withheld, and of another length than what it replaces"
	}
	return text
}

func (b *modelBuilder) task(i int) {
	t, sees := b.tasks[i], b.sees(b.caller, i)
	if _, known := b.registration(b.caller, i); b.hides(sees || known) {
		return
	}
	task := &record.TaskItem{}
	task.Meta, task.OrganizerID, task.Name, task.Visibility = modelMeta("task", i), b.organizerID(i), b.other(sees, t.name), record.Public
	if t.private {
		task.Visibility = record.Private
	}
	task.Normalize()
	b.all = append(b.all, task)
	if !b.hides(b.organizes(b.caller, i)) {
		a := record.NewAudit(modelTime, task.Scope(), recordtest.UserID(t.organizer), "review.updated", "/v1/tasks/"+task.ID, nil, nil)
		a.Meta = modelMeta("audit", i)
		b.all = append(b.all, a)
	}
	for n := range t.datasets {
		number := b.datasetNumber(i, n)
		truth := b.other(b.organizes(b.caller, i) || b.caller == "robot" && sees, "qrels")
		d := &record.DatasetItem{OrganizerID: task.OrganizerID, PrivateTask: t.private}
		d.Meta, d.TaskID, d.Name, d.Split, d.TruthVersion = modelMeta("dataset", number), task.ID, b.other(sees, "data"), record.Test, 1
		d.Scores = record.ScoresAfterClose
		d.RunFormat, d.Evaluator = record.RunFormat{Kind: "trec-run"}, record.Evaluator{
			Kind: "retrieval", Measures: []string{"AP", "P@5"}, PrimaryMeasure: "AP"}
		d.Inputs = []record.File{modelFile("topics.txt", b.other(sees, modelTopics))}
		d.Truths = []record.File{modelFile(truth, modelQrels)}
		if truth != "qrels" {
			d.Truths = append(d.Truths, modelFile("more", truth))
			d.Diagnostics = []measure.Diagnostic{{Severity: measure.Warning, Message: truth}}
		}
		if n == 1 {
			d.PublishedProgress = record.Progress{Runs: 3, Waiting: 1}
			progress := d.PublishedProgress
			if !b.hides(b.organizes(b.caller, i)) {
				progress = record.Progress{Runs: 9, Waiting: 4}
			}
			d.Reevaluation = &record.Reevaluation{StartedAt: d.CreatedAt, Progress: &progress}
		}
		if b.truths != nil {
			b.truths[n].set(d, b.hides(b.organizes(b.caller, i)))
		}
		b.all = append(b.all, d, &record.Truth{Meta: d.Meta, TaskID: task.ID, Number: 1, Files: d.Truths, RunFormat: d.RunFormat,
			Evaluator: d.Evaluator},
			&record.TruthSecret{Meta: d.Meta, Secret: []byte(modelID("secret", number))})
	}
}

func (b *modelBuilder) register(i int, r modelRegistration) {
	used := &record.Allowance{Meta: modelMeta("registration", i), TaskID: modelID("task", r.task), Used: record.Used{Total: 1}}
	used.ID = recordtest.UserID(r.user)
	used.Exceptions = []record.Exception{{Meta: modelMeta("exception", i), ExceptionDraft: record.ExceptionDraft{
		Reason: b.other(b.caller == r.user || b.organizes(b.caller, r.task), "reason")}}}
	if b.truths != nil && r.user == "bob" {
		used.TruthFailures = slices.Repeat([]record.Instant{record.At(modelTime.Add(-time.Hour))}, record.MaxTruthFailures)
		b.all = append(b.all, used)
	}
	if b.hides(b.caller == r.user || b.organizes(b.caller, r.task)) {
		return
	}
	item := &record.RegistrationItem{OrganizerID: b.organizerID(r.task)}
	item.Meta, item.TaskID, item.UserID = modelMeta("registration", i), modelID("task", r.task), recordtest.UserID(r.user)
	item.Team, item.State, item.Anonymous, item.Contact = "Team of "+r.user, r.state, r.anonymous, r.user+"@example.org"
	item.Alias = record.NewAlias(item.ID)
	if used.TruthFailures == nil {
		b.all = append(b.all, used)
	}
	b.all = append(b.all, item, &record.Registered{
		Meta: item.Meta, UserID: item.UserID, TaskID: item.TaskID, OrganizerID: item.OrganizerID, PrivateTask: b.tasks[r.task].private,
		Team: item.Team, Alias: item.Alias, Anonymous: r.anonymous, State: r.state,
	})
}

// enter makes a submission with its run, review and evaluation, each as far as the caller sees it.
func (b *modelBuilder) enter(i int, e modelEntry) {
	organizes, owns, shown := b.organizes(b.caller, e.task), b.caller == e.user, e.published && !e.dark()
	sees := organizes || owns || e.public && b.sees(b.caller, e.task)
	seesResult := organizes || owns && !e.dark() || shown && b.sees(b.caller, e.task)
	if b.hides(sees || seesResult) {
		return
	}
	r, _ := b.registration(e.user, e.task)
	number := b.datasetNumber(e.task, e.dataset)
	attributes := record.AccessAttributes{
		OrganizerID: b.organizerID(e.task), PrivateTask: b.tasks[e.task].private, Public: e.public, Anonymous: r.anonymous, Alias: "anonymous-" +
			e.user[:1],
		Published: e.published, Blinded: e.blinded, Embargoed: e.embargoed, Baseline: e.baseline,
	}
	named := organizes || owns || !r.anonymous
	entry := named && (sees || seesResult && e.state == record.Completed)
	attributes.Title, attributes.PaperURL, attributes.Affiliation = b.other(entry, e.name), b.other(entry, "https://example.org/"+e.name),
		b.other(entry, "University of "+e.user)
	userID, team := recordtest.UserID(e.user), "Team of "+e.user
	if e.user == b.tasks[e.task].organizer {
		team = record.BaselineTeam
	}
	if b.hides(organizes || owns || !r.anonymous) {
		userID, team = recordtest.UserID("somebody else"), "Somebody else"
	}
	s := &record.SubmissionItem{Access: attributes}
	s.Meta, s.TaskID, s.UserID, s.Team, s.Type = modelMeta("submission", i), modelID("task", e.task), userID, team, record.UploadType
	s.Title, s.Description, s.DatasetIDs, s.RunIDs, s.Baseline = b.other(sees && named, e.name), b.other(sees && named, e.name), []string{
		modelID("dataset", number)}, []string{modelID("run", i)}, e.baseline
	s.Notes = b.other(owns, "notes") // which organizers are not shown
	if s.Visibility = record.Private; e.public {
		s.Visibility = record.Public
	}
	run := &record.RunItem{Access: attributes, Type: record.UploadType, Queue: record.QueueBuiltin, TruthVersion: 1}
	run.Meta, run.SubmissionID, run.TaskID, run.DatasetID = modelMeta("run", i), s.ID, s.TaskID, s.DatasetIDs[0]
	run.UserID, run.Team, run.State, run.Label = userID, team, e.state, b.other(entry, "label")
	run.Files = []record.File{modelFile(b.other(organizes || owns || shown || sees && !r.anonymous, "run.txt"), modelRun)}
	run.Diagnostics = []measure.Diagnostic{
		{Severity: measure.Error, Message: b.other(organizes || (owns || shown) && sees, "of the file"), SafeWhileBlinded: true},
		{Severity: measure.Warning, Message: b.other(organizes || owns && !e.dark(), "of the truth")},
	}
	run.LogTail = b.other(organizes || !e.dark() && (owns || shown) && sees, "log")
	run.EvaluationLogTail = b.other(organizes, "log of the evaluation")
	if e.run != "" {
		run.Files, run.Diagnostics, run.QueuedAt, run.TruthVersion = []record.File{modelFile("run.txt", e.run)}, nil, new(record.At(modelTime)), 0
	}
	review := &record.ReviewItem{OrganizerID: attributes.OrganizerID, TaskID: s.TaskID, UserID: userID}
	review.Meta, review.RunID, review.Published, review.Blinded = modelMeta("review", i), run.ID, e.published, e.blinded
	review.ReviewerID = recordtest.UserID(b.tasks[e.task].organizer)
	review.Comment = b.other(organizes || owns, "comment")
	b.all = append(b.all, s, run, review)
	if e.state != record.Completed || b.hides(seesResult) {
		return
	}
	v := &record.EvaluationItem{Access: attributes, Columns: []string{"AP", "P@5"}}
	v.Meta, v.RunID, v.SubmissionID, v.TaskID, v.DatasetID, v.UserID, v.Team = modelMeta("evaluation", i), run.ID, s.ID, s.TaskID,
		run.DatasetID, userID, team
	v.TruthVersion, v.PrimaryMeasure, v.Measures, v.Baseline = 1, "AP", map[string]*float64{"AP": &e.ap, "P@5": nil}, e.baseline
	v.Label, v.RunTag, v.SubmittedAt = run.Label, b.other(entry, "tag"), run.CreatedAt
	v.Evaluator.Kind, v.Digests = "retrieval", record.Digests{
		Run: b.other(named && sees, "run"), Truth: "keyed", PlainTruth: b.other(organizes, "plain")}
	run.EvaluationID, run.Evaluations = v.ID, []string{v.ID}
	b.all = append(b.all, v, &record.Topics{Meta: v.Meta, PerTopic: map[string]map[string]float64{"1": {"AP": e.ap}, "2": {"AP": e.ap}}})
}
