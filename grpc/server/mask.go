package server

import (
	"strings"

	"assay/grpc/assayv1"
	"assay/shared/problem"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// mask is a read mask (AIP-157): the selected fields, each with the mask of its own fields. Nil selects all.
type mask map[protoreflect.Name]mask

func checkMask(in *fieldmaskpb.FieldMask) (mask, problem.Fields) {
	if len(in.GetPaths()) == 0 || len(in.GetPaths()) == 1 && in.GetPaths()[0] == "*" {
		return nil, nil
	}
	m := mask{}
	for _, path := range in.GetPaths() {
		if one := (&fieldmaskpb.FieldMask{Paths: []string{path}}); !one.IsValid(&assayv1.Run{}) {
			return nil, []problem.Field{{Pointer: "/read_mask", Detail: "has " + quote(path) + ", which is no field of a run"}}
		}
		m.add(strings.Split(path, "."))
	}
	return m, nil
}

func (m mask) add(path []string) {
	name := protoreflect.Name(path[0])
	if _, there := m[name]; !there {
		m[name] = mask{}
	}
	if len(path) == 1 {
		m[name] = nil // all of it
	} else if m[name] != nil {
		m[name].add(path[1:])
	}
}

// apply clears the fields of the run that are not selected.
func (m mask) apply(run *assayv1.Run) { m.clear(run.ProtoReflect()) }

func (m mask) clear(msg protoreflect.Message) {
	if m == nil {
		return
	}
	msg.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		sub, selected := m[f.Name()]
		switch {
		case !selected:
			msg.Clear(f)
		case sub != nil:
			sub.clear(v.Message())
		}
		return true
	})
}
