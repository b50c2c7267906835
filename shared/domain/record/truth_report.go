package record

import (
	"time"

	"assay/shared/computation/measure"
)

// TruthReport describes a ground truth (qrels, labels) to the organizers of its dataset, and to nobody else.
type TruthReport struct {
	Contents string   `json:"contents" doc:"counts of the ground truth, and how many of the ids of the inputs it has" example:"50 topics, 1500 judgments, 619 relevant; 0 of the 50 topics of the inputs are judged"`
	Warnings []string `json:"warnings,omitempty" doc:"probable mistakes, and the measures that do not reach their best value when the ground truth is scored against itself"`
}

// DescribeTruth schedules another TruthReport after a change of the inputs. Work that is pending already comes first or includes it.
func (d *DatasetItem) DescribeTruth(now time.Time) {
	ready := d.TruthVersion > 0 && AllStored(d.Inputs) && AllStored(d.Truths) && d.Evaluator.Kind != EvaluatorWorker
	if ready && (d.PendingWork == nil || d.PendingWork.Is(Reevaluate)) {
		d.PendingWork = NewPendingWork(AcceptTruth, now)
	}
}

// maxDescribedInputs is the size up to which a TruthReport compares inputs, in bytes.
const maxDescribedInputs = 32 << 20

// DescribedInputs returns the input files that a TruthReport compares with the ground truth: those that are not too large, since the
// topics of a collection are usually in a small file. It returns nil for predictions if a file is missing, whose ids would be unknown.
func (d *DatasetDraft) DescribedInputs() []File {
	if !AllStored(d.Inputs) {
		return nil
	}
	var small []File
	for _, f := range d.Inputs {
		if SizeOf(append(small, f)) <= maxDescribedInputs {
			small = append(small, f)
		}
	}
	if len(small) < len(d.Inputs) && !measure.Kind(d.Evaluator.Kind).Ranks() {
		return nil
	}
	return small
}
