package arrival

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Settings are what the evaluators need to know of a dataset.
func Settings(d *record.DatasetDraft) evaluator.Settings {
	return evaluator.Settings{
		Kind: measure.Kind(d.Evaluator.Kind), Measures: d.Evaluator.Measures,
		PrimaryMeasure: d.Evaluator.PrimaryMeasure, Format: evaluator.Format(d.RunFormat),
	}
}

// CheckTruth says what is wrong with the truth of a dataset, whose files open opens. An organizer's own evaluator alone
// knows what its truth must be.
func CheckTruth(ctx context.Context, d *record.DatasetDraft, open func(record.File) (io.ReadCloser, error)) ([]measure.Diagnostic, error) {
	if d.Evaluator.Kind == record.EvaluatorWorker {
		return nil, nil
	}
	files := lists.Map(d.Truths, func(f record.File) evaluator.File {
		return evaluator.File{Name: f.Name, Open: func() (io.ReadCloser, error) { return open(f) }}
	})
	_, diagnostics, err := evaluator.ReadTruth(ctx, Settings(d), files)
	return diagnostics, err
}

// Use adds to a change of a dataset, all of whose truth files are stored, that runs are evaluated with it from now on.
// old is the truth until now; nil when there is none. Leaderboards go on to show what they show until the runs have been
// evaluated again.
func Use(tx *records.Tx, d *record.DatasetItem, old *record.Truth, now time.Time) {
	if old != nil && d.BoardTruth == nil {
		d.BoardTruth = &record.BoardTruth{TruthVersion: old.Number, Evaluator: old.Evaluator}
	}
	d.TruthVersion++
	d.Diagnostics = nil
	truth := &record.Truth{
		Meta: record.MetaOf(d.ID, now), TaskID: d.TaskID, Number: d.TruthVersion, Files: d.Truths, RunFormat: d.RunFormat, Evaluator: d.Evaluator, Pool: d.Pool,
	}
	d.PendingWork = record.NewPendingWork(record.Reevaluate, now) // with the first truth too: runs that came before it have failed for want of one
	if old == nil {
		d.Show(truth)
		tx.Create(truth).Create(record.NewTruthSecret(d.ID, now))
		return
	}
	truth.Meta, truth.Held = old.Meta, true
	d.Reevaluation, d.PublishedProgress = &record.Reevaluation{StartedAt: record.At(now)}, record.Progress{}
	tx.Save(truth, now)
}

// Adopt looks at the truth files of a dataset once the last of them has arrived. If they can be used, runs are evaluated
// with them from then on; otherwise the dataset tells its organizers why not, and all stays as it was. A truth at which the
// evaluator panics cannot be used either, or it would be looked at for ever; that is also the error.
func Adopt(ctx context.Context, s store.Store, files blob.Store, now time.Time, datasetID string) error {
	var fault *panics.Error
	err := records.Retry(ctx, func() error {
		fault = nil
		d, err := records.Get[record.DatasetItem](ctx, s, store.Strong, record.DatasetKey(datasetID))
		if err != nil || d == nil || !d.PendingWork.Is(record.AcceptTruth) {
			return err
		}
		old, err := records.Get[record.Truth](ctx, s, store.Strong, record.TruthKey(datasetID))
		if err != nil {
			return err
		}
		var diagnostics []measure.Diagnostic
		err = panics.Catch(func() (err error) {
			diagnostics, err = CheckTruth(ctx, &d.DatasetDraft, func(f record.File) (io.ReadCloser, error) {
				return files.Open(ctx, record.ObjectKey(record.HolderTruths, d.ID, f.SHA256))
			})
			return err
		})
		if errors.As(err, &fault) {
			diagnostics, err = []measure.Diagnostic{{Severity: measure.Error, Message: faulty}}, nil
		}
		if err != nil {
			return err
		}
		tx := new(records.Tx)
		if measure.HasErrors(diagnostics) {
			d.Diagnostics = diagnostics
			d.Resume(old, now)
		} else {
			Use(tx, d, old, now)
		}
		return tx.Save(d, now).Commit(ctx, s)
	})
	if err == nil && fault != nil {
		return fmt.Errorf("the truth of the dataset %s cannot be read: %w", datasetID, fault)
	}
	return err
}

const faulty = "The truth could not be read, which is a fault of the platform and not of the files. Tell those who run the platform; " +
	"once it is fixed, store the files again. Until then runs are evaluated with the truth that was there before."
