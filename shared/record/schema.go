package record

import (
	"bytes"
	"encoding/json"
	"fmt"

	"assay/shared/measure"
)

// Schema is the version of the form in which this build stores records: which members they have, and what those mean. It
// grows whenever a member is added, renamed, removed or gets another meaning, and is stored with each record. Records of
// earlier schemas are read too. Of a record of a later schema, which a newer build has written to the same
// table, the members that this build does not know stay as they are.
const Schema = 15

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
		return upgrade(schema, stored, r)
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

// upgrade gives r, which was read from a record of an earlier schema, the members that had another form there. Later ones only added:
// schema 3 access tokens, and whether a user is an administrator; schema 4 the deletion of a user; schema 5 teams of several members and
// what goes with them; schema 6 that runs and evaluations tell whether scores of their dataset wait for a close, and
// how many files there are; schema 7 what waits for organizers; schema 8 quotas of single users, and where these are listed by storage;
// schema 9 counts of tasks in parts; schema 10 extensions of leases; schema 11 the
// separator of labels; schema 12 what was predicted for each label; schema 14 the shape of truths; schema 15 payers, the places of
// their runs, whether anything arrived at a webhook, confirmed addresses, and when an address was last sent an e-mail.
func upgrade(schema int, stored json.RawMessage, r Record) error {
	if run, ok := r.(*RunItem); ok && schema < 7 {
		run.Reviewed = run.State.Ended()
	}
	if h, ok := r.(*WebhookItem); ok && schema < 15 {
		h.Proven = h.Sequence > 0 && h.FailingSince == nil
	}
	if schema > 4 {
		return nil
	}
	var old earlier
	parse := schema <= 1
	switch r.(type) {
	case *SubmissionItem:
		parse = true
	case *RunItem, *EvaluationItem, *DatasetItem, *TaskItem, *RegistrationItem, *DeletedTask, *Organizer:
	default:
		return nil
	}
	if parse {
		if err := json.Unmarshal(stored, &old); err != nil {
			return err
		}
	}
	if schema <= 1 {
		old.upgrade(r)
	}
	switch r := r.(type) {
	case *SubmissionItem:
		r.Access.RegistrationID = old.RegistrationID
	case *RegistrationItem:
		r.Members = []string{r.UserID}
	case *Organizer:
		r.Owners = r.Members
	}
	return nil
}

// upgrade gives r the members that had another form in schema 1.
func (old *earlier) upgrade(r Record) {
	switch r := r.(type) {
	case *RunItem:
		r.Access = old.Access
		old.markSafe(r.Diagnostics)
	case *SubmissionItem:
		r.Access = old.Access
	case *EvaluationItem:
		r.Access = old.Access
	case *DatasetItem:
		old.markSafe(r.Diagnostics)
		r.PendingWork, r.DeletedBy = old.ofDataset(), old.Deletion.By
	case *TaskItem:
		r.PendingWork = old.Propagation.work(PropagateTask, ConfirmingPass)
		if old.Deleting {
			r.PendingWork = old.Propagation.work(DeleteTask, Decided)
		}
	case *RegistrationItem:
		r.PendingWork = old.Propagation.work(PropagateRegistration, ConfirmingPass)
	case *DeletedTask:
		r.PendingWork = NewPendingWork(SweepDeletedTask, old.Due.Time)
	}
}

// earlier has the members of records of earlier schemas that were renamed or replaced: by schema 5 that of submissions, by schema 2 the
// others.
type earlier struct {
	RegistrationID string `json:"registrationId"`

	Access      AccessAttributes `json:"standing"`
	Diagnostics []struct {
		Safe bool `json:"discreet"`
	} `json:"diagnostics"`
	Deleting     bool   `json:"deleting"`
	Propagation  *pass1 `json:"follow"`
	Acceptance   *pass1 `json:"adopt"`
	Reevaluation *pass1 `json:"requeue"`
	Deletion     struct {
		At *Instant `json:"at"`
		By string   `json:"by"`
	} `json:"deletion"`
	Due Instant
}

// pass1 was pending work: At is now NotBefore, and Passes counted what now are states.
type pass1 struct {
	At     Instant `json:"at"`
	Passes int     `json:"passes"`
}

// work is in its first state when nothing has been counted, else in the state later.
func (f *pass1) work(kind PendingKind, later PendingState) *PendingWork {
	if f == nil {
		return nil
	}
	w := NewPendingWork(kind, f.At.Time)
	if f.Passes > 0 {
		w.State = later
	}
	return w
}

func (old *earlier) ofDataset() *PendingWork {
	switch {
	case old.Deletion.At != nil:
		return NewPendingWork(DeleteDataset, old.Deletion.At.Time)
	case old.Acceptance != nil:
		return old.Acceptance.work(AcceptTruth, "")
	default:
		return old.Reevaluation.work(Reevaluate, ConfirmingPass)
	}
}

func (old *earlier) markSafe(diagnostics []measure.Diagnostic) {
	for i := range diagnostics {
		diagnostics[i].SafeWhileBlinded = old.Diagnostics[i].Safe
	}
}
