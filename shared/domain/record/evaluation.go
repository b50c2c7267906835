package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/storage/store"
)

// MaxEvaluations is the greatest number of evaluations kept for one run, one for each version of the ground truth (qrels, labels).
const MaxEvaluations = 40

// MaxTopicBytes is the size from which values per topic are in the object store instead of the table.
const MaxTopicBytes = 250 << 10

// Digests identify what an evaluation was computed from.
type Digests struct {
	Run        string `json:"run,omitempty" doc:"SHA-256 over the digests of the run's files; absent, as is the title, when the team is anonymous to the caller or the submission is private to others"`
	Truth      string `json:"truth,omitempty" doc:"HMAC-SHA-256 of plainTruth under a secret of the dataset: equal for equal truths of the dataset, and of no use to test a guess"`
	PlainTruth string `json:"plainTruth,omitempty" doc:"SHA-256 over the digests of the truth files; for organizers"`
}

// shownTo returns the digests that a caller with the roles sees.
func (d Digests) shownTo(roles access.Role) Digests {
	if roles&(access.Organizer|access.Admin) == 0 {
		d.PlainTruth = ""
	}
	return d
}

// EvaluatorUsed holds the settings that repeat an evaluation.
type EvaluatorUsed struct {
	Kind       string            `json:"kind" enum:"$evaluators,worker"`
	Version    string            `json:"version" doc:"version of the evaluator"`
	Settings   RunFormat         `json:"settings" doc:"how the files were read"`
	Signatures map[string]string `json:"signatures,omitempty" doc:"by the name of the measure: of BLEU and chrF what sacrebleu prints, with the number of references; of scores, which of two labels was taken as the positive one, where the measure does not say it"`
}

// Entry identifies a row of a leaderboard.
type Entry struct {
	Team           string  `json:"team" doc:"the team, or its alias"`
	RegistrationID string  `json:"registrationId,omitempty" doc:"the registration of the team; for its members and the organizers"`
	Affiliation    string  `json:"affiliation,omitempty" doc:"of the team; absent when the team is anonymous to the caller"`
	Title          string  `json:"title,omitempty" doc:"of the submission; absent, as are label, runTag and paperUrl, when the team is anonymous to the caller or the submission is private to others"`
	Label          string  `json:"label,omitempty" doc:"the team's name for the run"`
	RunTag         string  `json:"runTag,omitempty" doc:"last column of the first line of a run in the format trec-run"`
	PaperURL       string  `json:"paperUrl,omitempty" format:"uri" doc:"of a paper about the submission"`
	Private        bool    `json:"private,omitempty" doc:"whether the submission is private to others and the caller is one of them, who reads neither the run nor its files"`
	SubmittedAt    Instant `json:"submittedAt" doc:"when the run was submitted"`
	Baseline       bool    `json:"baseline" doc:"entered by the organizers, for comparison"`
	Final          bool    `json:"final,omitempty" doc:"whether the team marked the run as one of its final runs"`
	Audience       string  `json:"audience,omitempty" required:"true" enum:"everyone,registrants,team,organizers" doc:"who sees the entry: everyone; the registrants of a private task; team: the team and the organizers; organizers: only the organizers"`
	Hidden         Hidden  `json:"hidden,omitempty" enum:"blinded,unpublished,columns" doc:"why others do not see the entry: the run is blinded; it is not published; or columns: it is published, but no column of the dataset is shown to others now. Absent if others see the entry"`
	Published      bool    `json:"published,omitempty" doc:"whether the review of the run is published. A blinded run can be: others see its results as soon as it is unblinded, in the columns that the dataset shows them"`
	Alias          string  `json:"alias,omitempty" doc:"the name that others see instead of an anonymous team's; absent when the caller is one of them"`
}

// The views of a leaderboard that a caller can ask for: all entries that the caller may see, or only entries that everyone may see who
// sees the task.
const (
	CallerView = "caller"
	PublicView = "public"
)

// Hidden is the reason why only the team and the organizers see an entry, or only the organizers. It is empty if others see the entry.
type Hidden string

