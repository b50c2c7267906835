package record

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// MaxMeasures is the greatest number of measures of a dataset.
const MaxMeasures = 50

// RunFormat says how the files of a run are read. For jsonl and csv it applies to the files of the ground truth (qrels, labels) too.
type RunFormat struct {
	Kind       string `json:"kind" enum:"$formats" doc:"trec-run: six columns, one retrieved document a line; lines that begin with # are comments, so no id of a topic does; jsonl: one JSON object a line; csv: RFC 4180 with a header line, separated by commas, tabs or semicolons; conll: a line for each token, with the token in the first and its tag in the last column, and empty lines between sentences; a line that begins with # before the first token of a sentence is a comment unless its last column is a tag"`
	IDField    string `json:"idField,omitempty" maxLength:"100" doc:"for jsonl and csv: the member or column that identifies an item"`
	ValueField string `json:"valueField,omitempty" maxLength:"100" doc:"for jsonl and csv: the member or column with the label or value"`
	Separator  string `json:"separator,omitempty" maxLength:"8" doc:"for csv of multilabel: what separates the labels of an item in their column; a vertical bar (|) unless given"`
}

// Evaluator says how runs are measured.
type Evaluator struct {
	Kind     string   `json:"kind" enum:"$evaluators,worker" doc:"worker: the organizer's own image, run by a worker"`
	Measures []string `json:"measures" minItems:"1" maxItems:"50" maxLength:"100" doc:"names in the grammar of ir-measures, or of trec_eval; results have the former. /info defines each measure, with its parameters, conventions, and the limits of files" example:"[\"nDCG@10\",\"AP\"]"`
	Image    string   `json:"image,omitempty" maxLength:"500" doc:"for worker: the container image"`
	Command  string   `json:"command,omitempty" maxLength:"4000" doc:"for worker: the command to run in it"`
}

func (e Evaluator) hasLabels() bool {
	builtIn := measure.EvaluatorOf(measure.Kind(e.Kind))
	return builtIn != nil && builtIn.HasLabels
}

// EvaluatorWorker is the kind of evaluators that workers run.
const EvaluatorWorker = "worker"

// Split is the purpose of a dataset.
type Split string

// The splits of a dataset.
const (
	Training   Split = "training"
	Validation Split = "validation"
	Test       Split = "test"
)

// DatasetDraft holds the members of a dataset that clients write.
type DatasetDraft struct {
	TaskID      string `json:"taskId" maxLength:"26" doc:"the task it belongs to; it never changes"`
	Name        string `json:"name" minLength:"1" maxLength:"200"`
	Description string `json:"description" required:"false" maxLength:"65536" doc:"Markdown"`
	Split       Split  `json:"split" enum:"training,validation,test" doc:"the reviews of runs on a test split start blinded"`
	Inputs      []File `json:"inputs" required:"false" maxItems:"20" doc:"the files that participants get"`
	Truths      []File `json:"truths,omitempty" maxItems:"20" doc:"the ground truth (qrels, labels); only organizers and workers see it, unless truthsPublic is set"`
	// TruthsPublic is allowed only for the split training, whose labels participants learn from.
	TruthsPublic bool      `json:"truthsPublic,omitempty" doc:"for the split training: callers who get the inputs get the truth files too. It is taken back only in a change that replaces all of them"`
	RunFormat    RunFormat `json:"runFormat"`
	Evaluator    Evaluator `json:"evaluator"`
	Columns      []Column  `json:"columns" required:"false" maxItems:"50" doc:"how leaderboards show the measures, in this order. The first column ranks unless a request sorts by another. If there are any, only organizers see measures without a column. Without columns, everyone sees all measures in the order of the evaluator, as the reviews of runs say"`
	IDsPublic    bool      `json:"idsPublic,omitempty" doc:"declares that participants may know which topics or items the truth has, or which tokens in conll. While the team of a run does not see its values, it is then shown which of them are missing or unknown; without it, only by what the inputs have, of tokens where there is one file of them. It counts for runs that are evaluated afterwards; for the built-in evaluators"`
	LabelsPublic bool      `json:"labelsPublic,omitempty" doc:"declares that participants may know the set of labels that the truth has. While the team of a run does not see its values, it is then shown which of its labels are none of them. It counts for runs that are evaluated afterwards; for evaluators of labels, such as classification, and of spans, whose types they are"`
	Pool         string    `json:"pool,omitempty" maxLength:"77" pattern:"^([0-7][0-9A-HJKMNP-TV-Z]{25}/)?[a-z0-9-]+$" doc:"the pool of workers that executes and, for an evaluator of the kind worker, evaluates its runs: default (unless given), or a pool of the organizer: the organizer's id, a slash, and a name of lower-case letters, digits and hyphens" example:"01JZ3V7Q0D8T5RZ0S6R1W9C4XK/gpu"`
	// An empty InputsFor means anyone, and an empty Publish onReview.
	InputsFor   InputsFor          `json:"inputsFor,omitempty" enum:"anyone,registrants" doc:"who gets the input files: anyone who sees the dataset, unless given; registrants: those whose registration for the task was accepted and whose team has accepted its present terms, and the organizers. Others find no inputs, and tools read none for them"`
	Publish     Publish            `json:"publish,omitempty" enum:"onReview,onCompletion" doc:"when the review of a run is published: onReview (the default): once organizers publish it; onCompletion: as the run completes for the first time, unless organizers have written the review or rejected the team, and from then on only organizers can delete the run. It unblinds nothing: runs on a test split stay blinded until organizers unblind them"`
	Submissions DatasetSubmissions `json:"submissions" required:"false" doc:"when and how often runs on the dataset can be submitted; the rules of the task stand where it sets none"`
	FinalRuns   int                `json:"finalRuns" required:"false" minimum:"0" maximum:"20" doc:"how many of its runs a team can mark as final until its window closes; 0: none"`
	Builds      bool               `json:"builds,omitempty" doc:"whether submissions of the type repository are taken: their Dockerfiles are built by workers that were started with -builds"`
}

