// Package measures reads the measures that an organizer's evaluator has written: evaluation.json, or evaluation.prototext as
// evaluators for TIRA write it. Evaluators read the truth, so no error quotes what they wrote.
package measures

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"assay/grpc/worker/failure"
)

// The files that are read: the first that exists.
const (
	JSON      = "evaluation.json"
	Prototext = "evaluation.prototext"
)

// Limits of these files. A message to the server has at most 4 MiB.
const (
	maxJSON      = 3 << 20
	maxPrototext = 256 << 10
)

// Values are measures by name. NaN is one that is not defined.
type Values map[string]float64

// Evaluation is what an evaluator found.
type Evaluation struct {
	Measures Values
	Topics   map[string]Values // where the evaluator has them
}

// Read reads the measures with the names out of the output folder of an evaluator. Others are left out.
func Read(folder *os.Root, names []string) (*Evaluation, error) {
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
