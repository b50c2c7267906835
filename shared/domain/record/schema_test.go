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

	"assay/shared/domain/record"
	"assay/shared/storage/store"
)

var update = flag.Bool("update", false, "write the golden files")

// stored has one record of each stored type.
var stored = []record.Record{
	&record.AccessTokenItem{}, &record.Allowance{}, &record.Announcement{}, &record.AuditEntry{}, &record.DatasetItem{},
	&record.DeletionItem{}, &record.DeliveryItem{}, &record.Embargo{}, &record.StoredFiles{},
	&record.EvaluationItem{}, &record.Event{}, &record.Idempotency{}, &record.LastMail{}, &record.LeaseExtension{}, &record.LogChunk{},
	&record.Mailbox{}, &record.Places{},
	&record.Addressed{}, &record.InvitationItem{},
	&record.Organizer{}, &record.Registered{},
	&record.RegistrationItem{}, &record.Reservation{}, &record.ReviewItem{}, &record.RunItem{}, &record.ServerUsage{}, &record.Serving{},
	&record.SubmissionItem{}, &record.TableIdentity{}, &record.TaskCount{}, &record.TaskItem{}, &record.Topics{},
	&record.SubmittedDraft{}, &record.TruthVersion{}, &record.TruthSecret{},
	&record.Usage{}, &record.User{}, &record.WebhookItem{},
}

// TestSchema_IsTheForm compares schema.golden with the records of this build. Folders and tables name the digest of schema.golden.
func TestSchema_IsTheForm(t *testing.T) {
	const golden = "schema.golden"
	form := []string{fmt.Sprintf("schema %d", record.Schema)}
	for _, r := range stored {
		lines := map[string]string{}
		members(reflect.TypeOf(r).Elem(), reflect.TypeOf(r).Elem().Name(), lines, nil)
		for _, path := range slices.Sorted(maps.Keys(lines)) {
			form = append(form, path+" "+lines[path])
		}
	}
	content := strings.Join(form, "\n") + "\n"
	if *update {
		if err := os.WriteFile(golden, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	before, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	was := string(before)
	if was == content {
		return
	}
	changed := slices.DeleteFunc(form, func(line string) bool { return strings.Contains(was, line+"\n") })
	t.Errorf("Records are stored in another form than %s says. Run this test with -update. Servers then refuse folders and tables of the "+
		"form before.\n%s", golden, strings.Join(changed, "\n"))
}

// TestSchema_CoversEveryRecord checks that stored has every type of this package with a key.
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

// members adds a line for each leaf of a type's JSON form: its path and its Go type.
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

// TestDecode_KeepsMembersOfLaterBuilds changes members that this build knows, and checks that unknown members of a later build stay.
func TestDecode_KeepsMembersOfLaterBuilds(t *testing.T) {
	d := &record.DatasetItem{}
	d.Meta, d.Name = record.NewMeta(time.Now()), "before"
	d.Inputs = []record.File{{Name: "one"}, {Name: "two"}}
	d.PendingWork = record.NewPendingWork(record.DeleteDataset, time.Now())
	it, err := record.Item(d)
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.NewReplacer(
		`{"schema":1,`, `{"schema":1,"later":{"a":[1]},`,
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
		`{"schema":1,`, `"later":{"a":[1]}`, `"name":"after"`, `"colour":"blue"`, `"size":2`,
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

// TestDecode_RefusesOtherSchemas checks that records with another schema, or none, are refused.
func TestDecode_RefusesOtherSchemas(t *testing.T) {
	for _, data := range []string{`{"schema":2,"name":"Lab"}`, `{"schema":15,"name":"Lab"}`, `{"name":"Lab"}`, `{}`, ``} {
		o := new(record.Organizer)
		if err := record.Decode(store.Item{Data: []byte(data)}, o); err == nil || !strings.Contains(err.Error(), "schema 1") {
			t.Errorf("%s is read as %+v: %v", data, o, err)
		}
	}
}
