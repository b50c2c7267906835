package offline

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"assay/functions/tools/conversion"
	"assay/functions/tools/detection"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/fields"
	"assay/shared/computation/measure/scoring"
)

// Foreign returns the command that converts a ranking or relevance judgments of another program into the format of TREC. It is empty for
// other files. kind is nil if it is not known.
func Foreign(kind *conversion.Kind, file scoring.File) (command string, err error) {
	found, from, ok, err := detection.ForeignRanking(kind, file)
	if err != nil || !ok {
		return "", err
	}
	qrels := ""
	if found == conversion.Qrels {
		qrels = " --qrels"
	}
	return fmt.Sprintf("assay convert %s%s --from %s --to %s -o %s", quotedPath(file.Name), qrels, from, found.Formats[0],
		quotedPath(unused(file.Name, ".trec", ".txt"))), nil
}

// ForeignValues returns the command that converts a file of values, such as labels, into the format. It is empty for files that have the
// format, and for files that cannot be converted. If anyNames, the file may have other names of fields. If the command would refuse the
// file, the error is a Refused with the faults.
func ForeignValues(
	ctx context.Context, kind measure.Kind, format measure.Format, anyNames bool, file scoring.File,
) (command string, err error) {
	v, found, err := detection.ForeignValues(ctx, kind, format, anyNames, file)
	if err = Refuse(found, err); err != nil || v == nil {
		return "", err
	}
	return fmt.Sprintf("assay convert %s --kind %s --from %s --id %s --value %s --to %s --to-id %s --to-value %s -o %s", quotedPath(file.Name),
		kind, v.From.Kind, Quoted(v.From.IDField), Quoted(v.From.ValueField),
		v.To.Kind, Quoted(v.To.IDField), Quoted(v.To.ValueField), quotedPath(unused(file.Name, ".converted", "."+v.To.Kind))), nil
}

// ForeignShape returns a Refused for a file of a known shape that assay convert does not read. It returns nil for other files.
func ForeignShape(format measure.Format, file scoring.File) error {
	head, err := detection.Beginning(file)
	if err != nil {
		return err
	}
	shape := fields.ShapeOf(head, fields.Expected{Kind: format.Kind, Names: []string{format.IDField, format.ValueField}})
	if shape.Fault == "" || shape.Converts {
		return nil
	}
	return &Refused{[]measure.Diagnostic{{Severity: measure.Error, File: file.Name, Message: shape.Fault}}}
}

// spanLine is a line of spans.
const spanLine = `{"id": "1", "spans": [{"start": 0, "end": 4, "type": "PER"}]}`

// RecognizedValues returns the format of a file of values to convert.
func RecognizedValues(kind measure.Kind, file scoring.File) (measure.Format, error) {
	if kind == measure.Spans {
		return measure.Format{}, fmt.Errorf("spans are not converted: write jsonl with lines such as %s, or conll", spanLine)
	}
	v, ok, err := detection.ValuesOf(kind, file)
	if err == nil && !ok {
		err = ForeignShape(measure.Format{Kind: measure.CSV, IDField: "id", ValueField: measure.EvaluatorOf(kind).ValueField}, file)
	}
	if err == nil && !ok {
		err = arrays(kind, file)
	}
	if err == nil && !ok {
		err = fmt.Errorf("%s has no recognized format: name it with --from, --id and --value", file.Name)
	}
	return v.Format, err
}

// arrays returns an error for a file whose lines are JSON arrays, such as the members of a cluster. It returns nil for other files.
func arrays(kind measure.Kind, file scoring.File) error {
	head, err := detection.Head(file)
	if err != nil || !bytes.HasPrefix(head, []byte{'['}) {
		return err
	}
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	expected := fmt.Sprintf(`like {"id": ..., %q: ...}`, measure.EvaluatorOf(kind).ValueField)
	_, fault := fields.Object(line, expected, func(_, _ []byte) string { return "" })
	return &Refused{[]measure.Diagnostic{{Severity: measure.Error, File: file.Name, Line: 1, Message: fault}}}
}

// unused returns the path of a file that does not exist, for another form of the file at the path.
func unused(path, form, ending string) string {
	base := strings.TrimSuffix(path, ".gz")
	base = strings.TrimSuffix(base, filepath.Ext(base))
	if path == "-" {
		base = "run"
	}
	other := base + form + ending
	for i := 2; ; i++ {
		if _, err := os.Lstat(other); err != nil {
			return other
		}
		other = fmt.Sprintf("%s%s-%d%s", base, form, i, ending)
	}
}

// quotedPath returns a path as an argument for a shell, which is no flag.
func quotedPath(path string) string {
	if strings.HasPrefix(path, "-") && path != "-" {
		path = "./" + path
	}
	return Quoted(path)
}

// plain matches texts that a shell does not change.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]+$`)

// Quoted returns a text as an argument for a shell.
func Quoted(text string) string {
	switch {
	case plain.MatchString(text):
		return text
	case runtime.GOOS == "windows":
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
