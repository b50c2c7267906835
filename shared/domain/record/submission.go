package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// MaxSubmissionDatasets is the greatest number of datasets that one submission names. Each gets a run.
const MaxSubmissionDatasets = 10

// SubmissionType says whether a submission is an upload of files, a container image or a repository.
type SubmissionType string

// The types of submissions.
const (
	UploadType     SubmissionType = "upload"
	ImageType      SubmissionType = "image"
	RepositoryType SubmissionType = "repository"
)

// RunFile is a file of an upload, with the dataset that it belongs to.
type RunFile struct {
	DatasetID string `json:"datasetId" maxLength:"26" doc:"the dataset that the file is a run on"`
	File
}

// SubmissionDraft holds the members of a submission that clients write.
type SubmissionDraft struct {
	Type        SubmissionType `json:"type" enum:"upload,image,repository"`
	Title       string         `json:"title" required:"false" maxLength:"200" doc:"distinguishes the submission from the team's others"`
	Description string         `json:"description" required:"false" maxLength:"65536" doc:"Markdown"`
	PaperURL    string         `json:"paperUrl,omitempty" format:"uri" maxLength:"2000" doc:"http or https URL of a paper about it"`
	Notes       string         `json:"notes,omitempty" required:"false" maxLength:"65536" doc:"Markdown; notes of the team for itself: nobody else sees them, neither organizers nor administrators"`
	Visibility  Visibility     `json:"visibility" required:"false" enum:"public,private" doc:"unless given, public for a baseline and private for other submissions. Public: everyone who sees the task sees the submission and its runs, of an anonymous team without title, description, label, run tag and paper. Private: leaderboards show published values and the team, but neither title, label, run tag nor paper"`
	Baseline    bool           `json:"baseline" required:"false" doc:"marked as a baseline by an organizer; a submission that begins as one needs no registration, and the quotas and the window of the task do not apply to it"`
	DatasetIDs  []string       `json:"datasetIds" required:"false" maxItems:"10" maxLength:"26" doc:"the datasets to run on; for an upload those of its files unless given"`
	Files       []RunFile      `json:"files,omitempty" maxItems:"20" doc:"for upload"`
	Image       string         `json:"image,omitempty" maxLength:"500" doc:"for image: the container image, best by digest" example:"registry.example.org/lakeside/ranker@sha256:0123"`
	Command     string         `json:"command,omitempty" maxLength:"4000" doc:"for image and repository: the command to run"`
	URL         string         `json:"url,omitempty" format:"uri" maxLength:"2000" doc:"for repository: https URL to clone"`
	Ref         string         `json:"ref,omitempty" maxLength:"200" doc:"for repository: the commit, tag or branch" example:"v1.0"`

	ofFiles bool // DatasetIDs was omitted, so the files name the datasets
}

// Submission is one entry of a registered user.
type Submission struct {
	Meta
	TaskID         string  `json:"taskId"`
	UserID         string  `json:"userId,omitempty" doc:"absent when the team is anonymous to the caller"`
	User           *Person `json:"user,omitempty" doc:"who that is; for organizers"`
	Team           string  `json:"team" doc:"the team, or its alias"`
	Alias          string  `json:"alias,omitempty" doc:"the name that others see instead of an anonymous team's; for its members and the organizers"`
	RegistrationID string  `json:"registrationId,omitempty" doc:"the registration of the team; for its members and the organizers"`
	SubmissionDraft
	RunIDs []string `json:"runIds" doc:"one run for each dataset"`
	Quota  *Quota   `json:"quota,omitempty" doc:"what is left after this submission; only in the answer to it, and not for a baseline"`
}

// SubmissionItem is a stored submission. Its files are stored with its runs.
type SubmissionItem struct {
	Submission
	Access AccessAttributes `json:"access"`
}

// AuditedSubmission is the part of a submission that audit entries keep.
type AuditedSubmission struct {
	Type       SubmissionType `json:"type"`
	Title      string         `json:"title"`
	PaperURL   string         `json:"paperUrl,omitempty"`
	Visibility Visibility     `json:"visibility"`
	Baseline   bool           `json:"baseline"`
	DatasetIDs []string       `json:"datasetIds"`
	RunIDs     []string       `json:"runIds"`
}

// Audited returns the part of the submission that audit entries keep.
func (s *SubmissionItem) Audited() AuditedSubmission {
	return AuditedSubmission{
		Type:       s.Type,
		Title:      s.Title,
		PaperURL:   s.PaperURL,
		Visibility: s.Visibility,
		Baseline:   s.Baseline,
		DatasetIDs: s.DatasetIDs,
		RunIDs:     s.RunIDs,
	}
}

// BaselineTeam is the team of the organizers' baselines, which need no registration. No other team can have this name.
const BaselineTeam = "baseline"

