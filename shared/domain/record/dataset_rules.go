package record

import "cmp"

// InputsFor says who gets the inputs of a dataset.
type InputsFor string

// The values of InputsFor.
const (
	InputsForAnyone      InputsFor = "anyone"
	InputsForRegistrants InputsFor = "registrants"
)

// Publish says when reviews are published.
type Publish string

// The values of Publish.
const (
	PublishOnReview     Publish = "onReview"
	PublishOnCompletion Publish = "onCompletion"
)

// AuditedDataset is the part of a dataset that audit entries keep.
type AuditedDataset struct {
	Name string `json:"name"`
	DatasetRules
	EvaluatedWith
}

// DatasetRules decide what callers see of a dataset and of its runs.
type DatasetRules struct {
	Split        Split `json:"split"`
	TruthsPublic bool  `json:"truthsPublic"`
	IDsPublic    bool  `json:"idsPublic"`
	LabelsPublic bool  `json:"labelsPublic"`

	InputsFor   InputsFor          `json:"inputsFor"`
	Publish     Publish            `json:"publish"`
	Submissions DatasetSubmissions `json:"submissions"`
	FinalRuns   int                `json:"finalRuns"`
	Columns     []Column           `json:"columns"`
}

// EvaluatedWith holds the ground truth files and the settings that runs are evaluated with.
type EvaluatedWith struct {
	Truths    []AuditedFile `json:"truths"`
	RunFormat RunFormat     `json:"runFormat"`
	Evaluator Evaluator     `json:"evaluator"`
}

// AuditedFile is the part of a file that audit entries keep.
type AuditedFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Audited returns the part of the dataset that audit entries keep.
func (d *DatasetItem) Audited() AuditedDataset {
	return AuditedDataset{
		d.Name, DatasetRules{
			Split:        d.Split,
			TruthsPublic: d.TruthsPublic,
			IDsPublic:    d.IDsPublic,
			LabelsPublic: d.LabelsPublic,
			InputsFor:    cmp.Or(d.InputsFor, InputsForAnyone),
			Publish:      cmp.Or(d.Publish, PublishOnReview),
			Submissions:  d.Submissions,
			FinalRuns:    d.FinalRuns,
			Columns:      d.Columns,
		},
		EvaluatedWith{auditedFiles(d.Truths), d.RunFormat, d.Evaluator},
	}
}

// evaluatedWith returns the files and settings that runs are evaluated with while t is in use.
func (t *TruthVersion) evaluatedWith() EvaluatedWith {
	return EvaluatedWith{auditedFiles(t.Files), t.RunFormat, t.Evaluator}
}

func auditedFiles(files []File) (audited []AuditedFile) {
	for _, f := range files {
		audited = append(audited, AuditedFile{f.Name, f.SHA256})
	}
	return audited
}
