package records_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

func TestUpdate_LosesNoChange(t *testing.T) {
	s, ctx := open(t), t.Context()
	r := &testRecord{Meta: record.NewMeta(time.Now()), First: "A"}
	commit(t, s, new(records.Tx).Create(r))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				written, err := records.Update(ctx, s, r.Key(), func(now *testRecord, _ *records.Tx) (bool, error) {
					now.First += "x"
					record.Touch(now, time.Now())
					return true, nil
				})
				if err != nil || !written {
					t.Error(written, err)
				}
			}
		})
	}
	all.Wait()
	now, err := records.Get[testRecord](ctx, s, store.Strong, r.Key())
	if err != nil || len(now.First) != 41 || now.Version != 41 {
		t.Fatalf("%+v, %v", now, err)
	}
}

func TestChange_DecidesAgainAfterAConflictAndNotOnceTheRecordIsGone(t *testing.T) {
	s, ctx := open(t), t.Context()
	r := &testRecord{Meta: record.NewMeta(time.Now()), First: "A"}
	commit(t, s, new(records.Tx).Create(r))
	var seen []string
	err := records.Change(ctx, s, r.Key(), func(now *testRecord, tx *records.Tx) error {
		seen = append(seen, now.First)
		if len(seen) == 1 { // another request is faster
			r.First = "B"
			commit(t, s, new(records.Tx).Replace(r))
		}
		tx.Delete(now)
		return nil
	})
	if err != nil || !slices.Equal(seen, []string{"A", "B"}) {
		t.Errorf("%q: %v", seen, err)
	}
	err = records.Change(ctx, s, r.Key(), func(*testRecord, *records.Tx) error { return errors.New("there is no record") })
	if err != nil {
		t.Error(err)
	}
}

func TestTx_FailedConditionHasItsError(t *testing.T) {
	s, ctx := open(t), t.Context()
	one := &testRecord{Meta: record.NewMeta(time.Now())}
	two := &testRecord{Meta: record.NewMeta(time.Now())}
	if err := new(records.Tx).Create(one).Commit(ctx, s); err != nil || one.Version != 1 {
		t.Fatal(one.Version, err)
	}
	taken := problem.Conflict.New("taken")
	err := new(records.Tx).Create(two).Create(one).Or(taken).Commit(ctx, s)
	if !errors.Is(err, taken) || records.IsConflict(err) {
		t.Errorf("%v", err)
	}
	if err := new(records.Tx).Create(two).Create(one).Commit(ctx, s); !records.IsConflict(err) {
		t.Errorf("%v", err)
	}
	if found, err := records.Get[testRecord](ctx, s, store.Strong, two.Key()); found != nil || err != nil {
		t.Errorf("half of a change was made: %v, %v", found, err)
	}
	stale := *one
	commit(t, s, new(records.Tx).Replace(one))
	for name, tx := range map[string]*records.Tx{"replace": new(records.Tx).Replace(&stale), "delete": new(records.Tx).Delete(&stale),
		"check": new(records.Tx).Check(&stale), "absent": new(records.Tx).CheckAbsent(one.Key())} {
		if err := tx.Commit(ctx, s); !records.IsConflict(err) {
			t.Errorf("%s of what has changed: %v", name, err)
		}
	}
	if err := new(records.Tx).Delete(one).Commit(ctx, s); err != nil {
		t.Error(err)
	}
}

// TestTx_OnlyTouchedRecordsHaveANewVersion checks that changes that no caller sees keep the visible version, but still conflict with
// concurrent changes.
func TestTx_OnlyTouchedRecordsHaveANewVersion(t *testing.T) {
	s, ctx := open(t), t.Context()
	made := time.Now()
	changed, saved := made.Add(time.Hour), made.Add(2*time.Hour)
	r := &testRecord{Meta: record.MetaOf(record.NewID(made), made)}
	write := func(tx *records.Tx, want int64, at time.Time) {
		t.Helper()
		commit(t, s, tx)
		stored, err := records.Get[testRecord](ctx, s, store.Strong, r.Key())
		if err != nil || stored.Version != want || r.Version != want || stored.First != r.First || !stored.UpdatedAt.Equal(record.At(at).Time) ||
			!stored.CreatedAt.Equal(record.At(made).Time) {
			t.Fatalf("%+v is stored as %+v, want version %d: %v", r, stored, want, err)
		}
	}
	write(new(records.Tx).Save(r, made), 1, made)
	stale := *r
	r.First = "noted"
	write(new(records.Tx).Replace(r), 1, made)
	if err := new(records.Tx).Replace(&stale).Commit(ctx, s); !records.IsConflict(err) {
		t.Errorf("who does not know what was noted overwrites it: %v", err)
	}
	for range 2 {
		r.First = "changed"
		record.Touch(r, changed)
	}
	write(new(records.Tx).Replace(r), 2, changed)
	r.First = "noted again"
	write(new(records.Tx).Replace(r), 2, changed)
	r.First = "changed again"
	write(new(records.Tx).Save(r, saved), 3, saved)
	again := &testRecord{Meta: record.MetaOf(r.ID, saved)}
	if err := new(records.Tx).Save(again, saved).Commit(ctx, s); !records.IsConflict(err) {
		t.Errorf("saved as new, though it is there: %v", err)
	}
}

