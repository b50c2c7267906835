package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"assay/shared/storage/store"
)

// SubmittedDraft names the latest submission that a team made of a draft, so that a request that repeats the draft is answered with that
// submission. It outlives a deleted submission: the submission can be restored, and the next one of the draft replaces the name.
type SubmittedDraft struct {
	Meta           // ID is the digest of the draft
	TaskID         string
	RegistrationID string
	SubmissionID   string
	RunIDs         []string
}

// NewSubmittedDraft returns the record for a submission of the draft. old is the record of an earlier one, or nil.
func NewSubmittedDraft(old *SubmittedDraft, draft string, s *SubmissionItem, now time.Time) *SubmittedDraft {
	made := SubmittedDraft{Meta: MetaOf(draft, now), TaskID: s.TaskID, RegistrationID: s.Access.RegistrationID}
	if old != nil {
		made = *old
	}
	made.SubmissionID, made.RunIDs = s.ID, s.RunIDs
	return &made
}

// Key implements Record.
func (s *SubmittedDraft) Key() store.Key { return SubmittedDraftKey(s.TaskID, s.RegistrationID, s.ID) }

// SubmittedDraftKey returns the key of a team's record for the draft with the digest.
func SubmittedDraftKey(taskID, registrationID, draft string) store.Key {
	return keyOf(KindTask, taskID, "SUBMITTED#"+registrationID+"#"+draft)
}

// Digest identifies what the draft says: all its members, and of files the digests of their bytes. The order of datasets and files does
// not matter, nor whether a file is inline. CheckFiles must have completed the files.
func (d *SubmissionDraft) Digest() string {
	same := *d
	same.DatasetIDs = slices.Sorted(slices.Values(d.DatasetIDs))
	same.Files = slices.Clone(d.Files)
	for i := range same.Files {
		same.Files[i].Content, same.Files[i].State = "", ""
	}
	slices.SortFunc(same.Files, func(a, b RunFile) int {
		return cmp.Or(strings.Compare(a.DatasetID, b.DatasetID), strings.Compare(a.Name, b.Name))
	})
	text, _ := json.Marshal(same) //nolint:errchkjson // texts and numbers
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Stands reports whether the run counts as an entry against the ground truth with the number. A completed run stands for the ground truth
// of its evaluation. A run that waits or is under way stands for the newest, even if it was queued again for an earlier one.
func (r *RunItem) Stands(truth int64) bool {
	if r.State == Completed {
		return r.TruthVersion == truth
	}
	return r.State.Counts()
}
