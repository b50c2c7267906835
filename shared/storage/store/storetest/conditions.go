package storetest

import (
	"errors"
	"fmt"
	"slices"

	"assay/shared/storage/store"
)

var conditions = map[string]func(table){
	"Write/Conditions":         testConditions,
	"Write/AllOrNone":          testAllOrNone,
	"Write/MaxWrites":          testMaxWrites,
	"Write/ConflictIsReported": testConflictReported,
}

// keyState is a possible state of a key.
type keyState struct {
	name    string
	version int64         // version of the key in this state
	writes  []store.Write // writes that lead to this state
}

func keyStates() []keyState {
	create := store.Create(store.Item{})
	replace := store.Replace(store.Item{Version: 1})
	remove := store.Delete(store.Key{})
	expired := listed("", 1, "L", "expired")
	expired.Expires = past()
	return []keyState{
		{"absent", 0, nil},
		{"created", 1, []store.Write{create}},
		{"replaced", 2, []store.Write{create, replace}},
		{"deleted", 0, []store.Write{create, remove}},
		{"created again", 1, []store.Write{create, replace, remove, create}},
		{"expired", 0, []store.Write{store.Create(expired)}},
		{"expired by a replacement", 0, []store.Write{create, store.Replace(expired)}},
	}
}

// The conditions on the version stored, given that of the write.
func isAbsent(stored, _ int64) bool        { return stored == 0 }
func isOfVersion(stored, given int64) bool { return stored == given }
func isAny(int64, int64) bool              { return true }

// operations lists the kinds of writes, with the condition on the stored version and the resulting version.
var operations = []struct {
	name  string
	write func(store.Item) store.Write
	holds func(stored, version int64) bool
	after func(stored int64) int64
}{
	{"create", store.Create, isAbsent, func(int64) int64 { return 1 }},
	{"replace", store.Replace, isOfVersion, func(stored int64) int64 { return stored + 1 }},
	{"delete", func(it store.Item) store.Write { return store.Delete(it.Key) }, isAny, func(int64) int64 { return 0 }},
	{"delete-if", store.DeleteIf, isOfVersion, func(int64) int64 { return 0 }},
	{"check", store.Check, isOfVersion, func(stored int64) int64 { return stored }},
	{"check-absent", func(it store.Item) store.Write { return store.CheckAbsent(it.Key) }, isAbsent,
		func(stored int64) int64 { return stored }},
}

// testConditions tries every operation in every state of a key.
func testConditions(tb table) {
	for _, state := range keyStates() {
		for _, op := range operations {
			for version := int64(1); version <= 3; version++ {
				name := fmt.Sprintf("%s version %d when %s", op.name, version, state.name)
				k := key(name)
				for _, w := range state.writes {
					w.Item.Key = k
					tb.write(w)
				}
				before := tb.read(k)
				if before.Version != state.version {
					tb.t.Fatalf("%s: version %d before, want %d", name, before.Version, state.version)
				}
				err := tb.Write(tb.t.Context(), op.write(store.Item{Key: k, Version: version, Data: []byte("new")}))
				after := tb.read(k)
				if !op.holds(state.version, version) {
					if !Conflicts(err, 0) {
						tb.t.Errorf("%s: %v, want a conflict", name, err)
					}
					if wrong := diff(after, before); wrong != "" {
						tb.t.Errorf("%s: refused, and yet: %s", name, wrong)
					}
					continue
				}
				if err != nil {
					tb.t.Errorf("%s: %v", name, err)
				} else if want := op.after(state.version); after.Version != want {
					tb.t.Errorf("%s: version %d after, want %d", name, after.Version, want)
				}
			}
		}
	}
	tb.wantList(store.Query{Index: 1, Partition: "L"})
}

// testAllOrNone makes one, some and all conditions of a Write fail, in every position.
func testAllOrNone(tb table) {
	a := listed("a", 1, "L", "a")
	b := listed("b", 1, "L", "b")
	c := listed("c", 1, "L", "c")
	d, e := listed("d", 1, "L", "d"), listed("e", 1, "L", "e")
	tb.write(store.Create(a), store.Create(b), store.Create(c), store.Create(d), store.Create(e))
	stale := func(it store.Item) store.Item { it.Version = 7; return it }
	gone := key("gone")
	good := []func() store.Write{
		func() store.Write { return store.Create(listed("new", 1, "L", "new")) },
		func() store.Write { w, _ := replaced(a, "changed"); return w },
		func() store.Write { return store.DeleteIf(b) },
		func() store.Write { return store.Delete(c.Key) },
		func() store.Write { return store.CheckAbsent(gone) },
	}
	bad := []func() store.Write{
		func() store.Write { return store.Create(d) },
		func() store.Write { return store.Replace(stale(a)) },
		func() store.Write { return store.DeleteIf(stale(b)) },
		func() store.Write { return store.Check(stale(c)) },
		func() store.Write { return store.CheckAbsent(e.Key) },
	}
	// Every set of positions but the empty one fails, the others hold.
	for set := 1; set < 1<<len(good); set++ {
		var writes []store.Write
		var failed []int
		for i := range good {
			if set&(1<<i) == 0 {
				writes = append(writes, good[i]())
				continue
			}
			writes, failed = append(writes, bad[i]()), append(failed, i)
		}
		tb.conflict(failed, writes...)
	}
	tb.wantStored(a, b, c, d, e, missing(key("new")), missing(gone))
	tb.wantList(store.Query{Partition: "P"}, a, b, c, d, e)
	tb.wantList(store.Query{Index: 1, Partition: "L"}, a, b, c, d, e)

	var writes []store.Write
	for i := range good {
		writes = append(writes, good[i]())
	}
	tb.write(writes...)
	_, a = replaced(a, "changed")
	added := listed("new", 1, "L", "new")
	tb.wantStored(a, added, missing(b.Key), missing(c.Key), missing(gone))
	tb.wantList(store.Query{Index: 1, Partition: "L"}, a, d, e, added)
}

func testMaxWrites(tb table) {
	var creates, deletes []store.Write
	var all []store.Item
	for i := range store.MaxWrites {
		it := listed(fmt.Sprintf("%03d", i), 1, "L", "same")
		all = append(all, it)
		creates = append(creates, store.Create(it))
		deletes = append(deletes, store.DeleteIf(it))
	}
	tb.write(creates...)
	tb.wantList(store.Query{Partition: "P"}, all...)
	tb.conflict([]int{17, 99}, append(append(append([]store.Write{}, deletes[:17]...), creates[17]),
		append(append([]store.Write{}, deletes[18:99]...), creates[99])...)...)
	tb.wantList(store.Query{Partition: "P"}, all...)
	tb.write(deletes...)
	tb.wantList(store.Query{Partition: "P"})
	tb.wantList(store.Query{Index: 1, Partition: "L"})
}

func testConflictReported(tb table) {
	tb.write(store.Create(item("a")))
	err := tb.Write(tb.t.Context(), store.CheckAbsent(key("b")), store.Create(item("a")))
	if !store.IsConflict(err) || Conflicts(err, 0) || !Conflicts(err, 1) || Conflicts(err, 2) {
		tb.t.Errorf("Create of what exists: %v", err)
	}
	if errors.Is(err, store.ErrInvalid) || errors.Is(err, store.ErrUnavailable) {
		tb.t.Errorf("a conflict is also another kind of error: %v", err)
	}
}

// Conflicts reports whether err says that the condition of write number i did not hold.
func Conflicts(err error, i int) bool {
	c, ok := errors.AsType[*store.ConflictError](err)
	return ok && slices.Contains(c.Failed, i)
}
