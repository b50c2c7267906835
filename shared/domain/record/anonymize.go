package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assay/shared/computation/measure"
)

// The methods below replace a deleted user with a random ID and the registration's alias in the records that stay. They remove
// everything that the user wrote. Texts of organizers stay: reviews, baselines, and the output of their evaluators.

// Anonymize replaces user and team of the registration.
func (r *RegistrationItem) Anonymize(userID string) {
	r.UserID = userID
	r.TeamDraft = TeamDraft{Team: r.Alias, Anonymous: true}
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
		e.Label = ""
		e.RunTag = ""
	}
}

func (s *AccessAttributes) anonymize() {
	s.Anonymous = true
	s.Affiliation = ""
	s.Title = ""
	s.PaperURL = ""
}

// teamTexts lists the members of Before and After that contain texts of teams.
var teamTexts = []string{"team", "affiliation", "title", "paperUrl", "label", "runTag"}

// Names reports whether the entry names the user as actor or as somebody it concerns.
func (a *AuditEntry) Names(userID string) bool {
	return a.ActorID == userID || slices.Contains(a.UserIDs, userID)
}

// Anonymize replaces the user in the entry, and removes texts of the user. Nothing else changes an entry.
func (a *AuditEntry) Anonymize(userID, by string) {
	if slices.Contains(a.UserIDs, userID) {
		a.Before = withoutTeamTexts(a.Before)
		a.After = withoutTeamTexts(a.After)
	}
	a.Before = bytes.ReplaceAll(a.Before, []byte(userID), []byte(by))
	a.After = bytes.ReplaceAll(a.After, []byte(userID), []byte(by))
	a.Subject = strings.ReplaceAll(a.Subject, userID, by)
	if a.ActorID == userID {
		a.ActorID = by
	}
	for i, id := range a.UserIDs {
		if id == userID {
			a.UserIDs[i] = by
		}
	}
}

// withoutTeamTexts returns an object without the members that contain texts of teams. It returns values of other types unchanged.
func withoutTeamTexts(value json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil || members == nil {
		return value
	}
	for _, name := range teamTexts {
		delete(members, name)
	}
	rest, _ := json.Marshal(members) // always succeeds, because members holds valid JSON
	return rest
}
