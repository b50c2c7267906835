package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/shared/computation/measure"
)

// The methods below replace a deleted user with a random ID and the registration's alias in the records that stay. They remove
// everything that the user wrote. Texts of organizers stay: reviews, baselines, and the output of their evaluators.

// Anonymize replaces user and team of the registration.
func (r *RegistrationItem) Anonymize(userID string) {
	r.UserID, r.TeamDraft = userID, TeamDraft{Team: r.Alias, Anonymous: true}
}

// Anonymize replaces user and team of the submission. Its program cannot be executed again.
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

// Anonymize replaces user and team of the run, which must have been evaluated. It removes the output of the execution.
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

// Anonymized reports whether the run belongs to a team whose user was deleted. No other team can have a name like an alias.
func (r *RunItem) Anonymized() bool { return r.Access.Alias != "" && r.Team == r.Access.Alias }

// Anonymize copies user and team from the evaluation's run, after these were replaced.
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

// teamTexts lists the members of Before and After that contain texts of teams.
var teamTexts = []string{"team", "affiliation", "title", "paperUrl", "label"}

// Names reports whether the entry names the user as actor or as somebody it concerns.
func (a *AuditEntry) Names(userID string) bool {
	return a.ActorID == userID || slices.Contains(a.UserIDs, userID)
}

// Anonymize replaces the user in the entry, and removes texts of the user. Nothing else changes an entry.
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
			*side, _ = json.Marshal(members) // always succeeds, because members holds valid JSON
		}
		*side = bytes.ReplaceAll(*side, []byte(userID), []byte(by))
	}
}
