package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/shared/measure"
)

// The methods below replace a user who is deleted, in what stays, by a random id and the alias of the registration, and remove
// what the user wrote. What organizers wrote stays: reviews, baselines, and the output of their evaluators.

// Anonymize replaces user and team of the registration.
func (r *RegistrationItem) Anonymize(userID string) {
	r.UserID, r.TeamDraft = userID, TeamDraft{Team: r.Alias, Anonymous: true}
}

// Anonymize replaces user and team of the submission. The program that it names cannot be executed again.
func (s *SubmissionItem) Anonymize(userID string) {
	s.UserID = userID
	s.Team = s.Access.Alias
	s.Title = ""
	s.Description = ""
	s.PaperURL = ""
	s.Notes = ""
	s.Image = ""
	s.Command = ""
	s.URL = ""
	s.Ref = ""
	s.Access.anonymize()
}

// Anonymize replaces user and team of the run, which was evaluated. What executing it wrote is removed.
func (r *RunItem) Anonymize(userID string) {
	r.UserID = userID
	r.Team = r.Access.Alias
	r.Label = ""
	r.RunTag = ""
	r.Diagnostics = []measure.Diagnostic{}
	r.Logs.Execution = LogState{}
	r.LogTail = ""
	r.ExecutionLog = nil
	for i := range r.Files {
		r.Files[i].Name = fmt.Sprintf("file-%d", i+1)
	}
	r.Access.anonymize()
}

// Anonymized reports whether the run is of a team whose user was deleted: no other team can have a name like an alias.
func (r *RunItem) Anonymized() bool { return r.Access.Alias != "" && r.Team == r.Access.Alias }

// Anonymize replaces user and team of the evaluation as they were replaced in its run.
func (e *EvaluationItem) Anonymize(run *RunItem) {
	e.UserID = run.UserID
	e.Team = run.Team
	e.Access = run.Access
	if run.Anonymized() {
		e.Label, e.RunTag = "", ""
	}
}

func (s *AccessAttributes) anonymize() {
	s.Anonymous = true
	s.Affiliation = ""
	s.Title = ""
	s.PaperURL = ""
}

// teamTexts are the members of Before and After that have what a team wrote.
var teamTexts = []string{"team", "affiliation", "title", "paperUrl", "label"}

// Names reports whether the user did what the entry says, or is concerned by it.
func (a *AuditEntry) Names(userID string) bool {
	return a.ActorID == userID || slices.Contains(a.UserIDs, userID)
}

// Anonymize replaces the user in the entry, and removes what the user wrote; it is the only change of an entry.
func (a *AuditEntry) Anonymize(userID, by string) {
	concerned := slices.Contains(a.UserIDs, userID)
	a.Subject = strings.ReplaceAll(a.Subject, userID, by)
	if a.ActorID == userID {
		a.ActorID = by
	}
	for i, id := range a.UserIDs {
		if id == userID {
			a.UserIDs[i] = by
		}
	}
	for _, side := range []*json.RawMessage{&a.Before, &a.After} {
		var members map[string]json.RawMessage
		if concerned && json.Unmarshal(*side, &members) == nil && members != nil {
			maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return slices.Contains(teamTexts, name) })
			*side, _ = json.Marshal(members) // of valid JSON
		}
		*side = bytes.ReplaceAll(*side, []byte(userID), []byte(by))
	}
}
