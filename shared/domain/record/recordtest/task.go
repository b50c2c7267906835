package recordtest

import "assay/shared/domain/record"

// Task is a task in the store.
type Task struct {
	*record.TaskItem
	b             *Builder
	registrations map[string]*record.RegistrationItem // by user ID
}

// Private makes a task private.
func Private(t *record.TaskItem) { t.Visibility = record.Private }

// OwnedBy makes the task belong to the organizer.
func OwnedBy(o *record.Organizer) func(*record.TaskItem) {
	return func(t *record.TaskItem) { t.OrganizerID = o.ID }
}

// Task creates a task that is public and open to all. All tasks of a builder have the same organizer, whose member is OrganizerUser.
func (b *Builder) Task(options ...func(*record.TaskItem)) *Task {
	b.t.Helper()
	t := &record.TaskItem{}
	t.Meta, t.Name = b.meta(), "Task"
	for _, option := range options {
		option(t)
	}
	t.Normalize()
	if t.OrganizerID == "" {
		if b.organizer == nil {
			b.organizer = b.Organizer(OrganizerUser)
		}
		t.OrganizerID = b.organizer.ID
	}
	b.Put(t)
	return &Task{t, b, map[string]*record.RegistrationItem{}}
}

// Path returns the path of the task in the API.
func (t *Task) Path() string { return "/v1/tasks/" + t.ID }

func (t *Task) private() bool { return t.Visibility == record.Private }

// With adds members to a team.
func With(users ...string) func(*record.RegistrationItem) {
	return func(r *record.RegistrationItem) {
		for _, name := range users {
			r.Members = append(r.Members, UserID(name))
		}
	}
}

// Register registers the user for the task. The team is named after the user, and accepted unless an option says otherwise.
func (t *Task) Register(user string, options ...func(*record.RegistrationItem)) *record.RegistrationItem {
	t.b.t.Helper()
	r := &record.RegistrationItem{OrganizerID: t.OrganizerID}
	r.Meta = t.b.meta()
	r.TaskID = t.ID
	r.UserID = UserID(user)
	r.Team = Team(user)
	r.State = record.Accepted
	r.Alias, r.Members = record.NewAlias(r.ID), []string{r.UserID}
	for _, option := range options {
		option(r)
	}
	all := []record.Record{r}
	for _, id := range r.Members {
		all = append(all, r.Grant(id, t.private(), t.b.Now()))
	}
	for _, name := range r.ReservedNames() {
		all = append(all, &record.Reservation{Meta: t.b.meta(), At: name})
	}
	t.b.Put(all...)
	for _, id := range r.Members {
		t.registrations[id] = r
	}
	return r
}

// Team returns the name of the user's team.
func Team(user string) string { return "team of " + user }

// Dataset is a dataset in the store, with the ground truth for its runs.
type Dataset struct {
	*record.DatasetItem
	Truth *record.TruthVersion // nil while the dataset has none
	Task  *Task
}

// WithoutTruth creates the dataset without a ground truth.
func WithoutTruth(d *record.DatasetItem) { d.TruthVersion = 0 }

// OnTestSplit puts the dataset on the test split, whose runs begin blinded.
func OnTestSplit(d *record.DatasetItem) { d.Split = record.Test }

// Measures makes the dataset evaluate retrieval runs with the measures. The first measure ranks.
func Measures(names ...string) func(*record.DatasetItem) {
	return func(d *record.DatasetItem) {
		d.RunFormat = record.RunFormat{Kind: "trec-run"}
		d.Evaluator = record.Evaluator{Kind: "retrieval", Measures: names}
	}
}

// AfterClose shows all columns of the dataset after the last close. It follows options that set measures.
func AfterClose(d *record.DatasetItem) {
	d.Columns = ColumnsFrom(record.FromClose, d.Evaluator.Measures...)
}

// ColumnsFrom returns columns that are shown from an instant on.
func ColumnsFrom(from record.From, keys ...string) (columns []record.Column) {
	for _, key := range keys {
		columns = append(columns, record.Column{Key: key, From: from})
	}
	return columns
}

// Labels makes the dataset evaluate labels of items in CSV with the measures. The first measure ranks.
func Labels(names ...string) func(*record.DatasetItem) {
	return func(d *record.DatasetItem) {
		d.RunFormat = record.RunFormat{Kind: "csv", IDField: "id", ValueField: "label"}
		d.Evaluator = record.Evaluator{Kind: "classification", Measures: names}
	}
}

// Dataset creates a dataset of the task on the validation split, for retrieval runs, with the measures AP and RR. Its ground truth has
// the files that an option sets.
func (t *Task) Dataset(options ...func(*record.DatasetItem)) *Dataset {
	t.b.t.Helper()
	d := &record.DatasetItem{OrganizerID: t.OrganizerID, PrivateTask: t.private()}
	d.Meta = t.b.meta()
	d.TaskID = t.ID
	d.Name = "Dataset"
	d.Split = record.Validation
	d.TruthVersion = 1
	Measures("AP", "RR")(d)
	for _, option := range options {
		option(d)
	}
	if len(d.Inputs)+len(d.Truths) > 0 {
		d.Payer = UserID(OrganizerUser)
	}
	all := []record.Record{d}
	set := &Dataset{DatasetItem: d, Task: t}
	if d.TruthVersion > 0 {
		set.Truth = &record.TruthVersion{Meta: d.Meta, TaskID: t.ID, Number: d.TruthVersion, Files: d.Truths, RunFormat: d.RunFormat,
			Evaluator: d.Evaluator, Pool: d.Pool}
		all = append(all, set.Truth, record.NewTruthSecret(d.ID, t.b.Now()))
	}
	t.b.Put(all...)
	return set
}

// Truths gives the dataset a ground truth file with the content.
func (b *Builder) Truths(name, content string) func(*record.DatasetItem) {
	return func(d *record.DatasetItem) {
		b.t.Helper()
		d.Truths = append(d.Truths, b.File(record.HolderTruths, d.ID, name, content))
	}
}

// Inputs gives the dataset an input file with the content.
func (b *Builder) Inputs(name, content string) func(*record.DatasetItem) {
	return func(d *record.DatasetItem) {
		b.t.Helper()
		d.Inputs = append(d.Inputs, b.File(record.HolderInputs, d.ID, name, content))
	}
}

// Path returns the path of the dataset in the API.
func (d *Dataset) Path() string { return "/v1/datasets/" + d.ID }

// Board returns the path of the leaderboards of the dataset's task.
func (d *Dataset) Board() string { return d.Task.Path() + "/evaluations" }
