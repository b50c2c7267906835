package record

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"assay/shared/access"
	"assay/shared/measure"
	"assay/shared/problem"
	"assay/shared/store"
)

// MaxMeasures is how many measures a dataset has at most.
const MaxMeasures = 50

// RunFormat says how the files of a run, and for jsonl and csv those of the truth, are read.
type RunFormat struct {
	Kind       string `json:"kind" enum:"$formats" doc:"trec-run: six columns, one retrieved document a line; lines that begin with # are comments, so no id of a topic does; jsonl: one JSON object a line; csv: RFC 4180 with a header line, separated by commas or tabs; conll: a line for each token, with the token in the first and its tag in the last column, and empty lines between sentences"`
	IDField    string `json:"idField,omitempty" maxLength:"100" doc:"for jsonl and csv: the member or column that identifies an item"`
	ValueField string `json:"valueField,omitempty" maxLength:"100" doc:"for jsonl and csv: the member or column with the label or value"`
	Separator  string `json:"separator,omitempty" maxLength:"8" doc:"for csv of multilabel: what separates the labels of an item in their column; a vertical bar (|) unless given"`
}

// Evaluator says how runs are measured.
type Evaluator struct {
	Kind           string   `json:"kind" enum:"$evaluators,worker" doc:"worker: the organizer's own image, run by a worker"`
	Measures       []string `json:"measures" minItems:"1" maxItems:"50" maxLength:"100" doc:"names in the grammar of ir-measures, or of trec_eval; results have the former" example:"[\"nDCG@10\",\"AP\"]"`
	PrimaryMeasure string   `json:"primaryMeasure" required:"false" maxLength:"100" doc:"the one that ranks; the first of measures unless given" example:"nDCG@10"`
	Image          string   `json:"image,omitempty" maxLength:"500" doc:"for worker: the container image"`
	Command        string   `json:"command,omitempty" maxLength:"4000" doc:"for worker: the command to run in it"`
	LowerIsBetter  []string `json:"lowerIsBetter,omitempty" maxItems:"50" maxLength:"100" doc:"for worker: those of measures of which less is better"`
}

func (e Evaluator) hasLabels() bool {
	builtIn := measure.EvaluatorOf(measure.Kind(e.Kind))
	return builtIn != nil && builtIn.HasLabels
}

// EvaluatorWorker is the kind of an evaluator that a worker runs.
const EvaluatorWorker = "worker"

// Split says what a dataset is for.
type Split string

// The splits of a dataset.
const (
	Training   Split = "training"
	Validation Split = "validation"
	Test       Split = "test"
)

