// Package truth checks and activates the ground truth (qrels, labels) of a dataset before runs are evaluated with it. The request that
// stores the files does this at once. If files are uploaded later, the background worker does it once all have arrived.
package truth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/panics"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// Settings returns a dataset's settings for the built-in evaluators.
func Settings(format record.RunFormat, e record.Evaluator) scoring.Settings {
	return scoring.Settings{Kind: measure.Kind(e.Kind), Measures: e.Measures, Format: measure.Format(format)}
}

// Checked is the result of Check.
type Checked struct {
	Shape       measure.Shape
	Report      *record.TruthReport
	Diagnostics []measure.Diagnostic // if one is an error, the ground truth cannot be used
}

// Open opens a stored file of a dataset, or one that a request carries.
type Open func(record.Holder, record.File) (io.ReadCloser, error)

// Check reads the ground truth of a dataset, and describes it for the organizers. open opens its files and inputs. For an organizer's own
// evaluator the result is empty, because only the evaluator knows which files it accepts.
func Check(ctx context.Context, d *record.DatasetDraft, open Open) (checked Checked, err error) {
	if d.Evaluator.Kind == record.EvaluatorWorker {
		return checked, nil
	}
	files := filesOf(record.HolderTruths, d.Truths, open)
	read, diagnostics, err := scoring.ReadTruth(ctx, Settings(d.RunFormat, d.Evaluator), files)
	checked.Diagnostics = diagnostics
	if err != nil || read == nil {
		return checked, err
	}
	checked.Shape = read.Shape()
	checked.Diagnostics = append(checked.Diagnostics, read.Cost()...)
	if !measure.HasErrors(checked.Diagnostics) {
		checked.Report, err = describe(ctx, d, read, files, open)
	}
	return checked, err
}

// Read reads the ground truth of a dataset for a built-in evaluator. It returns nil if the ground truth has errors.
func Read(ctx context.Context, d *record.DatasetDraft, open Open) (*scoring.Evaluator, error) {
	read, _, err := scoring.ReadTruth(ctx, Settings(d.RunFormat, d.Evaluator), filesOf(record.HolderTruths, d.Truths, open))
	return read, err
}

// describe compares the ground truth with the inputs, and scores it against itself.
func describe(ctx context.Context, d *record.DatasetDraft, read *scoring.Evaluator, files []scoring.File,
	open Open) (*record.TruthReport, error) {
	list, _, err := describedInputs(ctx, d, open)
	if err != nil {
		return nil, err
	}
	var inputs *scoring.KnownIDs
	if len(list) > 0 {
		if inputs, err = scoring.ReadInputs(ctx, Settings(d.RunFormat, d.Evaluator), list); err != nil {
			return nil, err
		}
	}
	p, err := read.Portray(ctx, files, inputs)
	return &record.TruthReport{Contents: p.Contents, Warnings: p.Warnings}, err
}

// maxInputsMemory is the memory that reading the inputs may take, in bytes. Packed files can have hundreds of times their size of text.
const maxInputsMemory = 128 << 20

// describedInputs returns the input files that describe reads, and about how much memory they take.
func describedInputs(ctx context.Context, d *record.DatasetDraft, open Open) (files []scoring.File, memory int64, err error) {
	list := d.DescribedInputs()
	if len(list) == 0 {
		return nil, 0, nil
	}
	files = filesOf(record.HolderInputs, list, open)
	text, err := scoring.CountText(ctx, files, maxInputsMemory)
	if err != nil {
		return nil, 0, err
	}
	memory = Settings(d.RunFormat, d.Evaluator).Memory(text)
	if memory > maxInputsMemory {
		return nil, 0, nil
	}
	return files, memory, nil
}

// Memory returns about how much memory Check takes. It counts the text of the files up to most bytes. If there is more text, it returns
// more than most.
func Memory(ctx context.Context, d *record.DatasetDraft, open Open, most int64) (int64, error) {
	if d.Evaluator.Kind == record.EvaluatorWorker {
		return 0, nil
	}
	text, err := scoring.CountText(ctx, filesOf(record.HolderTruths, d.Truths, open), most)
	if err != nil {
		return 0, err
	}
	_, ofInputs, err := describedInputs(ctx, d, open)
	settings := Settings(d.RunFormat, d.Evaluator)
	return settings.MemoryOfTruth(text) + settings.Memory(text) + ofInputs, err // Check also reads the truth as a run.
}