// Unregistered is AccessAttributes.Unregistered.
func (s *SubmissionItem) Unregistered() bool { return s.Access.Unregistered() }

// Key implements Record.
func (s *SubmissionItem) Key() store.Key { return SubmissionKey(s.ID) }

// SubmissionKey returns the key of the submission.
func SubmissionKey(id string) store.Key { return keyOf(KindSubmission, id, "SUBMISSION") }

// Indexes implements Record.
func (s *SubmissionItem) Indexes() [store.NumIndexes]store.Key {
	return indexes{}.listed(KindSubmission, s.ID, s.Scope(), s.Access.Anonymous)
}

// Scope returns the scope of the submission.
func (s *SubmissionItem) Scope() access.Scope {
	return s.Access.scope(s.TaskID, s.UserID, s.Access.submissionAudience())
}

// WidestScope returns the scope of a submission that everyone sees. Most callers see such submissions.
func (*SubmissionItem) WidestScope() access.Scope { return access.Scope{Audience: access.Everyone} }

// Normalize sets the defaults of omitted members.
func (d *SubmissionDraft) Normalize() {
	d.Visibility = cmp.Or(d.Visibility, map[bool]Visibility{true: Public, false: Private}[d.Baseline])
	d.ofFiles = len(d.DatasetIDs) == 0
	if d.ofFiles {
		d.DatasetIDs = []string{}
		for _, f := range d.Files {
			if !slices.Contains(d.DatasetIDs, f.DatasetID) {
				d.DatasetIDs = append(d.DatasetIDs, f.DatasetID)
			}
		}
	}
}

// Check reports the draft's errors, except those of its files.
func (d *SubmissionDraft) Check() []problem.Field {
	fields := d.CheckTexts()
	fields.AddIf(len(d.DatasetIDs) == 0, "/datasetIds", "must name at least one dataset of the task")
	fields.AddIf(len(d.DatasetIDs) > MaxSubmissionDatasets, "/files",
		"are for %d datasets; %d are allowed in one submission", len(d.DatasetIDs), MaxSubmissionDatasets)
	for i, id := range d.DatasetIDs {
		p := d.DatasetPointer(i)
		fields.AddIf(slices.Contains(d.DatasetIDs[:i], id), p, "is named twice")
		has := slices.ContainsFunc(d.Files, func(f RunFile) bool { return f.DatasetID == id })
		fields.AddIf(d.Type == UploadType && !has, "/files", "has no file for the dataset %s", problem.Resource("dataset", id))
	}
	for i, f := range d.Files {
		fields.AddIf(!slices.Contains(d.DatasetIDs, f.DatasetID), fmt.Sprintf("/files/%d/datasetId", i), "is not one of {datasetIds}")
	}
	return append(fields, d.checkType()...)
}

// DatasetPointer returns the pointer to the member of the body that names the dataset at position i of DatasetIDs.
func (d *SubmissionDraft) DatasetPointer(i int) string {
	if d.ofFiles {
		return fmt.Sprintf("/files/%d/datasetId", slices.IndexFunc(d.Files, func(f RunFile) bool { return f.DatasetID == d.DatasetIDs[i] }))
	}
	return fmt.Sprintf("/datasetIds/%d", i)
}

// CheckTexts reports the errors of the texts that describe the submission.
func (d *SubmissionDraft) CheckTexts() problem.Fields {
	return slices.Concat(CheckLine("/title", d.Title), checkText("/description", d.Description), checkText("/notes", d.Notes))
}

// checkType checks the members that only some types of submissions have.
func (d *SubmissionDraft) checkType() (fields problem.Fields) {
	for _, m := range []struct {
		pointer         string
		given           bool
		needed, allowed []SubmissionType
	}{
		{"/files", len(d.Files) > 0, []SubmissionType{UploadType}, []SubmissionType{UploadType}},
		{"/image", d.Image != "", []SubmissionType{ImageType}, []SubmissionType{ImageType}},
		{"/command", d.Command != "", nil, []SubmissionType{ImageType, RepositoryType}},
		{"/url", d.URL != "", []SubmissionType{RepositoryType}, []SubmissionType{RepositoryType}},
		{"/ref", d.Ref != "", nil, []SubmissionType{RepositoryType}},
	} {
		fields.AddIf(m.given && !slices.Contains(m.allowed, d.Type), m.pointer, "does not go with the type %s: leave it out", d.Type)
		fields.AddIf(!m.given && slices.Contains(m.needed, d.Type), m.pointer, "is needed for the type %s", d.Type)
	}
	fields = slices.Concat(fields, CheckLine("/image", d.Image), checkText("/command", d.Command), CheckLine("/ref", d.Ref))
	fields.AddIf(strings.HasPrefix(d.Ref, "-"), "/ref", "must be a commit, tag or branch, none of which begins with -")
	return fields
}