// DatasetDraft is what a client writes of a dataset.
type DatasetDraft struct {
	TaskID      string `json:"taskId" maxLength:"26" doc:"the task it belongs to; it never changes"`
	Name        string `json:"name" minLength:"1" maxLength:"200"`
	Description string `json:"description" required:"false" maxLength:"65536" doc:"Markdown"`
	Split       Split  `json:"split" enum:"training,validation,test" doc:"the reviews of runs on a test split start blinded"`
	Inputs      []File `json:"inputs" required:"false" maxItems:"20" doc:"what participants get"`
	Truths      []File `json:"truths,omitempty" maxItems:"20" doc:"what they never get; seen by organizers and workers alone, unless truthsPublic"`
	// TruthsPublic is taken for the split training alone, whose labels are there to be learned from.
	TruthsPublic bool      `json:"truthsPublic,omitempty" doc:"for the split training: callers who get the inputs get the truth files too. It is taken back only in a change that replaces all of them"`
	RunFormat    RunFormat `json:"runFormat"`
	Evaluator    Evaluator `json:"evaluator"`
	IDsPublic    bool      `json:"idsPublic,omitempty" doc:"declares that participants may know which topics or items the truth has, or which tokens in conll. While a run is blinded, its owner is then shown which of them are missing or unknown; without it, only by what the inputs have, of tokens where there is one file of them. It counts for runs that are evaluated afterwards; for the built-in evaluators"`
	LabelsPublic bool      `json:"labelsPublic,omitempty" doc:"declares that participants may know the set of labels that the truth has. While a run is blinded, its owner is then shown which of its labels are none of them. It counts for runs that are evaluated afterwards; for evaluators of labels, such as classification, and of spans, whose types they are"`
	Pool         string    `json:"pool,omitempty" maxLength:"77" pattern:"^([0-7][0-9A-HJKMNP-TV-Z]{25}/)?[a-z0-9-]+$" doc:"the pool of workers that executes and, for an evaluator of the kind worker, evaluates its runs: default, which it is unless given, or one of the organizer's own, the organizer's id, a slash and a name of lower-case letters, digits and hyphens" example:"01JZ3V7Q0D8T5RZ0S6R1W9C4XK/gpu"`
	// InputsFor is empty for anyone, as Publish is for onReview and Scores for live.
	InputsFor   InputsFor          `json:"inputsFor,omitempty" enum:"anyone,registrants" doc:"who gets the input files: anyone who sees the dataset, unless given; registrants: those whose registration for the task was accepted and whose team has accepted its present terms, and the organizers. Others find no inputs, and tools read none for them"`
	Publish     Publish            `json:"publish,omitempty" enum:"onReview,onCompletion" doc:"when the review of a run is published: onReview, which it is unless given: once organizers publish it; onCompletion: as the run completes for the first time, unless organizers have written the review, and from then on only organizers can delete the run. It unblinds nothing: runs on a test split stay blinded until organizers unblind them"`
	Submissions DatasetSubmissions `json:"submissions" required:"false" doc:"when and how often runs on the dataset can be submitted; the rules of the task stand where it sets none"`
	Scores      Scores             `json:"scores,omitempty" enum:"live,afterClose" doc:"live, which it is unless given: as reviews say; afterClose: until the last team's window has closed, exceptions included, nobody but the organizers is shown values of runs, and teams only whether their runs are valid"`
	FinalRuns   int                `json:"finalRuns" required:"false" minimum:"0" maximum:"20" doc:"how many of its runs a team can mark as final until its window closes; 0: none"`
	Builds      bool               `json:"builds,omitempty" doc:"whether submissions of the type repository are taken: their Dockerfiles are built by workers that were started with -builds"`
}

// Dataset is the data of a task: inputs, hidden truth, and how runs on it are read and measured.
type Dataset struct {
	Meta
	DatasetDraft
	TruthVersion int64                `json:"truthVersion" doc:"grows with each change of truth or evaluator; 0 until the first truth is stored"`
	BoardVersion int64                `json:"boardVersion" doc:"the truthVersion whose results leaderboards and lists show: the last one until every run has been evaluated against a new one, or until an organizer sets it to truthVersion"`
	Reevaluation *Reevaluation        `json:"reevaluation,omitempty" doc:"how far the evaluation against a new truthVersion has come, while boardVersion is an earlier one or runs wait"`
	Advice       *Advice              `json:"advice,omitempty" doc:"that teams may submit enough runs to find out the ground truth by their scores; only when a single dataset is asked for, and only for its organizers"`
	Diagnostics  []measure.Diagnostic `json:"diagnostics,omitempty" doc:"what is wrong with the truth files as uploaded; seen by organizers and workers alone. Organizers also find in a single dataset that its runs wait for workers of which none has been seen for a minute, and a team that has not accepted the present terms why it gets no inputs"`
}

// Reevaluation is how far the evaluation of a dataset's runs against a new truth has come.
type Reevaluation struct {
	StartedAt Instant `json:"startedAt"`
	*Progress         // nil until the runs have been counted
}

// Progress counts the runs that had been evaluated before. Organizers see all of them counted, others the published ones.
type Progress struct {
	Runs    int `json:"runs" required:"false" doc:"runs to evaluate again: the published ones; for organizers all; absent, as is waiting, until they have been counted, and where there are none"`
	Waiting int `json:"waiting" required:"false" doc:"of those, how many had not ended when they were last counted, which takes some seconds"`
}

// BoardTruth is what the results on leaderboards were evaluated with.
type BoardTruth struct {
	TruthVersion int64     `json:"truthVersion"`
	Evaluator    Evaluator `json:"evaluator"`
}

