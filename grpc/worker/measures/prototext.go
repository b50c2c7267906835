package measures

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/grpc/worker/measures/tirav1"

	"google.golang.org/protobuf/encoding/prototext"
)

// parsePrototext reads blocks `measure { key: "name" value: "number" }`. Other fields are left out.
func parsePrototext(content []byte, names []string) (*Evaluation, error) {
	var message tirav1.Evaluation
	if err := (prototext.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: maxNesting}).Unmarshal(content, &message); err != nil {
		return nil, errors.New(`it must consist of blocks measure { key: "name" value: "number" }, and none may be nested too deeply`)
	}
	e := &Evaluation{Measures: Values{}}
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

// maxNesting bounds the depth of nested blocks: more than any message needs, and less than a stack holds.
const maxNesting = 100