func filesOf(h record.Holder, files []record.File, open Open) []scoring.File {
	return lists.Map(files, func(f record.File) scoring.File {
		return scoring.File{Name: f.Name, Open: func() (io.ReadCloser, error) { return open(h, f) }}
	})
}

// Activate adds to a change of a dataset that runs are evaluated with its ground truth files from now on. All files must be stored and
// checked. old is the previous ground truth, or nil. Leaderboards show the evaluations against old until the runs have been evaluated
// again. Organizers see the warnings of the check.
func Activate(tx *records.Tx, d *record.DatasetItem, old *record.TruthVersion, checked Checked, now time.Time) {
	if old != nil && d.BoardTruth == nil {
		d.BoardTruth = &record.BoardTruth{TruthVersion: old.Number, Evaluator: old.Evaluator, Columns: d.BoardColumns()}
	}
	d.TruthVersion++
	d.TruthShape = checked.Shape
	d.TruthReport = checked.Report
	d.Diagnostics = checked.Diagnostics
	truth := &record.TruthVersion{
		Meta: record.MetaOf(d.ID, now), TaskID: d.TaskID, Number: d.TruthVersion, Files: d.Truths, RunFormat: d.RunFormat, Evaluator: d.Evaluator,
		Pool: d.Pool,
	}
	// Also for the first ground truth, because earlier runs have failed without one.
	d.PendingWork = record.NewPendingWork(record.Reevaluate, now)
	if old == nil {
		d.Show(truth)
		tx.Create(truth).Create(record.NewTruthSecret(d.ID, now))
		return
	}
	tx.Create(record.NewEvent(now, record.EventTruthChanged, d.Scope(), "/v1/datasets/"+d.ID))
	truth.Meta, truth.Held = old.Meta, true
	d.Reevaluation = &record.Reevaluation{StartedAt: record.At(now)}
	d.PublishedProgress = record.Progress{}
	tx.Save(truth, now)
}

// Acceptor accepts ground truths whose files were uploaded.
type Acceptor struct {
	Store   store.Store
	Objects blob.Store
	Now     func() time.Time
}

const (
	// maxBegun is how many times an acceptance may begin without ending.
	maxBegun = 3
	// littleMemory is the memory, in bytes, up to which checking a ground truth surely does not end a process.
	littleMemory = 8 << 20
)

// Accept checks the ground truth files of a dataset whose acceptance is pending, and activates them. If they have errors, the dataset keeps
// its ground truth and gets the diagnostics. If the files are in use already, Accept only describes them again, because the inputs changed.
//
// A panic of the evaluator becomes a diagnostic and the returned error, because the acceptance would otherwise be tried forever. Files that
// take much memory get the same diagnostic, without an error, if the process has died in each of several attempts.
func (a Acceptor) Accept(ctx context.Context, datasetID string) error {
	d, err := records.Get[record.DatasetItem](ctx, a.Store, store.Strong, record.DatasetKey(datasetID))
	if err != nil || d == nil || !d.PendingWork.Is(record.AcceptTruth) {
		return err
	}
	var memory int64
	err = panics.Catch(func() (err error) {
		memory, err = Memory(ctx, &d.DatasetDraft, a.filesOf(ctx, d), littleMemory)
		return err
	})
	_, panicked := errors.AsType[*panics.Error](err) // accept will meet the same panic and report it
	if err != nil && !panicked {
		return err
	}
	if memory <= littleMemory {
		return a.accept(ctx, datasetID)
	}
	pending, err := a.begin(ctx, datasetID)
	if err != nil || !pending {
		return err
	}
	if err = a.accept(ctx, datasetID); err != nil {
		return errors.Join(err, a.giveBack(context.WithoutCancel(ctx), datasetID))
	}
	return nil
}

// filesOf returns a function that opens the stored files of the dataset.
func (a Acceptor) filesOf(ctx context.Context, d *record.DatasetItem) Open {
	return func(h record.Holder, f record.File) (io.ReadCloser, error) {
		return a.Objects.Open(ctx, record.ObjectKey(h, d.ID, f.SHA256))
	}
}

