//go:build !race

package functions_test

import (
	"slices"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
)

// records makes the records of a store. With withhold, it leaves out or replaces all that the caller may not see.
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
		u := (&record.User{Meta: modelMeta("organizer", 9), Name: user, Email: user + "@example.org", EmailConfirmed: true})
		if !b.hides(m.names(caller, user)) {
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

// hides reports whether the store lacks data. sees says whether the caller may see the data.
func (b *modelBuilder) hides(sees bool) bool { return b.withhold && !sees }

// other returns the text, or another text if it is withheld.
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
	task.Meta = modelMeta("task", i)
	task.OrganizerID = b.organizerID(i)
	task.Name = b.other(sees, t.name)
	task.Visibility = record.Public
	if t.private {
		task.Visibility = record.Private
	}
	task.Normalize()
	b.all = append(b.all, task, &record.Announcement{Meta: modelMeta("announcement", i), TaskID: task.ID,
		AnnouncementDraft: record.AnnouncementDraft{Title: b.other(sees, "News")}})
	if !b.hides(b.organizes(b.caller, i)) {
		b.ofOrganizers(i, task)
	}
	for n := range t.datasets {
		number := b.datasetNumber(i, n)
		truth := b.other(b.organizes(b.caller, i) || b.caller == "robot" && sees, "qrels")
		d := &record.DatasetItem{OrganizerID: task.OrganizerID, PrivateTask: t.private}
		d.Meta = modelMeta("dataset", number)
		d.TaskID = task.ID
		d.Name = b.other(sees, "data")
		d.Split = record.Test
		d.TruthVersion = 1
		d.RunFormat = record.RunFormat{Kind: "trec-run"}
		d.Evaluator = record.Evaluator{
			Kind: "retrieval", Measures: []string{"AP", "P@5"}}
		switch {
		case t.embargoed(n):
			recordtest.AfterClose(d)
		case n == 0:
			d.Columns = []record.Column{{Key: "AP"}, t.second}
			d.Columns[1].Key = "P@5"
		}
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
		b.all = append(b.all, d, &record.TruthVersion{Meta: d.Meta, TaskID: task.ID, Number: 1, Files: d.Truths, RunFormat: d.RunFormat,
			Evaluator: d.Evaluator},
			&record.TruthSecret{Meta: d.Meta, Secret: []byte(modelID("secret", number))})
	}
}

// ofOrganizers makes the records of a task that only its organizers see.
func (b *modelBuilder) ofOrganizers(i int, task *record.TaskItem) {
	organizer, path := recordtest.UserID(b.tasks[i].organizer), "/v1/tasks/"+task.ID
	a := record.NewAudit(modelTime, task.Scope(), organizer, "review.updated", path, nil, nil)
	a.Meta = modelMeta("audit", i)
	hook := record.NewWebhook(modelTime, task.Scope(), task.PayerID(), record.WebhookDraft{URL: "https://ci.example.org/"})
	hook.Meta = modelMeta("webhook", i)
	sent := record.NewDelivery(modelTime, hook, record.EventWebhookCreated, task.ID, path)
	sent.Meta = modelMeta("delivery", i)
	b.all = append(b.all, a, hook, sent, b.invitation(i, task, "", organizer),
		b.deletion("dataset", i, task.Scope(), organizer, false))
}

func (b *modelBuilder) invitation(n int, task *record.TaskItem, registrationID, by string) record.Record {
	i := &record.InvitationItem{Digest: modelID("invitation", n)}
	i.Meta = modelMeta("invitation", n)
	i.OrganizerID = task.OrganizerID
	i.TaskID = task.ID
	i.RegistrationID = registrationID
	i.InvitedBy = by
	i.Uses, i.ExpiresAt = 1, new(record.At(modelTime.Add(time.Hour)))
	return i
}

// deletion makes an entry of the trash for a deleted resource in the scope.
func (b *modelBuilder) deletion(kind string, n int, of access.Scope, by string, byOwner bool) record.Record {
	id := modelID("deleted "+kind, n)
	d := record.NewDeletion(modelTime, record.DeletedKind(kind), id, "/v1/"+kind+"s/"+id, "Deleted", of, by, byOwner)
	d.Meta = modelMeta("deletion of "+kind, n)
	return d
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
	item.Meta = modelMeta("registration", i)
	item.TaskID = modelID("task", r.task)
	item.UserID = recordtest.UserID(r.user)
	item.Team = "Team of " + r.user
	item.State = r.state
	item.Anonymous = r.anonymous
	item.Contact = r.user + "@example.org"
	item.Alias = record.NewAlias(item.ID)
	if used.TruthFailures == nil {
		b.all = append(b.all, used)
	}
	task := new(record.TaskItem)
	task.ID, task.OrganizerID = item.TaskID, item.OrganizerID
	mine := b.deletion("run", i, item.Scope(), item.UserID, true)
	b.all = append(b.all, item, b.invitation(len(b.tasks)+i, task, item.ID, item.UserID), mine, &record.Registered{
		Meta: item.Meta, UserID: item.UserID, TaskID: item.TaskID, OrganizerID: item.OrganizerID, PrivateTask: b.tasks[r.task].private,
		Team: item.Team, Alias: item.Alias, Anonymous: r.anonymous, State: r.state,
	})
}