// Dataset is the data of a task: inputs, hidden ground truth, and how runs on it are read and measured.
type Dataset struct {
	Meta
	DatasetDraft
	TruthVersion int64                `json:"truthVersion" doc:"version of the ground truth and evaluator: grows with each change of either; 0 until the first ground truth is stored"`
	BoardVersion int64                `json:"boardVersion" doc:"the truthVersion whose results leaderboards and lists show: the last one until every run has been evaluated against a new one, or until an organizer sets it to truthVersion"`
	Reevaluation *Reevaluation        `json:"reevaluation,omitempty" doc:"how far the evaluation against a new truthVersion has come, while boardVersion is an earlier one or runs wait"`
	TruthReport  *TruthReport         `json:"truthReport,omitempty" doc:"what the ground truth has, and which measures it cannot bring to their best value; only for organizers"`
	Advice       *Advice              `json:"advice,omitempty" doc:"that teams may submit enough runs to find out the ground truth by their scores; only when a single dataset is asked for, and only for its organizers"`
	Diagnostics  []measure.Diagnostic `json:"diagnostics,omitempty" doc:"what is wrong with the truth files as uploaded; only organizers and workers see it. In a single dataset, organizers also find a warning when runs wait for workers and none has been seen for a minute, and a team that has not accepted the present terms finds why it gets no inputs"`

	UnservedTypes []SubmissionType `json:"unservedTypes,omitempty" enum:"upload,image,repository" doc:"only when a single dataset is asked for, and only for its organizers: the types of submissions whose runs would wait now, because no worker that they need has been seen for a minute in the pool of the dataset; absent: no type"`
	Withheld      bool             `json:"withheld,omitempty" doc:"only when a single dataset is asked for, and only for its organizers: whether nobody else is shown values of runs now, because no column is shown to others yet"`
}

// Reevaluation is the progress of evaluating a dataset's runs against a new ground truth.
type Reevaluation struct {
	StartedAt Instant `json:"startedAt"`
	*Progress         // nil until the runs have been counted
}

// Progress counts the runs that had been evaluated before. Organizers see the count of all runs, other callers that of published runs.
type Progress struct {
	Runs    int `json:"runs" required:"false" doc:"runs to evaluate again: the published ones; for organizers all; absent, as is waiting, until they have been counted, and where there are none"`
	Waiting int `json:"waiting" required:"false" doc:"of those, how many had not ended when they were last counted, which takes some seconds"`
}

