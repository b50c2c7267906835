package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/shared/domain/record"
)

// TestImport_RefusesWhatIsNotAsItWasExported changes one byte in the middle of each file of a folder, and removes each file.
func TestImport_RefusesWhatIsNotAsItWasExported(t *testing.T) {
	folder := newOrigin(t).export(t, Scope{})
	tried := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == manifestName {
			return err
		}
		tried++
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		refused := func(what string) {
			t.Helper()
			to := openServer(t)
			if _, err := to.from(t, folder).Apply(t.Context()); err == nil || !strings.Contains(err.Error(), d.Name()) {
				t.Errorf("%s, %s: %v", path, what, err)
			}
			if n := len(items(t, to.store)); n > 0 {
				t.Errorf("%s, %s: %d records were written", path, what, n)
			}
		}
		changed := append([]byte(nil), content...)
		changed[len(changed)/2] ^= 1
		for what, b := range map[string][]byte{"changed": changed, "longer": append(changed, 'x'), "shorter": content[:len(content)-1]} {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				return err
			}
			refused(what)
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		refused("missing")
		if err := os.Symlink("/dev/zero", path); err != nil {
			return err
		}
		refused("a link out of the folder")
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.WriteFile(path, content, 0o600)
	})
	if err != nil || tried < 10 {
		t.Fatal(tried, err)
	}
	openServer(t).from(t, folder).mustApply(t)
}

// TestImport_RefusesForgedFolders imports folders with correct digests, and content that no export has.
func TestImport_RefusesForgedFolders(t *testing.T) {
	user := `{"schema":1,"id":"01KQHPHXG0DENQ6P9129APQXGX","createdAt":"2026-05-01T12:00:00.000Z","updatedAt":"2026-05-01T12:00:00.000Z","version":1}`
	item := func(partition, sort, data string) string {
		return `{"partition":"` + partition + `","sort":"` + sort + `","data":` + data + "}\n"
	}
	digest := strings.Repeat("0", 64)
	object := func(key, size string) string {
		return `{"object":{"Key":"` + key + `","Size":` + size + `,"SHA256":"` + digest + `"}}` + "\n"
	}
	run := "runs/01KQHPHXG0DENQ6P9129APQXGX/"
	for name, c := range map[string]struct{ records, objects, want string }{
		"identity of the table": {item("TABLE", "IDENTITY", user), "", "not moved"},
		"usage":                 {item("USER#01KQHPHXG0DENQ6P9129APQXGX", "USAGE", user), "", "not moved"},
		"unknown kind":          {item("SECRETS", "x", user), "", "no kind"},
		"other key":             {item("USER#01KQHPHXG0DENQ6P9129APQXG0", "PROFILE", user), "", "has the content of"},
		"no JSON":               {"{\n", "", "line 1"},
		"long line":             {item("USER#1", "PROFILE", `"`+strings.Repeat("x", maxLineBytes)+`"`), "", "items.jsonl is not as it was exported: bufio.Scanner: token too long"},
		"object of nothing":     {"", object("table", "1"), "no object"},
		"object elsewhere":      {"", object("runs/../"+digest, "1"), "no object"},
		"object by other bytes": {"", object(run+strings.Repeat("1", 64), "1"), "no object"},
		"negative size":         {"", object(run+digest, "-5"), "size -5"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, lines := t.TempDir(), []byte(c.records+c.objects)
			sum := sha256.Sum256(lines)
			m := Manifest{Format: format, Schema: record.Schema, Digest: record.Digest, SHA256: hex.EncodeToString(sum[:])}
			if err := errors.Join(os.WriteFile(filepath.Join(folder, itemsName), lines, 0o600), m.writeTo(folder)); err != nil {
				t.Fatal(err)
			}
			to := openServer(t)
			if _, err := to.from(t, folder).Apply(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if n := len(items(t, to.store)); n > 0 {
				t.Errorf("%d records were written", n)
			}
		})
	}
}

func TestOpenFolder_RefusesOtherManifests(t *testing.T) {
	for name, manifest := range map[string]string{
		"the format 2, and": `{"format":2}`,
		"unexpected EOF":    `{"format":1,`,
		"digest none, and":  `{"format":1,"schema":1}`,
		"digest of-another": `{"format":1,"schema":1,"digest":"of-another"}`,
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, manifestName), []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFolder(folder); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", manifest, err)
		}
	}
}
