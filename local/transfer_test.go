package main

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/service/transfer"
	"assay/shared/testing/waittest"
)

// runCommand runs a command of the program and returns its output.
func runCommand(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := execute(t.Context(), args, noEnv, &out, &out)
	return out.String(), err
}

// person returns a token of a user with an e-mail address.
func (s *testServer) person(t *testing.T, user string) string {
	t.Helper()
	answer := s.object(t, "", http.MethodPost, "/dev/token", map[string]any{"user": user, "email": user + "@example.org"})
	token, _ := answer["access_token"].(string)
	return token
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := runCommand(t, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

// leaveOutWhatStays removes from answers, by path, everything that does not move with a store: invitations, whose links lead to the origin,
// the trash, the usage of users, which is counted again, and their limits.
func leaveOutWhatStays(answers map[string]any) {
	for path, answer := range answers {
		object, _ := answer.(map[string]any)
		switch {
		case strings.HasSuffix(path, "/invitations"), strings.HasPrefix(path, "/v1/deletions"):
			delete(answers, path)
		case strings.HasPrefix(path, "/v1/users/"):
			delete(object, "taken")
			delete(object, "limits") // They are the server's unless the user has limits.
		}
	}
}

// TestTransfer_MovesATaskToAnotherIssuer moves a task to a server whose issuer gives the users other ids. It maps the users with a file, by
// address, and not at all.
func TestTransfer_MovesATaskToAnotherIssuer(t *testing.T) {
	old := t.TempDir()
	there := filepath.Join(t.TempDir(), "data")
	folder := filepath.Join(t.TempDir(), "export")
	if err := errors.Join(os.Mkdir(folder, 0o777), os.Chmod(folder, 0o777)); err != nil {
		t.Fatal(err)
	}
	var task, run string
	t.Run("origin", func(t *testing.T) {
		s := startIn(t, old, "-demo=false")
		task = s.task(t, s.person(t, "olga"), "Moves")
		set := s.dataset(t, s.person(t, "olga"), task, "1 0 b 1\n", nil)
		s.post(t, s.person(t, "ann"), task+"/registrations", map[string]any{"team": "Ann's"})
		file := inline("ann.run", "1 Q0 b 1 1.5 tag\n")
		file["datasetId"] = set
		s.post(t, s.person(t, "ann"), task+"/submissions", map[string]any{"type": "upload", "files": []any{file}})
		runs := s.object(t, s.person(t, "ann"), http.MethodGet, "/v1/runs", nil)["data"].([]any)
		run = "/v1/runs/" + runs[0].(map[string]any)["id"].(string)
		if _, err := runCommand(t, "export", "-data", old, "-to", folder); err == nil || !strings.Contains(err.Error(), "stop that one") {
			t.Errorf("an export under a running server: %v", err)
		}
	})
	mustRun(t, "export", "-data", old, "-to", folder, "-task", strings.TrimPrefix(task, "/v1/tasks/"))
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("others read the export: %v, %v", info, err)
	}

	const issuer = "http://other.test" // /dev is its development issuer.
	users := filepath.Join(t.TempDir(), "users.csv")
	if err := os.WriteFile(users, []byte("# from, to\nann@example.org, ann\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	importing := []string{"import", "-data", there, "-from", folder, "-users", users, "-issuer", issuer + "/dev"}
	plan := mustRun(t, importing...)
	for _, want := range []string{`"ann@example.org": becomes`, `"olga@example.org": keeps the id`, "Nothing was written"} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan lacks %q:\n%s", want, plan)
		}
	}
	t.Run("after the plan", func(t *testing.T) {
		s := startIn(t, there, "-demo=false", "-public-url", issuer)
		if a := s.send(t, "", http.MethodGet, task, nil); a.status != http.StatusNotFound {
			t.Errorf("a plan has imported the task: %d", a.status)
		}
	})
	mustRun(t, append(importing, "-apply")...)
	t.Run("target", func(t *testing.T) {
		s := startIn(t, there, "-demo=false", "-public-url", issuer)
		waittest.Until(t, "the run is evaluated", func() bool {
			return s.object(t, s.person(t, "ann"), http.MethodGet, run, nil)["state"] == "completed"
		})
		if a := s.send(t, s.person(t, "olga"), http.MethodGet, run, nil); a.status != http.StatusNotFound {
			t.Errorf("olga, whose id is another here, reads a private run: %d", a.status)
		}
	})
	out := mustRun(t, append(importing, "-apply")...)
	if strings.Contains(out, "another is here") {
		t.Errorf("after the target has worked on what was moved, the import finds\n%s", out)
	}
}

func TestTransfer_SaysWhatIsWrong(t *testing.T) {
	empty := t.TempDir()
	rows := filepath.Join(empty, "users.csv")
	if err := os.WriteFile(rows, []byte("one,two,three\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"no such file":           {"export", "-data", empty, "-to", filepath.Join(empty, "x")},
		"has no manifest.json":   {"import", "-data", filepath.Join(empty, "data"), "-from", empty},
		"users.csv":              {"import", "-data", filepath.Join(empty, "data"), "-from", empty, "-users", rows},
		"-files s3 needs":        {"import", "-data", filepath.Join(empty, "data"), "-from", empty, "-files", "s3"},
		"there is no argument":   {"export", "folder"},
		"is neither embedded no": {"export", "-store", "paper"},
	} {
		if out, err := runCommand(t, args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q\n%s", args, err, want, out)
		}
	}
	if left, err := os.ReadDir(filepath.Join(empty, "x")); err == nil {
		t.Errorf("an export that failed left %v", left)
	}
}

// Users choose their names at an issuer. No name may add a line to the report of an import, or control the terminal.
func TestPrintReport_ShowsNamesAsText(t *testing.T) {
	u := &record.User{Name: "ann\n01KQHPHXG0DENQ6P9129APQXGX \"root\", \"\": keeps the id", Email: "\x1b[2J@example.org"}
	for _, people := range []transfer.Mapping{{Mapped: []*record.User{u}}, {Unmapped: []*record.User{u}}} {
		var out strings.Builder
		printReport(&out, &transfer.Report{Users: people})
		if _, report, _ := strings.Cut(out.String(), "\n"); strings.Count(report, "\n") != 1 || strings.Contains(report, "\x1b") {
			t.Errorf("%q", report)
		}
	}
}
