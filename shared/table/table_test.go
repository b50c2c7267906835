package table_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"assay/shared/problem"
	"assay/shared/store"
	"assay/shared/table"
)

func TestNoChangeIsLost(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	r := &thing{First: "A"}
	r.ID = "1"
	if err := new(table.Tx).Create(r).Commit(ctx, s); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				err := table.Retry(ctx, func() error {
					now, err := table.Get[thing](ctx, s, store.Strong, r.Key())
					if err != nil {
						return err
					}
					now.First += "x"
					return new(table.Tx).Replace(now).Commit(ctx, s)
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	now, err := table.Get[thing](ctx, s, store.Strong, r.Key())
	if err != nil || len(now.First) != 41 || now.Version != 41 {
		t.Fatalf("%+v, %v", now, err)
	}
}

func TestAConditionThatDoesNotHoldAnswersWhatItWasGiven(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	one, two := &thing{}, &thing{}
	one.ID, two.ID = "1", "2"
	if err := new(table.Tx).Create(one).Commit(ctx, s); err != nil || one.Version != 1 {
		t.Fatal(one.Version, err)
	}
	taken := problem.Conflict.New("taken")
	err := new(table.Tx).Create(two).Create(one).Or(taken).Commit(ctx, s)
	if !errors.Is(err, taken) || table.IsConflict(err) {
		t.Errorf("%v", err)
	}
	if err := new(table.Tx).Create(two).Create(one).Commit(ctx, s); !table.IsConflict(err) {
		t.Errorf("%v", err)
	}
	if found, err := table.Get[thing](ctx, s, store.Strong, two.Key()); found != nil || err != nil {
		t.Errorf("half of a change was made: %v, %v", found, err)
	}
	stale := *one
	if err := new(table.Tx).Replace(one).Commit(ctx, s); err != nil || one.Version != 2 {
		t.Fatal(one.Version, err)
	}
	for name, tx := range map[string]*table.Tx{"replace": new(table.Tx).Replace(&stale), "delete": new(table.Tx).Delete(&stale), "check": new(table.Tx).Check(&stale), "absent": new(table.Tx).CheckAbsent(one.Key())} {
		if err := tx.Commit(ctx, s); !table.IsConflict(err) {
			t.Errorf("%s of what has changed: %v", name, err)
		}
	}
	if err := new(table.Tx).Delete(one).Commit(ctx, s); err != nil {
		t.Error(err)
	}
}

func TestRetryGivesUpWithAProblem(t *testing.T) {
	tries := 0
	err := table.Retry(context.Background(), func() error {
		tries++
		return &store.ConflictError{Failed: []int{0}}
	})
	if !problem.Unavailable.Is(err) || table.IsConflict(err) || tries < 5 {
		t.Errorf("%v after %d tries", err, tries)
	}
	own := errors.New("own")
	if err := table.Retry(context.Background(), func() error { return own }); !errors.Is(err, own) {
		t.Error(err)
	}
}

// unspeakable is a record that JSON cannot tell.
type unspeakable struct {
	thing
	Value float64
}

func TestARecordThatCannotBeWrittenFailsTheChange(t *testing.T) {
	s := open(t)
	bad := &unspeakable{Value: math.NaN()}
	bad.ID = "1"
	good := &thing{}
	good.ID = "2"
	err := new(table.Tx).Create(bad).Or(problem.Conflict.New("taken")).Create(good).Commit(context.Background(), s)
	if err == nil || problem.Conflict.Is(err) {
		t.Errorf("%v", err)
	}
	if found, err := table.Get[thing](context.Background(), s, store.Strong, good.Key()); found != nil || err != nil {
		t.Errorf("half of a change was made: %v, %v", found, err)
	}
}

func TestOnlyAStoreThatDoesNotSayLeavesAChangeInDoubt(t *testing.T) {
	for err, want := range map[error]bool{
		&store.ConflictError{Failed: []int{0}}:  false,
		fmt.Errorf("key: %w", store.ErrInvalid): false,
		problem.Conflict.New("taken"):           false,
		table.Failed(store.ErrUnavailable):      true,
		table.Failed(context.DeadlineExceeded):  true,
		errors.New("the connection broke"):      true,
	} {
		if table.InDoubt(err) != want {
			t.Errorf("%v: in doubt is %v", err, !want)
		}
	}
	if table.InDoubt(nil) {
		t.Error("what succeeded is in doubt")
	}
}
