package record_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/embedded"

	"pgregory.net/rapid"
)

// TestDecode_AgreesWithEncodingJSON decodes random JSON into each type of record, with Decode and with encoding/json.
func TestDecode_AgreesWithEncodingJSON(t *testing.T) {
	for _, r := range stored {
		typ := reflect.TypeOf(r).Elem()
		t.Run(typ.Name(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { compareDecoders(t, typ, drawObject(t, typ)) })
		})
	}
}

// FuzzDecode does the same with JSON of the fuzzer.
func FuzzDecode(f *testing.F) {
	for i, r := range stored {
		object, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(i), string(object))
	}
	f.Fuzz(func(t *testing.T, kind byte, object string) {
		if strings.HasPrefix(object, "{") {
			compareDecoders(t, reflect.TypeOf(stored[int(kind)%len(stored)]).Elem(), object)
		}
	})
}

const schemaMember = `{"schema":1,`

// compareDecoders decodes the object into a record of the type with record.Decode and with encoding/json. Both must fail, or return equal
// records. It also checks that a record remembers its unknown members.
func compareDecoders(t rapid.TB, typ reflect.Type, object string) {
	want, got := reflect.New(typ), reflect.New(typ)
	wantErr := json.Unmarshal([]byte(object), want.Interface())
	err := record.Decode(store.Item{Data: []byte(schemaMember + object[1:])}, got.Interface().(record.Record))
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q is decoded with the error %v instead of %v", object, err, wantErr)
	}
	if err != nil {
		return
	}
	strict := json.NewDecoder(strings.NewReader(object))
	strict.DisallowUnknownFields()
	unknown := strict.Decode(reflect.New(typ).Interface())
	if remembered := !got.Elem().FieldByName("Meta").FieldByName("newer").IsNil(); remembered != (unknown != nil) {
		t.Fatalf("%q has unknown members: %v, and the record remembers them: %t", object, unknown, remembered)
	}
	m := got.Elem().FieldByName("Meta").Addr().Interface().(*record.Meta)
	*m = record.Meta{ID: m.ID, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, Version: m.Version} // without members outside the JSON
	if !reflect.DeepEqual(got.Interface(), want.Interface()) {
		t.Fatalf("%q is decoded into\n%+v instead of\n%+v", object, got, want)
	}
}

// drawObject returns an object for a struct of the type. Some members are missing, repeated, unknown, or have a name in upper case.
func drawObject(t *rapid.T, typ reflect.Type) string {
	var members []string
	for _, f := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || (f.Anonymous && name == "") {
			continue
		}
		if name == "" {
			name = f.Name
		}
		switch rapid.IntRange(0, 40).Draw(t, "member") {
		case 0:
			members = append(members, member(t, name, f.Type), member(t, name, f.Type))
		case 1:
			members = append(members, member(t, strings.ToUpper(name), f.Type))
		case 2:
			members = append(members, member(t, name+"Later", f.Type))
		case 3, 4, 5, 6, 7, 8, 9, 10:
		default:
			members = append(members, member(t, name, f.Type))
		}
	}
	members = append(members, `"later":{"a":[1]}`)[:len(members)+rapid.IntRange(0, 1).Draw(t, "later")]
	return "{" + strings.Join(rapid.Permutation(members).Draw(t, "members"), ",") + "}"
}

func member(t *rapid.T, name string, typ reflect.Type) string {
	return fmt.Sprintf("%q: %s", name, drawValue(t, typ))
}

// odd are values that few types accept.
var odd = []string{
	`null`, `""`, `"text"`, `"2026-02-30"`, `-1`, `1.5`, `1e400`, `18446744073709551616`, `true`, `[]`, `[1,null]`, `{}`, `{"a":1}`,
}

// texts are strings with escapes, damaged encodings and characters outside of ASCII.
var texts = []string{`""`, `"n\u00e4iv\u0065"`, `"\ud83d\ude00"`, `"\ud800"`, "\"\xff\"", `"<b>&\"\\\/\n"`, `"é"`, `"text"`}

var instants = []string{`"2026-02-28T23:59:59.999Z"`, `"2026-02-28T23:59:59.1234+02:00"`, `"0001-01-01T00:00:00Z"`}

// drawValue returns a JSON value for the type, or one time in fifty a value for another type.
func drawValue(t *rapid.T, typ reflect.Type) string {
	if rapid.IntRange(0, 49).Draw(t, "odd") == 0 {
		return rapid.SampledFrom(odd).Draw(t, "value")
	}
	if typ == reflect.TypeFor[record.Instant]() {
		return rapid.SampledFrom(instants).Draw(t, "instant")
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return drawValue(t, typ.Elem())
	case reflect.Struct:
		return drawObject(t, typ)
	case reflect.Map:
		entries := make([]string, rapid.IntRange(0, 3).Draw(t, "entries"))
		for i := range entries {
			entries[i] = rapid.SampledFrom(texts).Draw(t, "key") + ":" + drawValue(t, typ.Elem())
		}
		return "{" + strings.Join(entries, ",") + "}"
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 {
			return `"AQID"`
		}
		elements := make([]string, rapid.IntRange(0, 3).Draw(t, "elements"))
		for i := range elements {
			elements[i] = drawValue(t, typ.Elem())
		}
		return "[" + strings.Join(elements, " , ") + "]"
	case reflect.Bool:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
	case reflect.String:
		return rapid.SampledFrom(texts).Draw(t, "text")
	case reflect.Float64:
		return rapid.SampledFrom([]string{"0.1", "-0", "1e-400", "5e-324", "12345678901234567890", "1.7976931348623157e308"}).Draw(t, "number")
	default:
		return rapid.SampledFrom([]string{"0", "1", "-0", "7", "1.0", "128"}).Draw(t, "number")
	}
}

// BenchmarkDecode decodes records of kinds that lists show.
func BenchmarkDecode(b *testing.B) {
	build := recordtest.New(b, recordtest.OpenStore(b, embedded.Options{}))
	dataset := build.Task().Dataset()
	run := dataset.Run("ann", recordtest.Published)
	for _, r := range []record.Record{run.Evaluation, run.RunItem, run.Submission, dataset.DatasetItem, dataset.Task.TaskItem} {
		typ := reflect.TypeOf(r).Elem()
		b.Run(typ.Name(), func(b *testing.B) {
			it, err := record.Item(r)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(it.Data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := record.Decode(it, reflect.New(typ).Interface().(record.Record)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