// BoardTruth is the version of the ground truth, and the evaluator, that produced the results on leaderboards.
type BoardTruth struct {
	TruthVersion int64     `json:"truthVersion"`
	Evaluator    Evaluator `json:"evaluator"`
	Columns      []Column  `json:"columns,omitempty"` // of measures that the dataset's evaluator may lack
}

// DatasetItem is a stored dataset.
type DatasetItem struct {
	Dataset
	OrganizerID string `json:"organizerId"`
	PrivateTask bool   `json:"privateTask,omitempty"`
	// BoardTruth is set while leaderboards show results of another evaluator or ground truth than the dataset's own. The evaluator
	// differs until a change is accepted. The version differs until no run waits for the newer version.
	BoardTruth *BoardTruth `json:"boardTruth,omitempty"`
	// TruthShape is the shape of the ground truth in use. It is zero before the first.
	TruthShape measure.Shape `json:"truthShape,omitzero"`
	// PublishedProgress is the part of Reevaluation's progress that every caller sees.
	PublishedProgress Progress     `json:"publishedProgress,omitzero"`
	PendingWork       *PendingWork `json:"pendingWork,omitempty"`
	// Executed reports whether the dataset has submissions that workers execute.
	Executed bool `json:"executed,omitempty"`
	// Payer is the user whose quota counts the files: the last user who added one.
	Payer string `json:"payer,omitempty"`
	// DeletedBy is the user who asked for the pending deletion.
	DeletedBy string `json:"deletedBy,omitempty"`
	// Conditions are nil unless they were read. They are not stored.
	Conditions *DatasetConditions `json:"-"`
}

// DatasetConditions are the other records that decide what organizers see of a dataset. Each is nil if it does not exist. A change of the
// dataset changes nothing in them that concerns the dataset, so they are read once for the views before and after the change.
type DatasetConditions struct {
	Task    *TaskItem
	Embargo *Embargo
	Serving *Serving
}

// Part returns the part of a text that names the dataset.
func (d *DatasetItem) Part() problem.Part { return problem.Resource("dataset", d.ID).Named(d.Name) }

// Deleting reports whether the dataset is being deleted. Nothing can be submitted to it then.
func (d *DatasetItem) Deleting() bool { return d.PendingWork.Is(DeleteDataset) }

// Reevaluate schedules a re-evaluation at now. If other work is pending, it schedules nothing, because a re-evaluation follows that
// work.
func (d *DatasetItem) Reevaluate(now time.Time) {
	if d.PendingWork == nil || d.PendingWork.Is(Reevaluate) {
		d.PendingWork = NewPendingWork(Reevaluate, now)
	}
}

// Resume replaces a deletion or acceptance that was refused or is no longer needed. The next work is the first that applies:
//
//	acceptance       the ground truth files are complete, were not refused, and differ from inUse, the ground truth in use (nil: none)
//	re-evaluation    the dataset has a ground truth; the re-evaluation ends at once if no run needs it
//	none             otherwise
func (d *DatasetItem) Resume(inUse *TruthVersion, now time.Time) {
	switch {
	case AllStored(d.Truths) && d.AwaitsTruth() && !d.Uses(inUse):
		d.PendingWork = NewPendingWork(AcceptTruth, now)
	case d.TruthVersion > 0:
		d.PendingWork = NewPendingWork(Reevaluate, now)
	default:
		d.PendingWork = nil
	}
}

// Uses reports whether runs are evaluated with the files, evaluator and run format that the dataset names. inUse is the ground truth in
// use, or nil.
func (d *DatasetItem) Uses(inUse *TruthVersion) bool {
	return inUse != nil && reflect.DeepEqual(inUse.evaluatedWith(), d.Audited().EvaluatedWith)
}

// AwaitsTruth reports whether ground truth files were announced and not refused. They may still have to arrive or be read.
func (d *DatasetItem) AwaitsTruth() bool {
	return len(d.Truths) > 0 && !measure.HasErrors(d.Diagnostics)
}

// Board returns the version and evaluator whose results leaderboards show.
func (d *DatasetItem) Board() BoardTruth {
	if d.BoardTruth == nil {
		return BoardTruth{TruthVersion: d.TruthVersion, Evaluator: d.Evaluator}
	}
	return *d.BoardTruth
}