// begin counts an attempt, and reports whether to make it. It ends an acceptance that has begun too many times.
func (a Acceptor) begin(ctx context.Context, datasetID string) (pending bool, err error) {
	err = records.Change(ctx, a.Store, record.DatasetKey(datasetID), func(d *record.DatasetItem, tx *records.Tx) error {
		pending = d.PendingWork.Is(record.AcceptTruth)
		if !pending {
			return nil
		}
		d.PendingWork.Begun++
		if d.PendingWork.Begun > maxBegun {
			pending = false
			old, err := records.Get[record.TruthVersion](ctx, a.Store, store.Strong, record.TruthKey(datasetID))
			if err != nil {
				return err
			}
			if !d.Uses(old) {
				d.Diagnostics = []measure.Diagnostic{{Severity: measure.Error, Message: unreadable}}
			}
			d.Resume(old, a.Now())
		}
		tx.Save(d, a.Now())
		return nil
	})
	return pending, err
}

// giveBack stops counting an attempt that ended with an error.
func (a Acceptor) giveBack(ctx context.Context, datasetID string) error {
	return records.Change(ctx, a.Store, record.DatasetKey(datasetID), func(d *record.DatasetItem, tx *records.Tx) error {
		if d.PendingWork.Is(record.AcceptTruth) && d.PendingWork.Begun > 0 {
			d.PendingWork.Begun--
			tx.Save(d, a.Now())
		}
		return nil
	})
}

// accept makes one attempt of Accept. It starts again if the files or their settings change meanwhile.
func (a Acceptor) accept(ctx context.Context, datasetID string) error {
	for {
		d, err := records.Get[record.DatasetItem](ctx, a.Store, store.Strong, record.DatasetKey(datasetID))
		if err != nil || d == nil || !d.PendingWork.Is(record.AcceptTruth) {
			return err
		}
		var checked Checked
		err = panics.Catch(func() (err error) {
			checked, err = Check(ctx, &d.DatasetDraft, a.filesOf(ctx, d))
			return err
		})
		panicked, ok := errors.AsType[*panics.Error](err)
		if ok {
			checked.Diagnostics = []measure.Diagnostic{{Severity: measure.Error, Message: unreadable}}
		} else if err != nil {
			return err
		}
		ended, err := a.end(ctx, d, checked)
		if err == nil && !ended {
			continue
		}
		if err == nil && ok {
			return fmt.Errorf("the truth of the dataset %s cannot be read: %w", datasetID, panicked)
		}
		return err
	}
}

// end activates the checked ground truth of the dataset, or stores its errors. It returns false if the dataset has other files or
// settings now.
func (a Acceptor) end(ctx context.Context, was *record.DatasetItem, checked Checked) (ended bool, err error) {
	err = records.Change(ctx, a.Store, was.Key(), func(d *record.DatasetItem, tx *records.Tx) error {
		ended = !d.PendingWork.Is(record.AcceptTruth) || sameTruth(d, was)
		if !ended || !d.PendingWork.Is(record.AcceptTruth) {
			return nil
		}
		old, err := records.Get[record.TruthVersion](ctx, a.Store, store.Strong, record.TruthKey(d.ID))
		if err != nil {
			return err
		}
		switch {
		case d.Uses(old): // Only the inputs changed.
			if checked.Report != nil {
				d.TruthReport = checked.Report
				record.Touch(d, a.Now())
			}
			d.Resume(old, a.Now())
		case measure.HasErrors(checked.Diagnostics):
			d.Diagnostics = checked.Diagnostics
			d.Resume(old, a.Now())
		default:
			Activate(tx, d, old, checked, a.Now())
		}
		tx.Save(d, a.Now())
		return nil
	})
	return ended, err
}

// sameTruth reports whether the datasets have the same ground truth files and inputs, and the same settings for reading them.
func sameTruth(d, other *record.DatasetItem) bool {
	return reflect.DeepEqual(d.Truths, other.Truths) && reflect.DeepEqual(d.Inputs, other.Inputs) && d.RunFormat == other.RunFormat &&
		reflect.DeepEqual(d.Evaluator, other.Evaluator)
}

const unreadable = "The truth could not be read, which is a fault of the platform and not of the files. Tell those who run the platform; " +
	"once it is fixed, store the files again. Until then runs are evaluated with the truth that was there before."