// The reasons. A blinded entry can be published or not. Otherwise, an entry that is not published is HiddenUnpublished.
const (
	HiddenBlinded     Hidden = "blinded"
	HiddenUnpublished Hidden = "unpublished"
	HiddenColumns     Hidden = "columns"
)

// Mark returns why others do not see the entry, in words. It is empty if they do.
func (e Entry) Mark() string {
	switch {
	case e.Hidden == HiddenBlinded && e.Published:
		return "published, blinded"
	case e.Hidden == HiddenUnpublished:
		return "not published"
	case e.Hidden == HiddenColumns:
		return "published, columns hidden"
	default:
		return string(e.Hidden)
	}
}

// Run distinguishes the entry from others of its team. It returns "" if the team wrote nothing about the run.
func (e Entry) Run() string {
	var parts []string
	for _, part := range []string{e.Title, e.Label, e.RunTag} {
		if part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " · ")
}

// Evaluation holds the measures of one run, computed by one evaluator against one version of the ground truth.
type Evaluation struct {
	Meta
	RunID        string  `json:"runId"`
	SubmissionID string  `json:"submissionId"`
	TaskID       string  `json:"taskId"`
	DatasetID    string  `json:"datasetId"`
	UserID       string  `json:"userId,omitempty" doc:"absent when the team is anonymous to the caller"`
	User         *Person `json:"user,omitempty" doc:"who that is; for organizers"`
	Entry
	Rank         int                           `json:"rank,omitempty" minimum:"1" doc:"place in a sorted list: the number of better entries plus one; equal values share a place. Absent if the measure that sorts is null: such entries come last, without a rank"`
	Evaluator    EvaluatorUsed                 `json:"evaluator"`
	TruthVersion int64                         `json:"truthVersion"`
	Columns      []string                      `json:"columns,omitempty" required:"true" doc:"the names of measures in the order of the leaderboard's columns"`
	Measures     map[string]*float64           `json:"measures" doc:"by name; null when a measure is not defined for the data"`
	Reasons      map[string]string             `json:"reasons,omitempty" doc:"why a measure is null and, as perTopic, why the values by topic or example are absent"`
	Digests      Digests                       `json:"digests"`
	PerTopic     map[string]map[string]float64 `json:"perTopic,omitempty" doc:"values by topic and name, or by the id of an example, of measures that are means over them, of up to 10,000 examples, or 1,000,000 topics times measures; only when a single evaluation is asked for. Those that tell the truth, as of labels and numbers, are for organizers"`
	Classes      *measure.Classes              `json:"classes,omitempty" doc:"counts of predictions for each label, of up to 50; only when a single evaluation is asked for, and for organizers"`

	// Runs counts the team's runs on a leaderboard that shows the best of each team. It is 0 if they were not counted.
	Runs int `json:"-"`
}

// EvaluationItem is a stored evaluation. Its PerTopic and Classes are empty, because Topics holds them. Its Columns are empty, because the
// rules of the dataset say how values are shown.
type EvaluationItem struct {
	Evaluation
	Access AccessAttributes `json:"access"`
	// Unlisted reports whether lists omit the evaluation, because they show the run's evaluation against another version or none. An
	// unlisted evaluation is only in the ranking of its version.
	Unlisted bool `json:"unlisted,omitempty"`
	// Measured holds the names of Measures in the order of the evaluator.
	Measured []string `json:"measured"`
}

// Entrant identifies the team where only the best run of each team counts. It is the alias. Baselines without a registration have no
// team, so each of their submissions is its own entrant.
func (e *EvaluationItem) Entrant() string { return cmp.Or(e.Access.Alias, e.SubmissionID) }

// Key implements Record.
func (e *EvaluationItem) Key() store.Key { return EvaluationKey(e.ID) }

// EvaluationKey returns the key of the evaluation.
func EvaluationKey(id string) store.Key { return keyOf(KindEvaluation, id, "EVALUATION") }

