package record_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/testing/nightlytest"

	"pgregory.net/rapid"
)

// fill sets every exported member below v to a drawn value: often the zero value, and texts and numbers with and without escapes and
// exponents.
func fill(t *rapid.T, v reflect.Value) {
	if at, ok := v.Addr().Interface().(*record.Instant); ok {
		*at = record.At(time.UnixMilli(rapid.Int64Range(-1e12, 1e13).Draw(t, "instant")))
		return
	}
	if v.Kind() != reflect.Struct && rapid.IntRange(0, 3).Draw(t, "zero") == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			key := reflect.New(v.Type().Key()).Elem()
			value := reflect.New(v.Type().Elem()).Elem()
			fill(t, key)
			fill(t, value)
			v.SetMapIndex(key, value)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 2).Draw(t, "elements"), 2))
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.StringMatching(`[ -~]{0,9}`), rapid.String(),
			rapid.SampledFrom([]string{"a\u2028b", "\xff", "<&>", "\t\x01\x7f"})).Draw(t, "text"))
	case reflect.Float64:
		v.SetFloat(rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64(),
			rapid.SampledFrom([]float64{1e21, -1e-7, 1e-6, 12345678})).Draw(t, "number"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "count"))
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("no values of %s", v.Type())
	}
}

// TestEvaluation_AppendJSONEqualsEncodingJSON also fails for a member that AppendJSON lacks.
func TestEvaluation_AppendJSONEqualsEncodingJSON(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		var e record.Evaluation
		fill(t, reflect.ValueOf(&e).Elem())
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(e); err != nil {
			t.Fatal(err)
		}
		got, err := e.AppendJSON([]byte("before"))
		if err != nil || string(got)+"\n" != "before"+want.String() {
			t.Fatalf("%v\n got %s\nwant before%s", err, got, &want)
		}
	})
}
