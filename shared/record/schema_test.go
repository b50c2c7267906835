package record_test

import (
	"cmp"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/measure"
	"assay/shared/record"
	"assay/shared/store"
)

var update = flag.Bool("update", false, "write the golden files")

// stored are the records that a store has, one of each type.
var stored = []record.Record{
	&record.AccessTokenItem{}, &record.Allowance{}, &record.Announcement{}, &record.AuditEntry{}, &record.DatasetItem{}, &record.DeletedTask{},
	&record.DeletionItem{}, &record.DeliveryItem{}, &record.Embargo{}, &record.StoredFiles{},
	&record.EvaluationItem{}, &record.Event{}, &record.Idempotency{}, &record.LastMail{}, &record.LeaseExtension{}, &record.LogChunk{},
	&record.Mailbox{}, &record.Places{},
	&record.Addressed{}, &record.InvitationItem{},
	&record.Organizer{}, &record.Registered{},
	&record.RegistrationItem{}, &record.Reservation{}, &record.ReviewItem{}, &record.RunItem{}, &record.ServerUsage{}, &record.Serving{},
	&record.SubmissionItem{}, &record.TaskCount{}, &record.TaskItem{}, &record.Topics{}, &record.Truth{}, &record.TruthSecret{},
	&record.Usage{}, &record.User{}, &record.WebhookItem{},
}

// TestSchema_GrowsWithTheForm: a build that stores records in another form says so, or an older one would drop what is new.
func TestSchema_GrowsWithTheForm(t *testing.T) {
	const golden = "testdata/schema.golden"
	var form []string
	for _, r := range stored {
		lines := map[string]string{}
		members(reflect.TypeOf(r).Elem(), reflect.TypeOf(r).Elem().Name(), lines, nil)
		for _, path := range slices.Sorted(maps.Keys(lines)) {
			form = append(form, path+" "+lines[path])
		}
	}
	content := strings.Join(form, "\n") + "\n"
	before, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	head, was, _ := strings.Cut(string(before), "\n")
	var schema int
	_, _ = fmt.Sscanf(head, "schema %d", &schema)
	if *update && (was == content || schema < record.Schema) {
		if err := os.WriteFile(golden, fmt.Appendf(nil, "schema %d\n%s", record.Schema, content), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if was == content && schema == record.Schema {
		return
	}
	changed := slices.DeleteFunc(strings.Split(content, "\n"), func(line string) bool { return strings.Contains(was, line+"\n") })
	t.Errorf("Records are stored in another form than %s says of schema %d. Let record.Schema grow, have earlier forms read, and run this "+
		"test with -update.\n%s",
		golden, schema, strings.Join(changed, "\n"))
}

// TestSchema_CoversEveryRecord: every type of this package that has a key is among those whose form is compared.
func TestSchema_CoversEveryRecord(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Key" {
				continue
			}
			found++
			name := f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name
			if !slices.ContainsFunc(stored, func(r record.Record) bool { return reflect.TypeOf(r).Elem().Name() == name }) {
				t.Errorf("the form of %s is compared with nothing", name)
			}
		}
	}
	if found != len(stored) {
		t.Errorf("%d types have keys, and %d are compared", found, len(stored))
	}
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// members adds the JSON form of a type to lines: of every member that ends there, by its path, the Go type.
func members(t reflect.Type, path string, lines map[string]string, within []reflect.Type) {
	switch {
	case reflect.PointerTo(t).Implements(marshaler), reflect.PointerTo(t).Implements(textMarshaler), slices.Contains(within, t):
		lines[path] = t.String()
	case t.Kind() == reflect.Pointer:
		members(t.Elem(), path, lines, within)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		members(t.Elem(), path+"[]", lines, within)
	case t.Kind() == reflect.Map:
		members(t.Elem(), path+"{}", lines, within)
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous && name == "":
				members(f.Type, path, lines, append(within, t))
			case f.IsExported() && name != "-":
				members(f.Type, path+"."+cmp.Or(name, f.Name), lines, append(within, t))
			}
		}
	default:
		lines[path] = t.Kind().String()
	}
}

// TestDecode_KeepsWhatANewerBuildHasStored: an older build changes what it knows, and nothing else.
func TestDecode_KeepsWhatANewerBuildHasStored(t *testing.T) {
	d := &record.DatasetItem{}
	d.Meta, d.Name = record.NewMeta(time.Now()), "before"
	d.Inputs = []record.File{{Name: "one"}, {Name: "two"}}
	d.PendingWork = record.NewPendingWork(record.DeleteDataset, time.Now())
	it, err := record.Item(d)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.NewReplacer(
		fmt.Sprintf(`{"schema":%d,`, record.Schema), fmt.Sprintf(`{"schema":%d,"later":{"a":[1]},`, record.Schema+1),
		`"name":"two"`, `"name":"two","colour":"blue"`, `"state":"marked"`, `"state":"marked","why":"<no reason>"`,
	).Replace(string(it.Data))
	it.Data, it.Version = []byte(newer), 7
	var read record.DatasetItem
	if err := record.Decode(it, &read); err != nil || read.Stored() != 7 {
		t.Fatal(err, read.Stored())
	}
	unchanged, err := record.Item(&read)
	if err != nil || string(unchanged.Data) != newer {
		t.Errorf("%v\ngot  %s\nwant %s", err, unchanged.Data, newer)
	}
	copied := read
	copied.Name = "after"
	copied.PendingWork.State = record.Decided
	copied.Inputs[1].Size = 2
	changed, err := record.Item(&copied)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf(`"schema":%d`, record.Schema+1), `"later":{"a":[1]}`, `"name":"after"`, `"colour":"blue"`, `"size":2`,
		`"why":"<no reason>"`, `"state":"decided"`,
	} {
		if !strings.Contains(string(changed.Data), want) {
			t.Errorf("%s is not in %s", want, changed.Data)
		}
	}
	copied.PendingWork = nil
	if changed, err = record.Item(&copied); err != nil || strings.Contains(string(changed.Data), "pendingWork") {
		t.Errorf("%v: a member that was removed is still in %s", err, changed.Data)
	}
}