// DatasetItem is a dataset as the store holds it.
type DatasetItem struct {
	Dataset
	OrganizerID string `json:"organizerId"`
	PrivateTask bool   `json:"privateTask,omitempty"`
	// BoardTruth is what leaderboards show: the dataset's own evaluator differs from it as long as a change has not been
	// accepted, and its truth version as long as runs wait for the newer one. It is nil where both are the dataset's own.
	BoardTruth *BoardTruth `json:"boardTruth,omitempty"`
	// TruthShape is the shape of the truth in use; the zero Shape before the first.
	TruthShape measure.Shape `json:"truthShape,omitzero"`
	// PublishedProgress is the part of Reevaluation's that is shown to all.
	PublishedProgress Progress     `json:"publishedProgress,omitzero"`
	PendingWork       *PendingWork `json:"pendingWork,omitempty"`
	// Executed is whether submissions were made to the dataset that workers execute.
	Executed bool `json:"executed,omitempty"`
	// Payer is the user whose quota counts the files: the last who added one.
	Payer string `json:"payer,omitempty"`
	// DeletedBy is the user who asked for the deletion that is pending.
	DeletedBy string `json:"deletedBy,omitempty"`
}

// Deleting reports whether the dataset is being deleted, so that nothing can be submitted to it.
func (d *DatasetItem) Deleting() bool { return d.PendingWork.Is(DeleteDataset) }

// Reevaluate makes a re-evaluation pending from now on. One that follows pending work in any case needs no entry of its own.
func (d *DatasetItem) Reevaluate(now time.Time) {
	if d.PendingWork == nil || d.PendingWork.Is(Reevaluate) {
		d.PendingWork = NewPendingWork(Reevaluate, now)
	}
}

// Resume replaces a deletion or acceptance that was refused or has become void by the work that may have been pending before:
// the acceptance of complete truth files that are not the given truth in use, nil for none, and were not refused; else a
// re-evaluation, which ends by itself when no run needs one.
func (d *DatasetItem) Resume(inUse *Truth, now time.Time) {
	switch {
	case AllStored(d.Truths) && d.AwaitsTruth() && (inUse == nil || !reflect.DeepEqual(inUse.evaluatedWith(), d.Audited().EvaluatedWith)):
		d.PendingWork = NewPendingWork(AcceptTruth, now)
	case d.TruthVersion > 0:
		d.PendingWork = NewPendingWork(Reevaluate, now)
	default:
		d.PendingWork = nil
	}
}

// AwaitsTruth reports whether the files of the truth were announced and may be used once all are there: they have not arrived
// or have not been read yet.
func (d *DatasetItem) AwaitsTruth() bool {
	return len(d.Truths) > 0 && !measure.HasErrors(d.Diagnostics)
}

// Board returns what leaderboards of the dataset show.
func (d *DatasetItem) Board() BoardTruth {
	if d.BoardTruth == nil {
		return BoardTruth{d.TruthVersion, d.Evaluator}
	}
	return *d.BoardTruth
}

// Show has leaderboards show the truth.
func (d *DatasetItem) Show(t *Truth) {
	t.Held, d.BoardTruth = false, nil
	if t.Number != d.TruthVersion || !reflect.DeepEqual(t.Evaluator, d.Evaluator) {
		d.BoardTruth = &BoardTruth{t.Number, t.Evaluator}
	}
}

// Key implements Record.
func (d *DatasetItem) Key() store.Key { return DatasetKey(d.ID) }

// DatasetKey is the key of the dataset.
func DatasetKey(id string) store.Key { return keyOf(KindDataset, id, "DATASET") }

// IsDataset reports whether the key is of a dataset.
func IsDataset(k store.Key) bool {
	return strings.HasPrefix(k.Partition, "DATASET#") && k.Sort == "DATASET"
}

// Indexes implements Record.
func (d *DatasetItem) Indexes() [store.NumIndexes]store.Key {
	return indexes{}.listed(KindDataset, d.ID, d.Scope(), false).pending(d.PendingWork, d.ID)
}

