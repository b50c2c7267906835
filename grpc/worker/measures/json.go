package measures

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// parseJSON reads an object of names and numbers, or one with such an object as its member measures and, by topic, more of
// them as its member topics. A null is a measure that is not defined.
func parseJSON(content []byte, names []string) (*Evaluation, error) {
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
		return &Evaluation{Measures: values}, nil
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
	e := &Evaluation{Measures: values, Topics: make(map[string]Values, len(byTopic))}
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
		v := math.NaN() // which null leaves as it is
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, fmt.Errorf("the measure %s must be a number, or null when it is not defined", name)
		}
		values[name] = v
	}
	return values, nil
}

// explain says where a file is not a JSON object, without quoting it.
func explain(content []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return errors.New("it must be a JSON object")
	}
	line := 1 + bytes.Count(content[:min(syntax.Offset, int64(len(content)))], []byte("\n"))
	return fmt.Errorf("it is not JSON (RFC 8259) from line %d on; a measure that is not defined must be null, not NaN", line)
}