// TestDecode_ReadsRecordsWithoutASchema: builds before 0.10 stored none.
func TestDecode_ReadsRecordsWithoutASchema(t *testing.T) {
	o := &record.Organizer{}
	it, err := record.Item(&record.Organizer{Meta: record.NewMeta(time.Now()), OrganizerDraft: record.OrganizerDraft{Name: "Lab"}})
	if err != nil {
		t.Fatal(err)
	}
	it.Data = []byte(strings.Replace(string(it.Data), fmt.Sprintf(`"schema":%d,`, record.Schema), "", 1))
	if err := record.Decode(it, o); err != nil || o.Name != "Lab" {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestDecode_UpgradesSchema1 reads records as builds of schema 0 and 1 stored them.
func TestDecode_UpgradesSchema1(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	work := func(kind record.PendingKind, state record.PendingState) *record.PendingWork {
		return &record.PendingWork{Kind: kind, NotBefore: record.At(at), State: state}
	}
	const (
		first = `{"at":"2026-01-02T03:04:05.006Z"}`
		later = `{"at":"2026-01-02T03:04:05.006Z","passes":7}`
	)
	attributes := record.AccessAttributes{OrganizerID: "O", Blinded: true}
	diagnostics := []measure.Diagnostic{
		{Message: "a", SafeWhileBlinded: true}, {Message: "b"}}
	ofTeam := attributes
	ofTeam.RegistrationID = "R"
	const (
		access1      = `"standing":{"organizerId":"O","blinded":true}`
		diagnostics1 = `"diagnostics":[{"message":"a","discreet":true},{"message":"b"}]`
	)
	for members, want := range map[string]record.Record{
		access1 + "," + diagnostics1:      &record.RunItem{Access: attributes, Run: record.Run{Diagnostics: diagnostics}},
		access1 + `,"registrationId":"R"`: &record.SubmissionItem{Access: ofTeam},
		`"unlisted":true,` + access1:      &record.EvaluationItem{Access: attributes, Unlisted: true},
		`"name":"a"`:                      &record.TaskItem{Task: record.Task{TaskDraft: record.TaskDraft{Name: "a"}}},
		`"follow":` + first:               &record.TaskItem{PendingWork: work(record.PropagateTask, record.FirstPass)},
		`"follow":` + later:               &record.TaskItem{PendingWork: work(record.PropagateTask, record.ConfirmingPass)},
		`"team":"a","userId":"U","follow":` + first: &record.RegistrationItem{
			Registration: team("a", "U"), PendingWork: work(record.PropagateRegistration, record.FirstPass)},
		`"team":"a","userId":"U","follow":` + later: &record.RegistrationItem{
			Registration: team("a", "U"), PendingWork: work(record.PropagateRegistration, record.ConfirmingPass)},
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

func team(name, userID string) (r record.Registration) {
	r.Team = name
	r.UserID = userID
	r.Members = []string{userID}
	return r
}

// TestDecode_TakesWebhooksThatWorkForProven: schema 14 did not say at which webhooks an event has arrived.
func TestDecode_TakesWebhooksThatWorkForProven(t *testing.T) {
	for members, proven := range map[string]bool{
		`"sequence":2`: true, `"sequence":0`: false, `"sequence":2,"failingSince":"2026-01-02T03:04:05.006Z"`: false,
	} {
		var h record.WebhookItem
		if err := record.Decode(store.Item{Data: []byte(`{"schema":14,` + members + `}`)}, &h); err != nil || h.Proven != proven {
			t.Errorf("%s: %+v, %v", members, h, err)
		}
	}
}

// TestDecode_TakesRunsThatEndedForReviewed: schema 6 did not say which were, and organizers must not find all of them in their list.
func TestDecode_TakesRunsThatEndedForReviewed(t *testing.T) {
	for state, ended := range map[record.RunState]bool{record.Completed: true, record.Failed: true, record.Evaluating: false} {
		for schema := 6; schema <= record.Schema; schema++ {
			run := record.Run{Meta: record.NewMeta(time.Now()), State: state, QueuedAt: new(record.At(time.Now()))}
			it, err := record.Item(&record.RunItem{Run: run})
			if err != nil {
				t.Fatal(err)
			}
			it.Data = []byte(strings.Replace(string(it.Data), fmt.Sprintf(`"schema":%d`, record.Schema), fmt.Sprintf(`"schema":%d`, schema), 1))
			var read record.RunItem
			if err := record.Decode(it, &read); err != nil || read.Reviewed != (ended && schema == 6) {
				t.Errorf("one that was %s in schema %d: reviewed is %v (%v)", state, schema, read.Reviewed, err)
			}
		}
	}
}