// Scope is the scope of the dataset: it follows its task.
func (d *DatasetItem) Scope() access.Scope {
	return access.Scope{OrganizerID: d.OrganizerID, TaskID: d.TaskID, Audience: AccessAttributes{PrivateTask: d.PrivateTask}.taskAudience(),
		KnownTo: access.Applicant}
}

// ObjectKeys names the objects of the dataset's files.
func (d *DatasetItem) ObjectKeys() []string {
	return append(objectKeys(HolderInputs, d.ID, d.Inputs), objectKeys(HolderTruths, d.ID, d.Truths)...)
}

// Files returns the inputs and the truths.
func (d *DatasetItem) Files() []File { return slices.Concat(d.Inputs, d.Truths) }

// Check says what is wrong with the draft, save what only the built-in evaluators know of their measures.
func (d *DatasetDraft) Check() []problem.Field {
	fields := append(checkName("/name", d.Name), checkText("/description", d.Description)...)
	fields = append(fields, checkWindow("/submissions", d.Submissions.OpensAt, d.Submissions.ClosesAt)...)
	fields.AddIf(d.IDsPublic && d.Evaluator.Kind == EvaluatorWorker, "/idsPublic",
		"goes only with the built-in evaluators, which compare ids: "+problem.Unset)
	fields.AddIf(d.LabelsPublic && !d.Evaluator.hasLabels(), "/labelsPublic",
		"goes only with evaluators that compare labels, such as classification: "+problem.Unset)
	fields.AddIf(d.TruthsPublic && d.Split != Training, "/truthsPublic",
		"goes with the split training alone: set it to false, or the split to training")
	return append(fields, d.Evaluator.check()...)
}

// CheckPublic says what is wrong with a change of a dataset whose truth files are or were public: what everyone may have by
// now does not become hidden again, be it by truthsPublic or by another split.
func (d *DatasetDraft) CheckPublic(old *DatasetItem) (fields problem.Fields) {
	fields.AddIf(old.TruthsPublic && !d.TruthsPublic && slices.ContainsFunc(d.Truths, old.hasTruth), "/truthsPublic",
		"cannot be taken back for files that everyone could download: leave it true, or replace all files of truths in the same change")
	return fields
}

func (d *DatasetItem) hasTruth(f File) bool {
	return slices.ContainsFunc(d.Truths, func(own File) bool { return own.SHA256 == f.SHA256 })
}

// Normalize fills in what the draft leaves open.
func (d *DatasetDraft) Normalize() {
	if e := &d.Evaluator; e.PrimaryMeasure == "" && len(e.Measures) > 0 {
		e.PrimaryMeasure = e.Measures[0]
	}
}

// maxMeasureName is how long the name of a measure may be, in bytes.
const maxMeasureName = 100

func (e *Evaluator) check() (fields problem.Fields) {
	for i, m := range e.Measures {
		p := fmt.Sprintf("/evaluator/measures/%d", i)
		fields.AddIf(len(m) > maxMeasureName, p, "has %d bytes; %d are allowed", len(m), maxMeasureName)
		fields = append(fields, checkName(p, m)...)
	}
	if e.Kind == EvaluatorWorker {
		return append(fields, e.checkOwn()...)
	}
	for _, m := range []struct{ pointer, given string }{
		{"/evaluator/image", e.Image}, {"/evaluator/command", e.Command}, {"/evaluator/lowerIsBetter", strings.Join(e.LowerIsBetter, "")},
	} {
		fields.AddIf(m.given != "", m.pointer, "goes only with the kind worker: "+problem.Unset)
	}
	return fields
}

// checkOwn checks an organizer's own evaluator, whose names of measures are the organizer's to choose.
func (e *Evaluator) checkOwn() (fields problem.Fields) {
	fields.AddIf(!slices.Contains(e.Measures, e.PrimaryMeasure), "/evaluator/primaryMeasure", "must be one of measures: give one, or "+
		problem.Unset)
	fields = append(fields, checkDistinct("/evaluator/measures", e.Measures)...)
	for i, m := range e.LowerIsBetter {
		fields.AddIf(!slices.Contains(e.Measures, m), fmt.Sprintf("/evaluator/lowerIsBetter/%d", i), "must be one of measures")
	}
	fields.AddIf(e.Image == "", "/evaluator/image", "is needed for an evaluator of the kind worker")
	return slices.Concat(fields, CheckLine("/evaluator/image", e.Image), checkText("/evaluator/command", e.Command))
}

