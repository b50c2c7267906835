package record_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"assay/shared/measure"
	"assay/shared/record"
	"assay/shared/store"
)

// TestDecode_UpgradesSchema1 reads records as builds of schema 0 and 1 stored them.
func TestDecode_UpgradesSchema1(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	work := func(kind record.PendingKind, state record.PendingState) *record.PendingWork {
		return &record.PendingWork{Kind: kind, NotBefore: record.At(at), State: state}
	}
	const first, later = `{"at":"2026-01-02T03:04:05.006Z"}`, `{"at":"2026-01-02T03:04:05.006Z","passes":7}`
	attributes, diagnostics := record.AccessAttributes{OrganizerID: "O", Blinded: true}, []measure.Diagnostic{
		{Message: "a", SafeWhileBlinded: true}, {Message: "b"}}
	const access1, diagnostics1 = `"standing":{"organizerId":"O","blinded":true}`,
		`"diagnostics":[{"message":"a","discreet":true},{"message":"b"}]`
	for members, want := range map[string]record.Record{
		access1 + "," + diagnostics1: &record.RunItem{Access: attributes, Run: record.Run{Diagnostics: diagnostics}},
		access1:                      &record.SubmissionItem{Access: attributes},
		`"unlisted":true,` + access1: &record.EvaluationItem{Access: attributes, Unlisted: true},
		`"name":"a"`:                 &record.TaskItem{Task: record.Task{TaskDraft: record.TaskDraft{Name: "a"}}},
		`"follow":` + first:          &record.TaskItem{PendingWork: work(record.PropagateTask, record.FirstPass)},
		`"follow":` + later:          &record.TaskItem{PendingWork: work(record.PropagateTask, record.ConfirmingPass)},
		`"team":"a","follow":` + first: &record.RegistrationItem{
			Registration: team("a"), PendingWork: work(record.PropagateRegistration, record.FirstPass)},
		`"team":"a","follow":` + later: &record.RegistrationItem{
			Registration: team("a"), PendingWork: work(record.PropagateRegistration, record.ConfirmingPass)},
		`"Due":"2026-01-02T03:04:05.006Z"`: &record.DeletedTask{PendingWork: work(record.SweepDeletedTask, "")},
		`"requeue":` + first:               &record.DatasetItem{PendingWork: work(record.Reevaluate, record.FirstPass)},
		diagnostics1 + `,"requeue":` + later: &record.DatasetItem{
			Dataset: record.Dataset{Diagnostics: diagnostics}, PendingWork: work(record.Reevaluate, record.ConfirmingPass)},
		`"requeue":{},"adopt":` + first: &record.DatasetItem{PendingWork: work(record.AcceptTruth, "")},
		`"deleting":true,"deletedBy":"U","follow":` + first: &record.TaskItem{
			DeletedBy: "U", PendingWork: work(record.DeleteTask, record.Marked)},
		`"deleting":true,"deletedBy":"U","follow":` + later: &record.TaskItem{
			DeletedBy: "U", PendingWork: work(record.DeleteTask, record.Decided)},
		`"requeue":{},"adopt":{},"deletion":{"at":"2026-01-02T03:04:05.006Z","by":"U"}`: &record.DatasetItem{
			DeletedBy: "U", PendingWork: work(record.DeleteDataset, record.Marked)},
	} {
		for _, schema := range []string{"", `"schema":1,`} {
			stored := fmt.Sprintf("{%s%s}", schema, members)
			got := reflect.New(reflect.TypeOf(want).Elem()).Interface().(record.Record)
			if err := record.Decode(store.Item{Data: []byte(stored)}, got); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v\ngot  %+v\nwant %+v", stored, err, got, want)
			}
		}
	}
}

func team(name string) (r record.Registration) {
	r.Team = name
	return r
}