// EvaluationID returns the ID of the evaluation with the key of EvaluationKey.
func EvaluationID(k store.Key) string {
	return strings.TrimPrefix(k.Partition, string(KindEvaluation)+"#")
}

// Indexes implements Record.
func (e *EvaluationItem) Indexes() [store.NumIndexes]store.Key {
	s := e.Scope()
	x := indexes{}.with(ByWork, RankPartition(e.DatasetID, e.TruthVersion, s.Audience), e.RankKey())
	if e.Unlisted {
		return x
	}
	x = x.in(KindDataset, e.DatasetID, KindEvaluation, s.Audience, e.ID)
	return x.listed(KindEvaluation, e.ID, s, e.Access.Anonymous)
}

// Scope returns the scope of the evaluation.
func (e *EvaluationItem) Scope() access.Scope {
	return e.Access.scope(e.TaskID, e.UserID, e.Access.evaluationAudience())
}

// WidestScope returns the scope of an evaluation that everyone sees. Most callers see such evaluations.
func (*EvaluationItem) WidestScope() access.Scope { return access.Scope{Audience: access.Everyone} }

// RankKey orders evaluations by the first measure of the evaluator, best first and undefined values last. Equal values are in the order of
// submission. Of the measures of organizers' own evaluators, higher values come first. The key ends with the entrant, so that the runs of
// a team can be counted without decoding them.
func (e *EvaluationItem) RankKey() string {
	var value *float64
	lower := false
	if len(e.Measured) > 0 {
		value = e.Measures[e.Measured[0]]
		lower = (&Evaluator{Kind: e.Evaluator.Kind}).lessIsBetter(e.Measured[0])
	}
	return rankKey(value, lower) + "#" + e.SubmissionID + "#" + e.RunID + "#" + e.Entrant()
}

// RanksBy reports whether RankKey has the order of a column with the key and direction.
func (e *Evaluator) RanksBy(key string, lowerIsBetter bool) bool {
	return len(e.Measures) > 0 && e.Measures[0] == key && e.lessIsBetter(key) == lowerIsBetter
}

// NoScore begins the rank keys of evaluations without a value of the first measure. They come last and have no rank.
const NoScore = "~"

// rankKey maps a value to a string; the order of such strings is from best to worst. It takes the bits of the IEEE 754 number. Flipping
// the sign bit of positive numbers and all bits of negative numbers makes them ascend with the value. If higher values are better, all
// bits are flipped again.
func rankKey(value *float64, lowerIsBetter bool) string {
	if value == nil || math.IsNaN(*value) {
		return NoScore
	}
	bits := math.Float64bits(*value + 0) // -0 becomes 0
	if bits>>63 == 0 {
		bits ^= 1 << 63
	} else {
		bits = ^bits
	}
	if !lowerIsBetter {
		bits = ^bits
	}
	return fmt.Sprintf("%016x", bits)
}

// Topics holds the values per topic of an evaluation, or their key in the object store, and the predictions for each label.
type Topics struct {
	Meta      // ID is the ID of the evaluation
	PerTopic  map[string]map[string]float64
	ObjectKey string
	Classes   *measure.Classes `json:",omitempty"`
}

// MaxTopicName is the greatest length of a topic's name that an organizer's evaluator reports, in bytes.
const MaxTopicName = 200

// IsTopicName reports whether an organizer's evaluator may report the topic's name. Pages, tables and terminals show the name in a
// line.
func IsTopicName(name string) bool { return len(name) <= MaxTopicName && checkName("", name) == nil }

// ObjectKeys returns the key of the object with the values, if one exists.
func (t *Topics) ObjectKeys() []string {
	return slices.DeleteFunc([]string{t.ObjectKey}, func(key string) bool { return key == "" })
}

// Key implements Record.
func (t *Topics) Key() store.Key { return TopicsKey(t.ID) }

// TopicsKey returns the key of an evaluation's Topics.
func TopicsKey(id string) store.Key { return keyOf(KindEvaluation, id, "TOPICS") }
