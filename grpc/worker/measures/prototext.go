package measures

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// evaluation is the message that evaluators for TIRA write: repeated measure, each with a key and a value that are strings.
var evaluation = describe()

func describe() protoreflect.MessageDescriptor {
	var described descriptorpb.FileDescriptorProto
	err := prototext.Unmarshal([]byte(`name: "evaluation.proto" package: "tira" syntax: "proto2"
		message_type {
			name: "Evaluation"
			field { name: "measure" number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".tira.Measure" }
		}
		message_type {
			name: "Measure"
			field { name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
			field { name: "value" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING }
		}`), &described)
	if err != nil {
		panic(err) // the description above is wrong
	}
	file, err := protodesc.NewFile(&described, nil)
	if err != nil {
		panic(err) // as above
	}
	return file.Messages().ByName("Evaluation")
}

// parsePrototext reads blocks `measure { key: "name" value: "number" }`. Other fields are left out.
func parsePrototext(content []byte, names []string) (*Evaluation, error) {
	message := dynamicpb.NewMessage(evaluation)
	if err := (prototext.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: maxNesting}).Unmarshal(content, message); err != nil {
		return nil, errors.New(`it must consist of blocks measure { key: "name" value: "number" }, and none may be nested too deeply`)
	}
	e := &Evaluation{Measures: Values{}}
	list := message.Get(evaluation.Fields().ByName("measure")).List()
	of := list.NewElement().Message().Descriptor().Fields()
	for i := range list.Len() {
		m := list.Get(i).Message()
		name, value := m.Get(of.ByName("key")).String(), strings.TrimSpace(m.Get(of.ByName("value")).String())
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

// maxNesting is how deep blocks may stand in each other: more than any message needs, and less than a stack holds.
const maxNesting = 100
