package record

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Schema is the version of the form in which this build stores records: which members they have, and what those mean. It
// grows whenever a member is added, renamed, removed or gets another meaning, and is stored with each record. Records of
// earlier schemas are read too. Of a record of a later schema, which a newer build has written to the same
// table, the members that this build does not know stay as they are.
const Schema = 2

// schemaMember is what every record that this build stores begins with.
var schemaMember = fmt.Sprintf(`{"schema":%d`, Schema)

// newer is a record of a later schema as it was read, and what this build knows of it.
type newer struct{ stored, known json.RawMessage }

// encode returns the form in which r is stored: the object that it is in JSON, which begins with the schema.
func encode(r Record) (json.RawMessage, error) {
	data, err := encodeJSON(schemaMember, r)
	if err != nil {
		return nil, fmt.Errorf("record: encode %s: %w", r.Key().Partition, err)
	}
	data[len(schemaMember)] = ',' // in place of the brace that opens the object; no record is empty
	if n := r.meta().newer; n != nil {
		return merge(n.stored, n.known, data)
	}
	return data, nil
}

// encodeJSON returns the prefix and then v in JSON, without what HTML needs, which would make a text of < six times as long as it
// was allowed to be.
func encodeJSON(prefix string, v any) (json.RawMessage, error) {
	var data bytes.Buffer
	data.WriteString(prefix)
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(data.Bytes(), []byte("\n")), err
}

// decode reads what this build, an earlier or a newer one has stored into r.
func decode(stored json.RawMessage, r Record) error {
	schema := Schema
	if !bytes.HasPrefix(stored, []byte(schemaMember+",")) {
		var of struct{ Schema int }
		if err := json.Unmarshal(stored, &of); err != nil {
			return err
		}
		schema = of.Schema
	}
	r.meta().newer = nil
	if err := json.Unmarshal(stored, r); err != nil || schema == Schema {
		return err
	}
	if schema < Schema {
		return upgrade(stored, r)
	}
	known, err := encode(r)
	r.meta().newer = &newer{stored, known}
	return err
}

// merge applies to stored what differs between known and changed, which have only the members that this build knows: the others
// stay as they are, also in objects within, and in lists that have as many elements as before.
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

// decodesInto decodes a value into a map or a list, and reports whether it is an object or an array.
func decodesInto[T map[string]json.RawMessage | []json.RawMessage](value json.RawMessage, into *T) bool {
	return json.Unmarshal(value, into) == nil && *into != nil
}
