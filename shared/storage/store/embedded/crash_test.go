package embedded

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/storage/store"
	"assay/shared/storage/store/storetest"
)

// crashWriters is the number of writers of a crash test. Each takes the same steps in every process. So the number of a writer's steps
// determines which of its items the file must have.
const crashWriters = 8

// step returns the writer's step number n. Each group of items takes four steps: three items are created; all are replaced; one is
// deleted while the others are replaced and checked; in every other group, the rest is deleted.
func step(writer, n int) []store.Write {
	group, phase := n/4, n%4
	name := fmt.Sprintf("writer %d", writer)
	it := func(sort string, version int64) store.Item {
		it := store.Item{Key: store.Key{Partition: name, Sort: fmt.Sprintf("%06d %s", group, sort)}, Version: version}
		it.Data = bytes.Repeat(fmt.Appendf(nil, "%d of %s;", phase, it.Sort), 1+(writer+n)%50)
		return it
	}
	a := it("a", int64(phase))
	b := it("b", int64(phase))
	c := it("c", int64(phase))
	a.Indexes[0] = store.Key{Partition: "all", Sort: a.Sort}
	a.Indexes[1] = store.Key{Partition: fmt.Sprint("phase ", phase), Sort: "shared"}
	b.Indexes[5] = store.Key{Partition: name, Sort: b.Sort}
	b.Expires = time.Unix(4_000_000_000+int64(phase), 0).UTC()
	if phase == 0 {
		c.Indexes[2] = store.Key{Partition: "new", Sort: c.Sort}
	}
	switch {
	case phase == 0:
		return []store.Write{store.Create(a), store.Create(b), store.Create(c)}
	case phase == 1:
		return []store.Write{store.Replace(a), store.Replace(b), store.Replace(c)}
	case phase == 2:
		return []store.Write{store.Replace(a), store.DeleteIf(b), store.Check(c)}
	case group%2 == 0:
		return []store.Write{store.Delete(a.Key), store.Delete(c.Key)}
	}
	c.Version-- // the step before only checked it
	return []store.Write{store.Check(a), store.Replace(c)}
}

// expectation holds the items that the file must have of a writer after its steps.
type expectation struct {
	steps int
	items map[store.Key]store.Item
}

func (p *expectation) apply(writes []store.Write) {
	p.steps++
	for _, w := range writes {
		it := w.Item
		switch w.Op {
		case store.OpCreate, store.OpReplace:
			it.Version = p.items[it.Key].Version + 1
			p.items[it.Key] = it
		case store.OpDelete, store.OpDeleteIf:
			delete(p.items, it.Key)
		}
	}
}

// diff describes how the writer's items, in order, differ from those of its steps. It returns "" if they are equal.
func (p *expectation) diff(got []store.Item) string {
	return storetest.Diff(got, slices.SortedFunc(maps.Values(p.items), func(a, b store.Item) int { return strings.Compare(a.Sort, b.Sort) }))
}

// writeUntilKilled continues each writer's steps from the numbers in arg, and prints each step after it was acknowledged.
func writeUntilKilled(path, arg string) error {
	s, err := Open(path, Options{})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for writer, from := range strings.Fields(arg) {
		var n int
		if _, err := fmt.Sscan(from, &n); err != nil {
			return err
		}
		go func() {
			for ; ; n++ {
				if err := s.Write(context.Background(), step(writer, n)...); err != nil {
					failed <- fmt.Errorf("writer %d, step %d: %w", writer, n, err)
				}
				if _, err := fmt.Fprintf(os.Stdout, "%d %d\n", writer, n); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

// TestStore_LosesNothingWhenKilled kills a writing process at random times, some before the file is created or opened. The file must
// then have every acknowledged write, no partial write, and no entry without its item.
func TestStore_LosesNothingWhenKilled(t *testing.T) {
	const rounds, killedAtOpen = 55, 10
	path := filepath.Join(t.TempDir(), "store.db")
	writers := make([]expectation, crashWriters)
	for i := range writers {
		writers[i].items = map[store.Key]store.Item{}
	}
	acknowledged := 0
	unknown := 0
	random := storetest.Random(t)
	for round := range rounds {
		var arg strings.Builder
		for _, w := range writers {
			fmt.Fprint(&arg, w.steps, " ")
		}
		cmd, stderr := child(t, "crash", path, arg.String())
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := func() {
			time.AfterFunc(time.Duration(random.IntN(150))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
		if round < killedAtOpen {
			kill()
		}
		lines := bufio.NewScanner(out)
		for first := true; lines.Scan(); first = false {
			var writer, n int
			if _, err := fmt.Sscan(lines.Text(), &writer, &n); err != nil {
				break // the kill cut the line short
			}
			if want := writers[writer].steps; n != want {
				t.Fatalf("writer %d acknowledged step %d, want %d", writer, n, want)
			}
			writers[writer].apply(step(writer, n))
			acknowledged++
			if first && round >= killedAtOpen {
				kill()
			}
		}
		waitErr := cmd.Wait()
		if cmd.ProcessState.Exited() {
			t.Fatalf("round %d: the process ended before it was killed: %v: %s", round, waitErr, stderr)
		}
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for i := range writers {
			w := &writers[i]
			got, err := s.Query(t.Context(), store.Query{Partition: fmt.Sprintf("writer %d", i), Limit: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			wrong := w.diff(got)
			if wrong == "" {
				continue
			}
			// The file may have the whole write that the kill interrupted.
			unknown++
			w.apply(step(i, w.steps))
			if w.diff(got) != "" {
				t.Fatalf("round %d, writer %d after step %d: %s", round, i, w.steps-1, wrong)
			}
		}
		checkFile(t, s)
		if round%10 == 9 || round == rounds-1 {
			checkPages(t, s)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d writes were acknowledged in %d rounds; %d that were not are there", acknowledged, rounds, unknown)
}

// Names of environment variables for the other process, which runs the test binary: its role and its file.
const (
	childRole = "STORE_CHILD_ROLE"
	childFile = "STORE_CHILD_FILE"
	childArg  = "STORE_CHILD_ARG"
)

var children = map[string]func(path, arg string) error{
	"open":  openInChild,
	"crash": writeUntilKilled,
}

func TestMain(m *testing.M) {
	role := os.Getenv(childRole)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := children[role](os.Getenv(childFile), os.Getenv(childArg)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child returns a process for the role on the file, and the buffer for its standard error.
func child(t *testing.T, role, path, arg string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role, childFile+"="+path, childArg+"="+arg)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}
