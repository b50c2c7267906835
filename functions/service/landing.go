package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/edge/webpage"
	"assay/shared/language/lists"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// landing writes the page for browsers. It is the same for all callers, because shared caches store it.
func landing(ctx context.Context, c *api.Call, _ api.PublicTarget) error {
	v := landingView{store: c.Store, now: c.Now(), base: c.BaseURL(), issuer: c.Info.Issuer, clientID: c.Info.ClientID,
		version: c.Info.Version, development: c.Development()}
	if err := v.chooseTasks(ctx); err != nil {
		return err
	}
	if err := v.nameOrganizers(ctx); err != nil {
		return err
	}
	if err := v.findStages(ctx); err != nil {
		return err
	}
	v.chooseExample()
	for _, t := range v.tasks {
		c.KeepUntil(v.now, t.changes...)
	}
	return webpage.Page{Title: "Shared tasks", Here: "/", Main: landingPage(v)}.Send(ctx, c)
}

// landingView holds the data of the landing page.
type landingView struct {
	store store.Store
	now   time.Time

	base, issuer, clientID, version string
	development                     bool // the server gives tokens to every caller
	tasks                           []shownTask
	more                            bool   // not all tasks are shown
	example                         string // id of the task in the commands; empty if there is none
	exampleTerms                    int64  // version of the terms of that task; 0 if it has none
}

// shownTask is a task on the landing page.
type shownTask struct {
	*record.Task
	organizer string
	stage     stage
	joinable  bool              // teams can register now, and the task has not closed
	changes   []*record.Instant // at which the stage can become another one; some are nil
}

// nameOrganizers reads the organizers of the tasks in one call.
func (v *landingView) nameOrganizers(ctx context.Context) error {
	ids := lists.Map(v.tasks, func(t shownTask) string { return t.OrganizerID })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	organizers, err := records.GetAll[record.Organizer](ctx, v.store, store.Eventual, records.Keys(ids, record.OrganizerKey)...)
	if err != nil {
		return err
	}
	for i := range v.tasks {
		t := &v.tasks[i]
		if o := organizers[slices.Index(ids, t.OrganizerID)]; o != nil { // nil if it was deleted meanwhile
			t.organizer = o.Name
		}
	}
	return nil
}

// stage describes whether a task takes registrations and submissions.
type stage struct {
	text string
	open bool // everyone can take part
}

func stageOf(t *record.Task, datasets []record.DatasetSubmissions, now time.Time) stage {
	s, until := t.Stage(datasets, now), ", no deadline for submissions"
	switch {
	case s.Past():
		return stage{"Closed on " + webpage.Instant(s.ClosesAt.Time), false}
	case !s.Open:
		text := "Opens on " + webpage.Instant(s.OpensAt.Time)
		if s.ClosesAt != nil {
			text += ", closes on " + webpage.Instant(s.ClosesAt.Time)
		}
		return stage{text, false}
	case s.ClosesAt != nil:
		until = ", submissions until " + webpage.Instant(s.ClosesAt.Time)
	}
	switch {
	case !registers(t, now):
		return stage{"Open to those who are registered" + until, false}
	case len(datasets) == 0:
		return stage{"No dataset yet", false}
	case t.Registration.Mode == record.Approval:
		return stage{"Open to teams that the organizers accept" + until, true}
	}
	return stage{"Open for registration" + until, true}
}

// registers reports whether teams can register for the task.
func registers(t *record.Task, now time.Time) bool {
	r := t.Registration
	return r.Mode != record.Closed && record.ReasonClosed(r.OpensAt, r.ClosesAt, now) == ""
}

// changesOf returns the instants from which stageOf finds the stage of a task. Some are nil.
func changesOf(t *record.Task, datasets []record.DatasetSubmissions) []*record.Instant {
	r, s := t.Registration, t.Submissions
	all := []*record.Instant{r.OpensAt, r.ClosesAt, s.OpensAt, s.ClosesAt}
	for _, d := range datasets {
		all = append(all, d.OpensAt, d.ClosesAt)
	}
	return all
}

// signIn returns shell commands that get a token and try it.
func (v *landingView) signIn() string {
	signIn := "curl -sS " + cmp.Or(v.issuer, "<issuer>") + "/.well-known/openid-configuration\nexport ASSAY_TOKEN=<the token>"
	switch {
	case v.clientID != "":
		signIn = "export ASSAY_TOKEN=<the access token that you made there>"
	case v.development:
		signIn = `export ASSAY_TOKEN=$(curl -sS --json '{"user":"alice"}' $ASSAY_URL/dev/token | sed 's/.*"access_token":"\([^"]*\)".*/\1/')`
	}
	return "export ASSAY_URL=" + v.base + "\n" + signIn + "\n" +
		`curl -sS -X PATCH -H "Authorization: Bearer $ASSAY_TOKEN" -H 'Content-Type: application/merge-patch+json' -d '{}' $ASSAY_URL/v1/user`
}

