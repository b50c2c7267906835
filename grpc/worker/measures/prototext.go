package measures

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// evaluation is the message that evaluators for TIRA write: repeated measure, each with a key and a value that are strings.
var evaluation = describe()

func describe() protoreflect.MessageDescriptor {
	field := func(name string, number int32, label descriptorpb.FieldDescriptorProto_Label, kind descriptorpb.FieldDescriptorProto_Type, of string) *descriptorpb.FieldDescriptorProto {
		f := &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Label: &label, Type: &kind}
		if of != "" {
			f.TypeName = &of
		}
		return f
	}
	const (
		one    = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
		many   = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
		text   = descriptorpb.FieldDescriptorProto_TYPE_STRING
		nested = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE
	)
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("evaluation.proto"), Package: proto.String("tira"), Syntax: proto.String("proto2"),
		MessageType: []*descriptorpb.DescriptorProto{
			{Name: proto.String("Evaluation"), Field: []*descriptorpb.FieldDescriptorProto{field("measure", 1, many, nested, ".tira.Measure")}},
			{Name: proto.String("Measure"), Field: []*descriptorpb.FieldDescriptorProto{field("key", 1, one, text, ""), field("value", 2, one, text, "")}},
		},
	}, nil)
	if err != nil {
		panic(err) // the description above is wrong
	}
	return file.Messages().ByName("Evaluation")
}

// parsePrototext reads blocks `measure { key: "name" value: "number" }`. Other fields are left out.
func parsePrototext(content []byte, names []string) (*Evaluation, error) {
	if nesting(content) > maxNesting {
		return nil, errors.New("its blocks are nested too deep")
	}
	message := dynamicpb.NewMessage(evaluation)
	if err := (prototext.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(content, message); err != nil {
		return nil, errors.New(`it must consist of blocks measure { key: "name" value: "number" }`)
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

// nesting is how many brackets are open at once, at most; those within strings are counted too.
func nesting(content []byte) int {
	open, most := 0, 0
	for _, b := range content {
		switch b {
		case '{', '<', '[':
			open++
			most = max(most, open)
		case '}', '>', ']':
			open--
		}
	}
	return most
}
