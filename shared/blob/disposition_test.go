package blob_test

import (
	"mime"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/shared/blob"
)

func TestDisposition(t *testing.T) {
	for filename, want := range map[string]string{
		"run.txt":            `attachment; filename="run.txt"`,
		"my run (1);a=b.txt": `attachment; filename="my run (1);a=b.txt"`,
		"Läufe €.txt":        `attachment; filename="L_ufe _.txt"; filename*=UTF-8''L%C3%A4ufe%20%E2%82%AC.txt`,
		`a"b\c%41`:           `attachment; filename="a_b_c_41"; filename*=UTF-8''a%22b_c%2541`,
		"../../etc/passwd":   `attachment; filename=".._.._etc_passwd"`,
		"a\r\nSet-Cookie: x": `attachment; filename="a__Set-Cookie: x"`,
		"":                   `attachment; filename="download"`,
		"..":                 `attachment; filename="download"`,
		"a\u202egpj.exe":     `attachment; filename="a_gpj.exe"`,
		"a\xffb":             `attachment; filename="a_b"`,
	} {
		if got := blob.Disposition(filename); got != want {
			t.Errorf("Disposition(%q)\n got %s\nwant %s", filename, got, want)
		}
	}
}

func FuzzDisposition(f *testing.F) {
	for _, seed := range []string{"a.txt", `"; filename=evil`, "ä'\"", "a\r\nb", strings.Repeat("€", 200), "%00", "../x", "a\u202eb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, filename string) {
		value := blob.Disposition(filename)
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q holds a character that may not stand in a header", value)
		}
		kind, params, err := mime.ParseMediaType(value)
		if err != nil || kind != "attachment" || len(params) != 1 {
			t.Fatalf("%q reads as %q %q: %v", value, kind, params, err)
		}
		name := params["filename"]
		if name == "" || len(name) > 255 || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\\r\n\x00") || strings.Trim(name, ".") == "" {
			t.Fatalf("%q saves under %q", value, name)
		}
	})
}
