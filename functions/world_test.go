package functions_test

import (
	"strings"
	"testing"
	"time"

	"assay/functions"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/store"
)

// world serves every family over a store whose calls are counted, and makes what a test needs straight in the store.
type world struct {
	*servertest.Server
	meter       *meter
	organizerID string // of olga
	made        []record.Record
}

func newWorld(t testing.TB) *world {
	s := servertest.New(t, functions.Operations()...)
	return newWorldOver(s, s.Store)
}

// newWorldOver has the server keep everything in the table.
func newWorldOver(s *servertest.Server, table store.Store) *world {
	w := &world{Server: s, meter: &meter{Store: table}}
	w.Store = w.meter
	w.organizerID = w.newOrganizer("olga")
	return w
}

// flush stores what was made.
func (w *world) flush(t testing.TB) {
	c := newCrowd(t, w.meter.Store)
	c.add(w.made...)
	c.wait()
	w.made = nil
}

func (w *world) meta() record.Meta { return record.NewMeta(time.Now()) }

func (w *world) newOrganizer(member string) string {
	o := &record.Organizer{Meta: w.meta()}
	o.Name, o.Members = "Organizer of "+member, []string{servertest.UserID(member)}
	w.made = append(w.made, o, &record.Reservation{Meta: w.meta(), At: record.MembershipKey(o.Members[0], o.ID)})
	return o.ID
}

// place is a task with one dataset.
type place struct {
	w       *world
	task    *record.TaskItem
	dataset *record.DatasetItem
}

func (w *world) newPlace(organizerID string, v record.Visibility) place {
	t := &record.TaskItem{}
	t.Meta, t.OrganizerID, t.Name, t.Visibility = w.meta(), organizerID, "Task", v
	t.Normalize()
	d := &record.DatasetItem{OrganizerID: organizerID, PrivateTask: v == record.Private}
	d.Meta, d.TaskID, d.Name, d.Split, d.TruthVersion = w.meta(), t.ID, "Dataset", record.Validation, 1
	d.RunFormat = record.RunFormat{Kind: "csv", IDField: "id", ValueField: "label"}
	d.Evaluator = record.Evaluator{Kind: "classification", Measures: []string{"Accuracy", "MCC"}, PrimaryMeasure: "Accuracy"}
	d.Truths = []record.File{{Name: "truth.csv", Size: 1, SHA256: strings.Repeat("0", 64), MediaType: "text/csv", State: record.FileStored}}
	truth := &record.Truth{Meta: d.Meta, TaskID: t.ID, Number: 1, Files: d.Truths, RunFormat: d.RunFormat, Evaluator: d.Evaluator}
	w.made = append(w.made, t, d, truth)
	return place{w, t, d}
}

// register registers the user for the task, and has the registration accepted.
func (p place) register(user string) *record.RegistrationItem {
	return p.registerIn(user, record.Accepted)
}

// registerIn registers the user for the task, with the registration in the state.
func (p place) registerIn(user string, state record.RegistrationState) *record.RegistrationItem {
	r := &record.RegistrationItem{OrganizerID: p.task.OrganizerID}
	r.Meta, r.TaskID, r.UserID, r.Team, r.State = p.w.meta(), p.task.ID, servertest.UserID(user), "Team of "+user, state
	r.Alias = record.NewAlias(r.ID)
	p.w.made = append(p.w.made, r, &record.Registered{
		Meta: r.Meta, UserID: r.UserID, TaskID: r.TaskID, OrganizerID: r.OrganizerID, PrivateTask: p.dataset.PrivateTask,
		Team: r.Team, Alias: r.Alias, State: r.State,
	})
	return r
}

// entry is a submission with all that hangs on it.
type entry struct {
	submission *record.SubmissionItem
	run        *record.RunItem
	review     *record.ReviewItem
	evaluation *record.EvaluationItem
}

// enter makes a submission of the user with a run that was evaluated.
func (p place) enter(user string, v record.Visibility, published, blinded bool, accuracy float64) entry {
	m, userID, team := p.w.meta(), servertest.UserID(user), "Team of "+user
	attributes := record.AccessAttributes{
		OrganizerID: p.task.OrganizerID, PrivateTask: p.dataset.PrivateTask, Public: v == record.Public, Published: published, Blinded: blinded,
	}
	s := &record.SubmissionItem{Access: attributes}
	s.Meta, s.TaskID, s.UserID, s.Team, s.Type, s.Visibility = m, p.task.ID, userID, team, record.UploadType, v
	r := &record.RunItem{Access: attributes, Type: record.UploadType, Queue: record.QueueBuiltin}
	r.Meta, r.SubmissionID, r.TaskID, r.DatasetID, r.UserID, r.Team, r.State = p.w.meta(), s.ID, p.task.ID, p.dataset.ID, userID, team, record.Completed
	s.DatasetIDs, s.RunIDs = []string{p.dataset.ID}, []string{r.ID}
	review := &record.ReviewItem{OrganizerID: p.task.OrganizerID, TaskID: p.task.ID, UserID: userID}
	review.Meta, review.RunID, review.Published, review.Blinded = m, r.ID, published, blinded
	e := &record.EvaluationItem{Access: attributes, Columns: p.dataset.Evaluator.Measures}
	e.Meta, e.RunID, e.SubmissionID, e.TaskID, e.DatasetID, e.UserID, e.Team = p.w.meta(), r.ID, s.ID, p.task.ID, p.dataset.ID, userID, team
	e.TruthVersion, e.PrimaryMeasure = 1, "Accuracy"
	e.Measures = map[string]*float64{"Accuracy": &accuracy, "MCC": nil}
	r.EvaluationID, r.Evaluations = e.ID, []string{e.ID}
	p.w.made = append(p.w.made, s, r, review, e)
	return entry{s, r, review, e}
}
