package blob_test

import (
	"mime"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"assay/shared/storage/blob"
)

func TestCheckKey(t *testing.T) {
	for key, valid := range map[string]bool{
		"a":                              true,
		"runs/01J/files/0":               true,
		"a.b-c_D9":                       true,
		"...":                            true,
		".hidden":                        true,
		strings.Repeat("k", 512):         true,
		strings.Repeat("k", 513):         false,
		"":                               false,
		"/":                              false,
		"/a":                             false,
		"a/":                             false,
		"a//b":                           false,
		".":                              false,
		"..":                             false,
		"a/./b":                          false,
		"a/../b":                         false,
		`a\b`:                            false,
		"a b":                            false,
		"a\x00":                          false,
		"a%2fb":                          false,
		"é":                              false,
		"a\xff":                          false,
		"C:/x":                           false,
		strings.Repeat("../", 9) + "etc": false,
	} {
		if err := blob.CheckKey(key); (err == nil) != valid {
			t.Errorf("CheckKey(%q) = %v, want valid %v", key, err, valid)
		}
	}
}

func FuzzCheckKey(f *testing.F) {
	for _, seed := range []string{"a", "a/b.c", "../a", "a/..", "/", "a//b", `..\a`, "a\x00b"} {
		f.Add(seed)
	}
	grammar := regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)
	f.Fuzz(func(t *testing.T, key string) {
		valid := blob.CheckKey(key) == nil
		want := grammar.MatchString(key) && len(key) <= 512 && path.Clean("/"+key) == "/"+key
		if valid != want {
			t.Errorf("CheckKey(%q) allows it: %v, want %v", key, valid, want)
		}
		if valid && !filepath.IsLocal(key) {
			t.Errorf("%q leaves its folder", key)
		}
	})
}

func TestObjectCheck(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	for name, test := range map[string]struct {
		object blob.Object
		want   string
	}{
		"whole":           {blob.Object{Key: "a", Size: 1, SHA256: sum, MediaType: "text/plain; charset=utf-8"}, ""},
		"empty":           {blob.Object{Key: "a", SHA256: sum}, ""},
		"largest":         {blob.Object{Key: "a", Size: 5 << 30, SHA256: sum}, ""},
		"too large":       {blob.Object{Key: "a", Size: 5<<30 + 1, SHA256: sum}, "size"},
		"negative":        {blob.Object{Key: "a", Size: -1, SHA256: sum}, "size"},
		"no digest":       {blob.Object{Key: "a"}, "SHA-256"},
		"short digest":    {blob.Object{Key: "a", SHA256: sum[2:]}, "SHA-256"},
		"capital digest":  {blob.Object{Key: "a", SHA256: strings.ToUpper(sum)}, "SHA-256"},
		"not hexadecimal": {blob.Object{Key: "a", SHA256: strings.Repeat("zz", 32)}, "SHA-256"},
		"header in type":  {blob.Object{Key: "a", SHA256: sum, MediaType: "text/plain\r\nX: y"}, "media type"},
		"no subtype":      {blob.Object{Key: "a", SHA256: sum, MediaType: "text"}, "media type"},
		"long type":       {blob.Object{Key: "a", SHA256: sum, MediaType: "text/" + strings.Repeat("x", 300)}, "media type"},
		"bad key":         {blob.Object{Key: "../a", SHA256: sum}, "key"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.object.Check()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want it to speak of %q", err, test.want)
			}
		})
	}
}

func TestCheckPrefix(t *testing.T) {
	for prefix, valid := range map[string]bool{"": true, "a/": true, "a/b/": true, "a": false, "/": false, "../": false, "a//": false} {
		if err := blob.CheckPrefix(prefix); (err == nil) != valid {
			t.Errorf("CheckPrefix(%q) = %v, want valid %v", prefix, err, valid)
		}
	}
}

func TestCheckExpiry(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for ahead, valid := range map[time.Duration]bool{
		-time.Second: false, 0: false, 1: true, 7 * 24 * time.Hour: true, 7*24*time.Hour + 1: false,
	} {
		if err := blob.CheckExpiry(now, now.Add(ahead)); (err == nil) != valid {
			t.Errorf("expiry %s ahead: %v, want valid %v", ahead, err, valid)
		}
	}
}

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

func TestMediaTypeOf(t *testing.T) {
	for name, want := range map[string]string{"predictions.csv": "text/csv", "QRELS.TXT": "text/plain", "a.tsv": "text/tab-separated-values",
		"topics.xml": "application/xml", "test.qrels": "text/plain", "run": blob.DefaultMediaType, "a.exe": blob.DefaultMediaType} {
		if got := blob.MediaTypeOf(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