// Show makes leaderboards show the results of t.
func (d *DatasetItem) Show(t *TruthVersion) {
	columns := t.Evaluator.complete(d.columnsOf(&t.Evaluator))
	t.Held, d.BoardTruth = false, nil
	if t.Number != d.TruthVersion || !reflect.DeepEqual(t.Evaluator, d.Evaluator) {
		d.BoardTruth = &BoardTruth{t.Number, t.Evaluator, columns}
	}
}

// Key implements Record.
func (d *DatasetItem) Key() store.Key { return DatasetKey(d.ID) }

// DatasetKey returns the key of the dataset.
func DatasetKey(id string) store.Key { return keyOf(KindDataset, id, "DATASET") }

// Indexes implements Record.
func (d *DatasetItem) Indexes() [store.NumIndexes]store.Key {
	return indexes{}.listed(KindDataset, d.ID, d.Scope(), false).pendingOfPayer(DueDatasets, cmp.Or(d.Payer, d.OrganizerID),
		d.PendingWork, d.ID)
}

// Scope returns the scope of the dataset, which follows its task.
func (d *DatasetItem) Scope() access.Scope {
	return access.Scope{OrganizerID: d.OrganizerID, TaskID: d.TaskID, Audience: AccessAttributes{PrivateTask: d.PrivateTask}.taskAudience(),
		KnownTo: access.Applicant}
}

// ObjectKeys returns the keys of the objects of the dataset's files.
func (d *DatasetItem) ObjectKeys() []string {
	return append(objectKeys(HolderInputs, d.ID, d.Inputs), objectKeys(HolderTruths, d.ID, d.Truths)...)
}

// Files returns the files of inputs and ground truth.
func (d *DatasetItem) Files() []File { return slices.Concat(d.Inputs, d.Truths) }

// Check reports the draft's errors, except those of measures, which only the built-in evaluators know.
func (d *DatasetDraft) Check() []problem.Field {
	fields := append(checkName("/name", d.Name), checkText("/description", d.Description)...)
	fields = append(fields, checkWindow("/submissions", d.Submissions.OpensAt, d.Submissions.ClosesAt)...)
	fields.AddIf(d.IDsPublic && d.Evaluator.Kind == EvaluatorWorker, "/idsPublic",
		"goes only with the built-in evaluators, which compare ids: "+problem.Unset)
	fields.AddIf(d.LabelsPublic && !d.Evaluator.hasLabels(), "/labelsPublic",
		"goes only with evaluators that compare labels, such as classification: "+problem.Unset)
	fields.AddIf(d.TruthsPublic && d.Split != Training, "/truthsPublic",
		"goes only with the split training: set it to false, or {split} to training")
	return append(fields, d.Evaluator.check()...)
}

// CheckPublic reports the errors of changing a dataset whose ground truth files are or were public. Files that everyone could download
// must not become hidden, whether by truthsPublic or by another split.
func (d *DatasetDraft) CheckPublic(old *DatasetItem) (fields problem.Fields) {
	fields.AddIf(old.TruthsPublic && !d.TruthsPublic && slices.ContainsFunc(d.Truths, old.hasTruth), "/truthsPublic",
		"cannot be taken back for files that everyone could download: leave it true, or replace all files of truths in the same change")
	return fields
}

func (d *DatasetItem) hasTruth(f File) bool {
	return slices.ContainsFunc(d.Truths, func(own File) bool { return own.SHA256 == f.SHA256 })
}

// maxMeasureName is the greatest length of a measure's name, in bytes.
const maxMeasureName = 100

func (e *Evaluator) check() (fields problem.Fields) {
	for i, m := range e.Measures {
		p := fmt.Sprintf("/evaluator/measures/%d", i)
		fields.AddIf(len(m) > maxMeasureName, p, "has %s; at most %s are allowed", problem.Size(len(m)), problem.Size(maxMeasureName))
		fields = append(fields, checkName(p, m)...)
	}
	if e.Kind == EvaluatorWorker {
		return append(fields, e.checkOwn()...)
	}
	for _, m := range []struct{ pointer, given string }{
		{"/evaluator/image", e.Image}, {"/evaluator/command", e.Command},
	} {
		fields.AddIf(m.given != "", m.pointer, "goes only with the kind worker: "+problem.Unset)
	}
	return fields
}