func (v *landingView) register() string {
	body := `{"team":"Our team"}`
	if v.exampleTerms > 0 {
		body = fmt.Sprintf(`{"team":"Our team","acceptedTerms":%d}`, v.exampleTerms)
	}
	return "TASK=$ASSAY_URL/v1/tasks/" + cmp.Or(v.example, "<id of a task>") + `
curl -sS -H "Authorization: Bearer $ASSAY_TOKEN" --json '` + body + `' $TASK/registrations`
}

// submit is shell commands that submit a run and show its results.
const submit = `curl -sg "$ASSAY_URL/v1/datasets?filter[taskId]=${TASK##*/}&fields=id,name"
DATASET=<the id of one of them>
printf '{"type":"upload","files":[{"datasetId":"%s","name":"run.txt","content":"%s"}]}' \
  $DATASET "$(base64 < run.txt | tr -d '\n')" |
  curl -sS -H "Authorization: Bearer $ASSAY_TOKEN" --json @- $TASK/submissions

curl -sS -H "Authorization: Bearer $ASSAY_TOKEN" "$ASSAY_URL/v1/runs/<one of its runIds>?fields=state,diagnostics"`

// The landing page shows the featured tasks and then the newest, at most organizerTasks of each organizer, so that no organizer fills the
// page. It reads at most maxTaskPages pages of the newest tasks, and stops after maxTaskBytes. Of the datasets of each shown task, it reads
// at most about maxDatasetBytes, which is more than nearly all tasks have.
const (
	shownTasks     = 48
	organizerTasks = 2
	maxTaskPages   = 6
	maxTaskBytes   = 8 << 20

	maxDatasetBytes = 64 << 10
)

// chooseTasks reads the public tasks and chooses those that the page shows.
func (v *landingView) chooseTasks(ctx context.Context) error {
	size := 0
	for _, q := range []store.Query{
		{Index: record.ByTask, Partition: record.FeaturedTasks, Descending: true, Limit: shownTasks},
		{Index: record.ByKind, Partition: record.KindPartitions(record.KindTask, access.Everyone)[0], Descending: true, Limit: shownTasks + 1},
	} {
		for range maxTaskPages {
			items, err := v.store.Query(ctx, q)
			if err != nil {
				return records.Failed(err)
			}
			n, err := v.add(items)
			if err != nil {
				return err
			}
			size += n
			if len(items) < q.Limit || size >= maxTaskBytes || len(v.tasks) == shownTasks {
				break
			}
			q.After = &items[len(items)-1]
		}
	}
	return nil
}

// add chooses tasks for the page as long as there is room, and returns the size of all tasks in the store.
func (v *landingView) add(items []store.Item) (size int, err error) {
	for _, it := range items {
		t, err := records.Decode[record.TaskItem](it)
		if err != nil {
			return 0, err
		}
		size += len(it.Data)
		same, chosen := 0, false
		for _, other := range v.tasks {
			chosen = chosen || other.ID == t.ID
			if other.OrganizerID == t.OrganizerID {
				same++
			}
		}
		switch {
		case chosen:
		case same == organizerTasks, len(v.tasks) == shownTasks:
			v.more = true
		default:
			v.tasks = append(v.tasks, shownTask{Task: &t.Task})
		}
	}
	return size, nil
}

// unread is the stage of a task with more datasets than the page reads.
var unread = stage{text: "The task lists when each of its datasets takes submissions"}

// findStages reads the datasets of the tasks, whose windows decide whether a task takes submissions.
func (v *landingView) findStages(ctx context.Context) error {
	return records.Concurrently(len(v.tasks), func(i int) error {
		shown := &v.tasks[i]
		t := shown.Task
		q := store.Query{Index: record.ByTask, Partition: record.TaskDatasets(t.ID), Limit: record.MaxTaskDatasets + 1,
			MaxBytes: maxDatasetBytes}
		items, err := v.store.Query(ctx, q)
		switch {
		case err != nil:
			return records.Failed(err)
		case !q.IsLastPage(items):
			shown.stage, shown.joinable = unread, registers(t, v.now)
			shown.changes = changesOf(t, nil)
			return nil
		}
		windows := make([]record.DatasetSubmissions, len(items))
		for n, it := range items {
			d, err := records.Decode[record.DatasetItem](it)
			if err != nil {
				return err
			}
			windows[n] = d.Submissions
		}
		shown.stage = stageOf(t, windows, v.now)
		shown.joinable = registers(t, v.now) && !t.Stage(windows, v.now).Past()
		shown.changes = changesOf(t, windows)
		return nil
	})
}

// chooseExample finds the task for the commands of the page: the first task that takes uploads from everyone now.
func (v *landingView) chooseExample() {
	for _, t := range v.tasks {
		types := t.Submissions.Types
		if t.stage.open && (len(types) == 0 || slices.Contains(types, record.UploadType)) {
			v.example = t.ID
			if t.Terms != nil {
				v.exampleTerms = t.Terms.Version
			}
			return
		}
	}
}
