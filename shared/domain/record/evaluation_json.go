package record

import (
	"math"
	"slices"
	"strconv"
)

// AppendJSON appends the evaluation as encoding/json encodes it without escaping HTML, in a fifth of the time. Leaderboards are the most
// wanted lists, and encoding takes most of the time of a page.
func (e *Evaluation) AppendJSON(b []byte) ([]byte, error) {
	o := object{text: append(b, '{')}
	o.string("id", e.ID)
	o.instant("createdAt", e.CreatedAt)
	o.instant("updatedAt", e.UpdatedAt)
	o.int("version", e.Version)
	o.string("runId", e.RunID)
	o.string("submissionId", e.SubmissionID)
	o.string("taskId", e.TaskID)
	o.string("datasetId", e.DatasetID)
	o.optional("userId", e.UserID)
	if e.User != nil {
		o.value("user", e.User)
	}
	e.Entry.appendTo(&o)
	if e.Rank != 0 {
		o.int("rank", int64(e.Rank))
	}
	o.member("evaluator")
	e.Evaluator.appendTo(&o)
	o.int("truthVersion", e.TruthVersion)
	if len(e.Columns) > 0 {
		o.strings("columns", e.Columns)
	}
	o.measures("measures", e.Measures)
	if len(e.Reasons) > 0 {
		o.value("reasons", e.Reasons)
	}
	o.member("digests")
	e.Digests.appendTo(&o)
	if len(e.PerTopic) > 0 {
		o.value("perTopic", e.PerTopic)
	}
	if e.Classes != nil {
		o.value("classes", e.Classes)
	}
	return append(o.text, '}'), o.err
}

func (e *Entry) appendTo(o *object) {
	o.string("team", e.Team)
	o.optional("registrationId", e.RegistrationID)
	o.optional("affiliation", e.Affiliation)
	o.optional("title", e.Title)
	o.optional("label", e.Label)
	o.optional("runTag", e.RunTag)
	o.optional("paperUrl", e.PaperURL)
	if e.Private {
		o.bool("private", true)
	}
	o.instant("submittedAt", e.SubmittedAt)
	o.bool("baseline", e.Baseline)
	if e.Final {
		o.bool("final", true)
	}
	o.optional("audience", e.Audience)
	o.optional("hidden", string(e.Hidden))
	if e.Published {
		o.bool("published", true)
	}
	o.optional("alias", e.Alias)
}

func (e *EvaluatorUsed) appendTo(o *object) {
	o.open()
	o.string("kind", e.Kind)
	o.string("version", e.Version)
	o.member("settings")
	o.open()
	o.string("kind", e.Settings.Kind)
	o.optional("idField", e.Settings.IDField)
	o.optional("valueField", e.Settings.ValueField)
	o.optional("separator", e.Settings.Separator)
	o.close()
	if len(e.Signatures) > 0 {
		o.value("signatures", e.Signatures)
	}
	o.close()
}

func (d *Digests) appendTo(o *object) {
	o.open()
	o.optional("run", d.Run)
	o.optional("truth", d.Truth)
	o.optional("plainTruth", d.PlainTruth)
	o.close()
}

// object appends the members of JSON objects to a text. The first error ends up in err.
type object struct {
	text []byte
	err  error
}

func (o *object) open() { o.text = append(o.text, '{') }

func (o *object) close() { o.text = append(o.text, '}') }

// member begins a member. Its name needs no escapes.
func (o *object) member(name string) {
	if o.text[len(o.text)-1] != '{' {
		o.text = append(o.text, ',')
	}
	o.text = append(o.text, '"')
	o.text = append(o.text, name...)
	o.text = append(o.text, '"', ':')
}

func (o *object) bool(name string, v bool) {
	o.member(name)
	o.text = strconv.AppendBool(o.text, v)
}

func (o *object) int(name string, v int64) {
	o.member(name)
	o.text = strconv.AppendInt(o.text, v, 10)
}

func (o *object) instant(name string, v Instant) {
	o.member(name)
	o.text = v.appendJSON(o.text)
}

func (o *object) string(name, v string) {
	o.member(name)
	o.quote(v)
}

// optional appends the member unless the text is empty.
func (o *object) optional(name, v string) {
	if v != "" {
		o.string(name, v)
	}
}

func (o *object) strings(name string, values []string) {
	o.member(name)
	o.text = append(o.text, '[')
	for i, v := range values {
		if i > 0 {
			o.text = append(o.text, ',')
		}
		o.quote(v)
	}
	o.text = append(o.text, ']')
}

// value appends any value. It takes as long as encoding/json.
func (o *object) value(name string, v any) {
	o.member(name)
	o.encode(v)
}

func (o *object) encode(v any) {
	encoded, err := encodeJSON("", v)
	if o.err == nil {
		o.err = err
	}
	o.text = append(o.text, encoded...)
}

// quote appends a text. Texts of printable ASCII without quotes and backslashes need no escapes.
func (o *object) quote(text string) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			o.encode(text)
			return
		}
	}
	o.text = append(o.text, '"')
	o.text = append(o.text, text...)
	o.text = append(o.text, '"')
}

// measures appends values in the order of their names.
func (o *object) measures(name string, values map[string]*float64) {
	if values == nil {
		o.value(name, nil)
		return
	}
	o.member(name)
	o.open()
	var few [16]string // enough for most evaluators, and needs no allocation
	names := few[:0]
	for measure := range values {
		names = append(names, measure)
	}
	slices.Sort(names)
	for _, measure := range names {
		if o.text[len(o.text)-1] != '{' {
			o.text = append(o.text, ',')
		}
		o.quote(measure)
		o.text = append(o.text, ':')
		if v := values[measure]; v != nil {
			o.float(*v)
		} else {
			o.text = append(o.text, "null"...)
		}
	}
	o.close()
}

// float appends a number. Numbers of usual sizes need no exponent.
func (o *object) float(v float64) {
	if size := math.Abs(v); size != 0 && (size < 1e-6 || size >= 1e21) || math.IsNaN(v) {
		o.encode(v)
		return
	}
	o.text = strconv.AppendFloat(o.text, v, 'f', -1, 64)
}