// checkOwn checks an organizer's own evaluator. Organizers choose the names of its measures freely.
func (e *Evaluator) checkOwn() (fields problem.Fields) {
	fields = append(fields, checkDistinct("/evaluator/measures", e.Measures)...)
	fields.AddIf(e.Image == "", "/evaluator/image", "is needed for an evaluator of the kind worker")
	return slices.Concat(fields, CheckLine("/evaluator/image", e.Image), checkText("/evaluator/command", e.Command))
}

// Measure returns the name under which results have the evaluator's measure that name denotes. It returns "" if the evaluator has no
// such measure.
func (e *Evaluator) Measure(name string) string {
	if slices.Contains(e.Measures, name) {
		return name
	}
	if m, err := measure.Parse(measure.Kind(e.Kind), name); err == nil && slices.Contains(e.Measures, m.String()) {
		return m.String()
	}
	return ""
}

// TruthVersion is the ground truth (qrels, labels) of a dataset, with the settings that runs are evaluated with. It changes only as a
// whole, and each change makes a new version.
type TruthVersion struct {
	Meta      // ID is the dataset's
	TaskID    string
	Number    int64 // the API's truthVersion
	Files     []File
	RunFormat RunFormat
	Evaluator Evaluator
	Pool      string `json:",omitempty"` // of the workers; changing it makes no new version
	// Held reports whether leaderboards show an earlier version until no run waits for this one. Until then, evaluations against this
	// version are in no list.
	Held bool `json:",omitempty"`
}

// TruthVersionName returns how pages and messages name a version by its number. A change of the evaluator makes a version, too.
func TruthVersionName(number int64) string {
	return fmt.Sprintf("version %d of the ground truth and evaluator", number)
}

// ObjectKeys returns the keys of the objects of the files.
func (t *TruthVersion) ObjectKeys() []string { return objectKeys(HolderTruths, t.ID, t.Files) }

// Key implements Record.
func (t *TruthVersion) Key() store.Key { return TruthKey(t.ID) }

// TruthKey returns the key of a dataset's Truth.
func TruthKey(datasetID string) store.Key { return keyOf(KindDataset, datasetID, "TRUTH") }

// maxComparedInputs limits the total size of the inputs whose IDs are read for classification and regression, in stored bytes.
const maxComparedInputs = 64 << 20

// ComparedInputs returns the inputs whose IDs are compared with the IDs of runs of the kind. It returns none until all inputs have
// arrived.
func (d *DatasetItem) ComparedInputs(kind measure.Kind) []File {
	if !AllStored(d.Inputs) || !kind.Ranks() && SizeOf(d.Inputs) > maxComparedInputs {
		return nil
	}
	return d.Inputs
}

// TruthSecret is the key of the digests of a dataset's ground truths. With a plain digest, anybody could test a guess of a small ground
// truth. Keyed digests are equal for equal ground truths of the dataset, and reveal nothing else without the secret. The secret is made
// with the first ground truth, stays the same for all versions, and is deleted with the dataset. It is in no answer, link, log or audit
// entry.
//
// Once a ground truth is released, the secret can be published with it. Then anybody can verify an evaluation: its digests.truth must
// equal the HMAC-SHA-256, under the secret, of the SHA-256 over the digests of the ground truth's files, as Digest computes it.
// Publishing the secret removes the protection of the dataset's other ground truths, so the secret must stay private until all of them
// are released.
type TruthSecret struct {
	Meta   // ID is the dataset's
	Secret []byte
}

// NewTruthSecret returns a new secret for the dataset.
func NewTruthSecret(datasetID string, now time.Time) *TruthSecret {
	s := &TruthSecret{Meta: MetaOf(datasetID, now), Secret: make([]byte, sha256.Size)}
	_, _ = rand.Read(s.Secret) // Read never returns an error
	return s
}

// Digest returns the keyed digest for a plain digest of a ground truth. Both are hexadecimal.
func (s *TruthSecret) Digest(plain string) string {
	mac := hmac.New(sha256.New, s.Secret)
	_, _ = mac.Write([]byte(plain)) // Write never returns an error
	return hex.EncodeToString(mac.Sum(nil))
}

// Key implements Record.
func (s *TruthSecret) Key() store.Key { return TruthSecretKey(s.ID) }

// TruthSecretKey returns the key of a dataset's TruthSecret.
func TruthSecretKey(datasetID string) store.Key { return keyOf(KindDataset, datasetID, "SECRET") }
