// Package truth has what a dataset's ground truth (qrels, labels) goes through before runs are evaluated with it: its files
// are checked, and it is activated, at once by the request that stores it or, once files that are uploaded later are complete,
// by the evaluator.
package truth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"assay/shared/blob"
	"assay/shared/lists"
	"assay/shared/measure"
	"assay/shared/measure/evaluator"
	"assay/shared/panics"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// Settings are a dataset's settings for the built-in evaluators.
func Settings(format record.RunFormat, e record.Evaluator) evaluator.Settings {
	return evaluator.Settings{
		Kind: measure.Kind(e.Kind), Measures: e.Measures, PrimaryMeasure: e.PrimaryMeasure, Format: measure.Format(format),
	}
}

// Canonical gives the measures of a built-in evaluator the names under which results have them.
func Canonical(e *record.Evaluator) error {
	if e.Kind == record.EvaluatorWorker {
		return nil
	}
	names := slices.Concat(e.Measures, []string{e.PrimaryMeasure})
	for i, name := range names {
		if name == "" { // the primary measure, which is the first unless given
			continue
		}
		m, err := measure.Parse(measure.Kind(e.Kind), name)
		if err != nil {
			return err
		}
		names[i] = m.String()
	}
	last := len(e.Measures)
	e.Measures, e.PrimaryMeasure = names[:last], names[last]
	return nil
}

// Checked is what Check finds.
type Checked struct {
	Shape       measure.Shape
	Diagnostics []measure.Diagnostic // if one is an error, the ground truth cannot be used
}

// Check reads the ground truth of a dataset, whose files open opens. Nobody here knows what an organizer's own evaluator accepts, so for
// one it finds nothing.
func Check(ctx context.Context, d *record.DatasetDraft, open func(record.File) (io.ReadCloser, error)) (checked Checked, err error) {
	if d.Evaluator.Kind == record.EvaluatorWorker {
		return checked, nil
	}
	read, diagnostics, err := evaluator.ReadTruth(ctx, Settings(d.RunFormat, d.Evaluator), filesOf(d, open))
	checked.Diagnostics = diagnostics
	if read != nil {
		checked.Shape = read.Shape()
		checked.Diagnostics = append(checked.Diagnostics, read.Cost()...)
	}
	return checked, err
}

// Memory returns about how much memory Check takes. It counts the text of the files, up to the most bytes, and returns more than these if
// there is more.
func Memory(ctx context.Context, d *record.DatasetDraft, open func(record.File) (io.ReadCloser, error), most int64) (int64, error) {
	if d.Evaluator.Kind == record.EvaluatorWorker {
		return 0, nil
	}
	text, err := evaluator.CountText(ctx, filesOf(d, open), most)
	return Settings(d.RunFormat, d.Evaluator).Memory(text), err
}

func filesOf(d *record.DatasetDraft, open func(record.File) (io.ReadCloser, error)) []evaluator.File {
	return lists.Map(d.Truths, func(f record.File) evaluator.File {
		return evaluator.File{Name: f.Name, Open: func() (io.ReadCloser, error) { return open(f) }}
	})
}

// Activate adds to a change of a dataset, all of whose truth files are stored and checked, that runs are evaluated with them from
// now on. old is the ground truth until now, or nil. Leaderboards go on to show the evaluations against old until the runs have been
// evaluated again. Organizers are shown the warnings of the check.
func Activate(tx *records.Tx, d *record.DatasetItem, old *record.Truth, checked Checked, now time.Time) {
	if old != nil && d.BoardTruth == nil {
		d.BoardTruth = &record.BoardTruth{TruthVersion: old.Number, Evaluator: old.Evaluator}
	}
	d.TruthVersion++
	d.TruthShape = checked.Shape
	d.Diagnostics = checked.Diagnostics
	truth := &record.Truth{
		Meta: record.MetaOf(d.ID, now), TaskID: d.TaskID, Number: d.TruthVersion, Files: d.Truths, RunFormat: d.RunFormat, Evaluator: d.Evaluator,
		Pool: d.Pool,
	}
	// with the first truth too: runs that came before it have failed for want of one
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

// Accept checks the truth files of a dataset whose acceptance is pending, and activates them. When they have errors, the
// dataset keeps its ground truth and has the diagnostics. A panic of the evaluator is a diagnostic, because the acceptance
// would be tried for ever otherwise, and also the error.
func (a Acceptor) Accept(ctx context.Context, datasetID string) error {
	var panicked *panics.Error
	err := records.Change(ctx, a.Store, record.DatasetKey(datasetID), func(d *record.DatasetItem, tx *records.Tx) error {
		panicked = nil
		if !d.PendingWork.Is(record.AcceptTruth) {
			return nil
		}
		old, err := records.Get[record.Truth](ctx, a.Store, store.Strong, record.TruthKey(datasetID))
		if err != nil {
			return err
		}
		var checked Checked
		err = panics.Catch(func() (err error) {
			checked, err = Check(ctx, &d.DatasetDraft, func(f record.File) (io.ReadCloser, error) {
				return a.Objects.Open(ctx, record.ObjectKey(record.HolderTruths, d.ID, f.SHA256))
			})
			return err
		})
		if errors.As(err, &panicked) {
			checked.Diagnostics = []measure.Diagnostic{{Severity: measure.Error, Message: unreadable}}
			err = nil
		}
		if err != nil {
			return err
		}
		if measure.HasErrors(checked.Diagnostics) {
			d.Diagnostics = checked.Diagnostics
			d.Resume(old, a.Now())
		} else {
			Activate(tx, d, old, checked, a.Now())
		}
		tx.Save(d, a.Now())
		return nil
	})
	if err == nil && panicked != nil {
		return fmt.Errorf("the truth of the dataset %s cannot be read: %w", datasetID, panicked)
	}
	return err
}

const unreadable = "The truth could not be read, which is a fault of the platform and not of the files. Tell those who run the platform; " +
	"once it is fixed, store the files again. Until then runs are evaluated with the truth that was there before."