func TestRetry_GivesUpWithAProblem(t *testing.T) {
	tries := 0
	err := records.Retry(t.Context(), func() error {
		tries++
		return &store.ConflictError{Failed: []int{0}}
	})
	if !problem.Unavailable.Is(err) || records.IsConflict(err) || tries < 5 {
		t.Errorf("%v after %d tries", err, tries)
	}
	own := errors.New("own")
	if err := records.Retry(t.Context(), func() error { return own }); !errors.Is(err, own) {
		t.Error(err)
	}
}

// unencodable is a record that JSON cannot encode.
type unencodable struct {
	testRecord
	Value float64
}

func TestTx_FailsForARecordThatCannotBeEncoded(t *testing.T) {
	s := open(t)
	bad := &unencodable{Value: math.NaN()}
	bad.ID = "1"
	good := &testRecord{}
	good.ID = "2"
	err := new(records.Tx).Create(bad).Or(problem.Conflict.New("taken")).Create(good).Commit(t.Context(), s)
	if err == nil || problem.Conflict.Is(err) {
		t.Errorf("%v", err)
	}
	if found, err := records.Get[testRecord](t.Context(), s, store.Strong, good.Key()); found != nil || err != nil {
		t.Errorf("half of a change was made: %v, %v", found, err)
	}
}

func TestOutcomeUnknown(t *testing.T) {
	for err, want := range map[error]bool{
		&store.ConflictError{Failed: []int{0}}:   false,
		fmt.Errorf("key: %w", store.ErrInvalid):  false,
		problem.Conflict.New("taken"):            false,
		records.Failed(store.ErrUnavailable):     true,
		records.Failed(context.DeadlineExceeded): true,
		errors.New("the connection broke"):       true,
	} {
		if records.OutcomeUnknown(err) != want {
			t.Errorf("%v: in doubt is %v", err, !want)
		}
	}
	if records.OutcomeUnknown(nil) {
		t.Error("what succeeded is in doubt")
	}
}

// TestRead_IsOneCall checks that reading records of several kinds costs one call, and that missing records are nil.
func TestRead_IsOneCall(t *testing.T) {
	s := open(t)
	var used store.Usage
	ctx := store.WithUsage(t.Context(), &used)
	one := &testRecord{Meta: record.NewMeta(time.Now()), First: "A"}
	user := &record.User{Meta: record.NewMeta(time.Now()), Name: "Ada"}
	commit(t, s, new(records.Tx).Create(one).Create(user))
	var found, missing *testRecord
	var profile *record.User
	err := records.Read(ctx, s, store.Strong, records.Into(&found, one.Key()),
		records.Into(&missing, (&testRecord{Meta: record.NewMeta(time.Now())}).Key()), records.Into(&profile, user.Key()))
	if err != nil || found == nil || found.First != "A" || missing != nil || profile == nil || profile.Name != "Ada" ||
		used.Calls.Load() != 1 {
		t.Errorf("%+v, %+v, %+v in %d calls: %v", found, missing, profile, used.Calls.Load(), err)
	}
}

// TestDeletions_AreBatched checks that many keys are deleted in several transactions, and that keys added together stay together.
func TestDeletions_AreBatched(t *testing.T) {
	s, ctx := open(t), t.Context()
	var keys []store.Key
	for range 2*store.MaxWrites + 1 {
		r := &testRecord{Meta: record.NewMeta(time.Now())}
		commit(t, s, new(records.Tx).Create(r))
		keys = append(keys, r.Key())
	}
	var used store.Usage
	counted := store.WithUsage(ctx, &used)
	d := records.Deletions{Store: s}
	for i := 0; i < len(keys); i += 3 {
		if err := d.Add(counted, keys[i:min(i+3, len(keys))]...); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Commit(counted); err != nil || used.Calls.Load() != 3 {
		t.Errorf("%d transactions: %v", used.Calls.Load(), err)
	}
	left, err := records.GetAll[testRecord](ctx, s, store.Strong, keys...)
	for _, r := range left {
		if r != nil || err != nil {
			t.Fatalf("%+v is left: %v", r, err)
		}
	}
}
