// Package measures reads the measures that an organizer's evaluator wrote, from evaluation.json or from evaluation.prototext, the format
// of evaluators for TIRA. Evaluators read the ground truth, so errors do not quote their output.
package measures

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"assay/grpc/worker/failure"
	"assay/grpc/worker/measures/tirav1"

	"google.golang.org/protobuf/encoding/prototext"
)

// Names of the files. Read reads the first one that exists.
const (
	JSON      = "evaluation.json"
	Prototext = "evaluation.prototext"
)

// Limits in bytes. A message to the server has at most 4 MiB.
const (
	maxJSON      = 3 << 20
	maxPrototext = 256 << 10
)

// Values maps names of measures to values. NaN means that the measure is undefined.
type Values map[string]float64

// Reported holds the measures that an evaluator reported.
type Reported struct {
	Measures Values
	Topics   map[string]Values // by topic; empty if the evaluator reports none
}

// Read reads the named measures from the output folder of an evaluator. It ignores other measures.
func Read(folder *os.Root, names []string) (*Reported, error) {
	content, err := read(folder, JSON, maxJSON)
	file, parse := JSON, parseJSON
	if errors.Is(err, fs.ErrNotExist) {
		content, err = read(folder, Prototext, maxPrototext)
		file, parse = Prototext, parsePrototext
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure.New("The evaluator ended well but wrote neither %s nor %s into its output folder.", JSON, Prototext)
	}
	if err != nil {
		return nil, err
	}
	e, err := parse(content, names)
	if err != nil {
		return nil, failure.New("The evaluator wrote an %s that cannot be read: %s", file, err)
	}
	missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, ok := e.Measures[name]
		return ok
	})
	if len(missing) > 0 {
		return nil, failure.New("The %s of the evaluator lacks measures that the dataset names: %s.", file, strings.Join(missing, ", "))
	}
	return e, nil
}

// read reads a regular file.
func read(folder *os.Root, name string, most int64) ([]byte, error) {
	info, err := folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, failure.New("The %s of the evaluator must be a file, and no link.", name)
	}
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > most {
		return nil, failure.New("The %s of the evaluator has more than %d bytes.", name, most)
	}
	return content, nil
}

// parseJSON parses an object of names and numbers. The object may instead have a member measures with such an object, and a member
// topics with such an object for each topic. null means that the measure is undefined.
func parseJSON(content []byte, names []string) (*Reported, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(content, &members); err != nil || members == nil {
		return nil, explain(content, err)
	}
	nested, ok := members["measures"]
	if !ok || !isObject(nested) {
		values, err := parseValues(members, names)
		if err != nil {
			return nil, err
		}
		return &Reported{Measures: values}, nil
	}
	var of map[string]json.RawMessage
	var byTopic map[string]map[string]json.RawMessage
	if err := json.Unmarshal(nested, &of); err != nil {
		return nil, errors.New("its member measures must be an object of names and numbers")
	}
	if topics, ok := members["topics"]; ok {
		if err := json.Unmarshal(topics, &byTopic); err != nil {
			return nil, errors.New("its member topics must be an object of topics, each with an object of names and numbers")
		}
	}
	values, err := parseValues(of, names)
	if err != nil {
		return nil, err
	}
	e := &Reported{Measures: values, Topics: make(map[string]Values, len(byTopic))}
	for topic, of := range byTopic {
		if e.Topics[topic], err = parseValues(of, names); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func isObject(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

func parseValues(members map[string]json.RawMessage, names []string) (Values, error) {
	values := make(Values, len(names))
	for name, raw := range members {
		if !slices.Contains(names, name) {
			continue
		}
		v := math.NaN() // null leaves v unchanged
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, fmt.Errorf("the measure %s must be a number, or null when it is not defined", name)
		}
		values[name] = v
	}
	return values, nil
}

// explain returns an error with the line at which a file is not a JSON object. It does not quote the file.
func explain(content []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return errors.New("it must be a JSON object")
	}
	line := 1 + bytes.Count(content[:min(syntax.Offset, int64(len(content)))], []byte("\n"))
	return fmt.Errorf("it is not JSON (RFC 8259) from line %d on; a measure that is not defined must be null, not NaN", line)
}

// parsePrototext parses blocks `measure { key: "name" value: "number" }`. It ignores other fields.
func parsePrototext(content []byte, names []string) (*Reported, error) {
	var message tirav1.Evaluation
	if err := (prototext.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: maxNesting}).Unmarshal(content, &message); err != nil {
		return nil, errors.New(`it must consist of blocks measure { key: "name" value: "number" }, and none may be nested too deeply`)
	}
	e := &Reported{Measures: Values{}}
	for _, m := range message.GetMeasure() {
		name, value := m.GetKey(), strings.TrimSpace(m.GetValue())
		if !slices.Contains(names, name) {
			continue
		}
		if _, twice := e.Measures[name]; twice {
			return nil, fmt.Errorf("it has the measure %s more than once", name)
		}
		v, err := parseNumber(name, value)
		if err != nil {
			return nil, err
		}
		e.Measures[name] = v
	}
	return e, nil
}

func parseNumber(name, value string) (float64, error) {
	if value == "" || value == "null" || value == "None" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0, fmt.Errorf("the value of the measure %s must be a number", name)
	}
	if math.IsInf(v, 0) {
		return 0, fmt.Errorf("the measure %s is infinite, which is no value to compare runs by", name)
	}
	return v, nil
}

// maxNesting bounds the depth of nested blocks. Messages need less, and the stack allows more.
const maxNesting = 100
