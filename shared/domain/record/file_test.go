package record_test

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/record"
)

func TestCheckFiles(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	other := strings.Repeat("0b", 32)
	kept := []record.File{{Name: "a.txt", Size: 5, SHA256: sum, MediaType: "text/plain", State: record.FileStored}}
	for name, c := range map[string]struct {
		files    []record.File
		pointers []string
	}{
		"kept as shown": {
			[]record.File{{Name: "a.txt", Size: 5, SHA256: sum, MediaType: "text/plain", State: record.FileStored, URL: "https://files/a"}}, nil},
		"kept by its digest":     {[]record.File{{Name: "a.txt", SHA256: sum}}, nil},
		"kept, renamed":          {[]record.File{{Name: "c.txt", Size: 5, SHA256: sum, State: record.FileStored}}, nil},
		"kept, in a folder":      {[]record.File{{Name: "b/a.txt", SHA256: sum}}, []string{"/f/0/name"}},
		"kept, of another size":  {[]record.File{{Name: "a.txt", Size: 6, SHA256: sum}}, []string{"/f/0/size"}},
		"kept, in another state": {[]record.File{{Name: "a.txt", SHA256: sum, State: record.FilePending}}, []string{"/f/0/state"}},
		"inline":                 {[]record.File{{Name: "b.txt", Content: "aGVsbG8="}}, nil},
		"inline, of other bytes": {[]record.File{{Name: "b.txt", Content: "aGVsbG8=", Size: 4, SHA256: sum}}, []string{
			"/f/0/sha256", "/f/0/size"}},
		"inline, no base64":      {[]record.File{{Name: "b.txt", Content: "aGVsbG8"}}, []string{"/f/0/content"}},
		"announced":              {[]record.File{{Name: "b.txt", Size: 1, SHA256: other}}, nil},
		"announced in no way":    {[]record.File{{Name: "b.txt"}}, []string{"/f/0"}},
		"announced as empty":     {[]record.File{{Name: "b.txt", SHA256: hex.EncodeToString(sha256.New().Sum(nil))}}, []string{"/f/0"}},
		"without a size":         {[]record.File{{Name: "b.txt", SHA256: other}}, []string{"/f/0/size"}},
		"without a digest":       {[]record.File{{Name: "b.txt", Size: 1}}, []string{"/f/0/sha256"}},
		"announced as stored":    {[]record.File{{Name: "b.txt", Size: 1, SHA256: other, State: record.FileStored}}, []string{"/f/0"}},
		"with a turned name":     {[]record.File{{Name: "b\u202etxt.exe", Size: 1, SHA256: other}}, []string{"/f/0/name"}},
		"kept, with such a name": {[]record.File{{Name: "b\u202etxt.exe", SHA256: sum}}, []string{"/f/0/name"}},
		"in a folder":            {[]record.File{{Name: "../b.txt", Size: 1, SHA256: other}}, []string{"/f/0/name"}},
		"of no media type":       {[]record.File{{Name: "b.txt", Size: 1, SHA256: other, MediaType: "text"}}, []string{"/f/0/mediaType"}},
		"twice the same name":    {[]record.File{{Name: "a.txt", SHA256: sum}, {Name: "a.txt", Size: 1, SHA256: other}}, []string{"/f/1/name"}},
		"twice the same bytes": {[]record.File{{Name: "b.txt", Size: 1, SHA256: other}, {Name: "c.txt", Size: 1, SHA256: other}}, []string{
			"/f/1/sha256"}},
	} {
		contents, fields := record.CheckFiles(record.In("/f"), c.files, kept)
		var pointers []string
		for _, f := range fields {
			pointers = append(pointers, f.Pointer)
		}
		if !slices.Equal(pointers, c.pointers) || len(contents) != len(c.files) {
			t.Errorf("%s: %+v", name, fields)
		}
		if f := c.files[0]; name == "inline" && (string(contents[0]) != "hello" || f.Content != "" || f.Size != 5 ||
			f.State != record.FileStored || len(f.SHA256) != 64) {
			t.Errorf("inline: %+v with %q", f, contents[0])
		}
		if f := c.files[0]; name == "kept, renamed" && (f.Name != "c.txt" || f.State != record.FileStored || contents[0] != nil) {
			t.Errorf("a renamed file became %+v", f)
		}
		if name == "kept by its digest" && !reflect.DeepEqual(c.files[0], kept[0]) {
			t.Errorf("a kept file became %+v", c.files[0])
		}
	}
}

func TestObjectKey_IsParsed(t *testing.T) {
	id, sum := record.NewID(noon), strings.Repeat("0a", 32)
	h, got, digest, ok := record.ParseObjectKey(record.ObjectKey(record.HolderTruths, id, sum))
	if !ok || h != record.HolderTruths || got != id || digest != sum {
		t.Error(h, got, digest, ok)
	}
	for _, key := range []string{"", "truths/" + id, "secrets/" + id + "/" + sum, "truths/x/" + sum, "truths/" + id + "/x", "truths/" + id +
		"/" + sum + "/x"} {
		if _, _, _, ok := record.ParseObjectKey(key); ok {
			t.Errorf("%q was taken for a key", key)
		}
	}
}