// LessIsBetter reports whether the least value of the measure, which is one of the evaluator's, is the best.
func (e *Evaluator) LessIsBetter(name string) bool {
	if e.Kind == EvaluatorWorker {
		return slices.Contains(e.LowerIsBetter, name)
	}
	m, err := measure.Parse(measure.Kind(e.Kind), name)
	return err == nil && !m.HigherIsBetter()
}

// Measure returns the measure of the evaluator that the name means, by the name under which results have it; "" when it has
// none such.
func (e *Evaluator) Measure(name string) string {
	if slices.Contains(e.Measures, name) {
		return name
	}
	if m, err := measure.Parse(measure.Kind(e.Kind), name); err == nil && slices.Contains(e.Measures, m.String()) {
		return m.String()
	}
	return ""
}

// Truth is what runs on a dataset are evaluated with: it changes only as a whole, and each change makes a version.
type Truth struct {
	Meta      // ID is the dataset's
	TaskID    string
	Number    int64 // the truthVersion
	Files     []File
	RunFormat RunFormat
	Evaluator Evaluator
	Pool      string `json:",omitempty"` // of the workers; it changes without a new version
	// Held is whether leaderboards show an earlier version until no run waits for this one, so that evaluations against
	// it are in no list before.
	Held bool `json:",omitempty"`
}

// ObjectKeys names the objects of the files.
func (t *Truth) ObjectKeys() []string { return objectKeys(HolderTruths, t.ID, t.Files) }

// Key implements Record.
func (t *Truth) Key() store.Key { return TruthKey(t.ID) }

// TruthKey is the key of a dataset's Truth.
func TruthKey(datasetID string) store.Key { return keyOf(KindDataset, datasetID, "TRUTH") }

// maxComparedInputs bounds the stored bytes of the inputs whose ids are read, where items are classified or regressed.
const maxComparedInputs = 64 << 20

// ComparedInputs are the inputs with whose ids runs of the kind are compared; none before all have arrived.
func (d *DatasetItem) ComparedInputs(kind measure.Kind) []File {
	if !AllStored(d.Inputs) || !kind.Ranks() && SizeOf(d.Inputs) > maxComparedInputs {
		return nil
	}
	return d.Inputs
}

// TruthSecret keys the digests of a dataset's truths. A plain digest lets anybody test a guess of a small truth; a keyed one
// is equal for equal truths of the dataset, and tells nothing else without the secret. The secret is made once, with the first
// truth, stays for all versions, and goes with the dataset. No answer, link, log or audit entry has it.
//
// Once a truth is released, the secret can be published with it: then anybody can verify an evaluation by comparing its
// digests.truth with the HMAC-SHA-256 under the secret of the SHA-256 over the truth files' digests, as Digest computes it.
// Truths of the dataset that are not released lose the protection with that, so until all are, the secret stays.
type TruthSecret struct {
	Meta   // ID is the dataset's
	Secret []byte
}

// NewTruthSecret returns a new secret for the dataset.
func NewTruthSecret(datasetID string, now time.Time) *TruthSecret {
	s := &TruthSecret{Meta: MetaOf(datasetID, now), Secret: make([]byte, sha256.Size)}
	_, _ = rand.Read(s.Secret) // it never returns an error
	return s
}

// Digest keys a digest of a truth, of which it takes the hexadecimal text.
func (s *TruthSecret) Digest(plain string) string {
	mac := hmac.New(sha256.New, s.Secret)
	_, _ = mac.Write([]byte(plain)) // a hash takes everything
	return hex.EncodeToString(mac.Sum(nil))
}

// Key implements Record.
func (s *TruthSecret) Key() store.Key { return TruthSecretKey(s.ID) }

// TruthSecretKey is the key of a dataset's TruthSecret.
func TruthSecretKey(datasetID string) store.Key { return keyOf(KindDataset, datasetID, "SECRET") }
