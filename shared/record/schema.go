package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Schema is the number of the form in which this build stores records: which members they have, and what those mean. It is stored with
// each record. A record of another schema is refused.
const Schema = 1

// schemaMember begins every stored record, in place of the brace that opens the object of its members.
var schemaMember = fmt.Sprintf(`{"schema":%d,`, Schema)

// newer is a record with members that this build does not know: the objects of all members as it was read, and of those known.
type newer struct{ stored, known json.RawMessage }

// encode returns the form in which r is stored: its members in JSON behind the schema.
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

// decode reads a stored record into r. Members that this build does not know, which a later build of the same schema has stored, stay
// when r is stored again.
func decode(stored json.RawMessage, r Record) error {
	if !bytes.HasPrefix(stored, []byte(schemaMember)) {
		return fmt.Errorf("the record does not begin with %s, like those of schema %d", schemaMember, Schema)
	}
	r.meta().newer = nil
	members := io.MultiReader(strings.NewReader("{"), bytes.NewReader(stored[len(schemaMember):]))
	d := json.NewDecoder(members)
	d.DisallowUnknownFields()
	if d.Decode(r) == nil {
		return nil
	}
	all := slices.Concat([]byte("{"), stored[len(schemaMember):])
	if err := json.Unmarshal(all, r); err != nil {
		return err
	}
	known, err := encodeJSON("", r)
	r.meta().newer = &newer{all, known}
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
