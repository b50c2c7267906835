package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Schema is the number of the form in which this build stores records: their members, and the meaning of these. Each stored record
// begins with the number. Records with another number are refused.
const Schema = 1

// schemaMember begins every stored record. It replaces the opening brace of the JSON object that holds the record's members.
var schemaMember = fmt.Sprintf(`{"schema":%d,`, Schema)

// newer belongs to a record with members that this build does not know. It holds two JSON objects: the record as stored, with all
// members, and the record as this build encoded it after reading, with only the known members. The two differ in the unknown members.
type newer struct{ stored, known json.RawMessage }

// encode returns the stored form of r: a JSON object with the schema, then the members of r. Unknown members that r was read with are
// kept.
func encode(r Record) (json.RawMessage, error) {
	before := len(schemaMember) - 1
	data, err := encodeJSON(schemaMember[:before], r)
	if n := r.meta().newer; err == nil && n != nil {
		var merged json.RawMessage
		merged, err = merge(n.stored, n.known, data[before:])
		data = append(data[:before], merged...)
	}
	if err != nil {
		return nil, fmt.Errorf("record: encode %s: %w", r.Key().Partition, err)
	}
	data[before] = ',' // no record is empty
	return data, nil
}

// encodeJSON returns the prefix followed by the JSON of v. It leaves <, > and & unescaped: their escapes are six times as long, and
// could make a text of the allowed length too long to store.
func encodeJSON(prefix string, v any) (json.RawMessage, error) {
	var data bytes.Buffer
	data.WriteString(prefix)
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(data.Bytes(), []byte("\n")), err
}

// The options of decode. With them, package jsonv2 decodes a record like encoding/json does, in less than half the time. In contrast to
// encoding/json, it stops at the first error, and does not check the syntax before it decodes.
var (
	allMembers   = jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))
	knownMembers = jsonv2.JoinOptions(allMembers, jsonv2.RejectUnknownMembers(true))
)

// decode reads a stored record into r. Members that this build does not know come from later builds of the same schema. r remembers
// them in newer, and encode stores them again.
func decode(stored json.RawMessage, r Record) error {
	if !bytes.HasPrefix(stored, []byte(schemaMember)) {
		return fmt.Errorf("the record does not begin with %s, like those of schema %d", schemaMember, Schema)
	}
	r.meta().newer = nil
	all := slices.Concat([]byte("{"), stored[len(schemaMember):])
	if jsonv2.Unmarshal(all, r, knownMembers) == nil {
		return nil
	}
	if err := jsonv2.Unmarshal(all, r, allMembers); err != nil {
		return err
	}
	known, err := encodeJSON("", r)
	r.meta().newer = &newer{all, known}
	return err
}

// merge returns stored with the changes that lead from known to changed. All three are one JSON value: stored has all members, known
// and changed have only the members that this build knows.
//
//	values                                           result
//	known equals changed                             stored, unchanged
//	all three are objects                            stored, without the members that changed lacks and known has; the members of
//	                                                 changed are merged one by one
//	all three are arrays of equal length             stored, with its elements merged one by one
//	anything else                                    changed; unknown members within it are lost
func merge(stored, known, changed json.RawMessage) (merged json.RawMessage, err error) {
	if bytes.Equal(known, changed) {
		return stored, nil
	}
	var object, knownObject, changedObject map[string]json.RawMessage
	if decodesInto(stored, &object) && decodesInto(known, &knownObject) && decodesInto(changed, &changedObject) {
		for name := range knownObject {
			if _, stays := changedObject[name]; !stays {
				delete(object, name)
			}
		}
		for name, value := range changedObject {
			if object[name], err = merge(object[name], knownObject[name], value); err != nil {
				return nil, err
			}
		}
		return encodeJSON("", object)
	}
	var list, knownList, changedList []json.RawMessage
	if decodesInto(stored, &list) && decodesInto(known, &knownList) && decodesInto(changed, &changedList) && len(list) == len(changedList) &&
		len(list) == len(knownList) {
		for i, element := range changedList {
			if list[i], err = merge(list[i], knownList[i], element); err != nil {
				return nil, err
			}
		}
		return encodeJSON("", list)
	}
	return changed, nil
}

// decodesInto decodes a JSON value into a map or a slice. It reports whether the value is an object or an array, respectively.
func decodesInto[T map[string]json.RawMessage | []json.RawMessage](value json.RawMessage, into *T) bool {
	return json.Unmarshal(value, into) == nil && *into != nil
}