// enter makes a submission with its run, review and evaluation, as far as the caller may see each.
func (b *modelBuilder) enter(i int, e modelEntry) {
	organizes := b.organizes(b.caller, e.task)
	owns := b.caller == e.user
	shown := e.published && !e.dark()
	sees := organizes || owns || e.public && b.sees(b.caller, e.task)
	seesResult := organizes || owns && !e.dark() || shown && b.sees(b.caller, e.task)
	seesSecond := organizes || owns && !e.dark() && e.ownSecond || shown && e.allSecond && b.sees(b.caller, e.task)
	ownsAll, othersAll := owns && !e.dark() && e.ownSecond, shown && e.allSecond
	if b.hides(sees || seesResult) {
		return
	}
	r, _ := b.registration(e.user, e.task)
	number := b.datasetNumber(e.task, e.dataset)
	attributes := record.AccessAttributes{
		OrganizerID: b.organizerID(e.task), PrivateTask: b.tasks[e.task].private, Public: e.public, Anonymous: r.anonymous, Alias: "anonymous-" +
			e.user[:1],
		Published: e.published, Blinded: e.blinded, Baseline: e.baseline,
	}
	if e.embargoed {
		attributes.ColumnsFor = record.ForOrganizers
	}
	attributes.Concealed = e.embargoed || !e.ownSecond
	named := organizes || owns || !r.anonymous
	entry := named && (sees || seesResult && e.state == record.Completed)
	attributes.Title = b.other(entry, e.name)
	attributes.PaperURL = b.other(entry, "https://example.org/"+e.name)
	attributes.Affiliation = b.other(entry, "University of "+e.user)
	userID, team := recordtest.UserID(e.user), "Team of "+e.user
	if e.user == b.tasks[e.task].organizer {
		team = record.BaselineTeam
	}
	if b.hides(organizes || owns || !r.anonymous) {
		userID, team = recordtest.UserID("somebody else"), "Somebody else"
	}
	s := &record.SubmissionItem{Access: attributes}
	s.Meta = modelMeta("submission", i)
	s.TaskID = modelID("task", e.task)
	s.UserID = userID
	s.Team = team
	s.Type = record.UploadType
	s.Title = b.other(sees && named, e.name)
	s.Description = b.other(sees && named, e.name)
	s.DatasetIDs = []string{
		modelID("dataset", number)}
	s.RunIDs = []string{modelID("run", i)}
	s.Baseline = e.baseline
	s.Notes = b.other(owns, "notes") // organizers do not see them
	s.Visibility = record.Private
	if e.public {
		s.Visibility = record.Public
	}
	run := &record.RunItem{Access: attributes, Type: record.UploadType, Queue: record.QueueBuiltin, TruthVersion: 1}
	run.Meta = modelMeta("run", i)
	run.SubmissionID = s.ID
	run.TaskID = s.TaskID
	run.DatasetID = s.DatasetIDs[0]
	run.UserID = userID
	run.Team = team
	run.State = e.state
	run.Label = b.other(entry, "label")
	run.Files = []record.File{modelFile(b.other(organizes || owns || othersAll || sees && !r.anonymous, "run.txt"), modelRun)}
	run.Diagnostics = []measure.Diagnostic{
		{Severity: measure.Error, Message: b.other(organizes || (owns || othersAll) && sees, "of the file"), SafeWhileBlinded: true},
		{Severity: measure.Warning, Message: b.other(organizes || ownsAll, "of the truth")},
	}
	run.LogTail = b.other(organizes || (ownsAll || othersAll) && sees, "log")
	run.EvaluationLogTail = b.other(organizes, "log of the evaluation")
	if e.run != "" {
		run.Files = []record.File{modelFile("run.txt", e.run)}
		run.Diagnostics = nil
		run.QueuedAt = new(record.At(modelTime))
		run.TruthVersion = 0
	}
	review := &record.ReviewItem{OrganizerID: attributes.OrganizerID, TaskID: s.TaskID, UserID: userID}
	review.Meta = modelMeta("review", i)
	review.RunID = run.ID
	review.Published = e.published
	review.Blinded = e.blinded
	review.ReviewerID = recordtest.UserID(b.tasks[e.task].organizer)
	review.Comment = b.other(organizes || owns, "comment")
	b.all = append(b.all, s, run, review)
	if e.state != record.Completed || b.hides(seesResult) {
		return
	}
	v := &record.EvaluationItem{Access: attributes, Measured: []string{"AP", "P@5"}}
	v.Meta = modelMeta("evaluation", i)
	v.RunID = run.ID
	v.SubmissionID = s.ID
	v.TaskID = s.TaskID
	v.DatasetID = run.DatasetID
	v.UserID = userID
	v.Team = team
	v.TruthVersion = 1
	second := e.ap / 2
	if b.hides(seesSecond) {
		second = 0.9
	}
	v.Measures = map[string]*float64{"AP": &e.ap, "P@5": &second}
	v.Baseline = e.baseline
	v.Label = run.Label
	v.RunTag = b.other(entry, "tag")
	v.SubmittedAt = run.CreatedAt
	v.Evaluator.Kind = "retrieval"
	v.Digests = record.Digests{
		Run: b.other(named && sees, "run"), Truth: "keyed", PlainTruth: b.other(organizes, "plain")}
	run.EvaluationID, run.Evaluations = v.ID, []string{v.ID}
	b.all = append(b.all, v, &record.Topics{Meta: v.Meta, PerTopic: map[string]map[string]float64{
		"1": {"AP": e.ap, "P@5": second}, "2": {"AP": e.ap, "P@5": second}}})
}
