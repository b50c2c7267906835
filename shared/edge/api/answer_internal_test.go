package api

import (
	"testing"
	"time"

	"assay/shared/domain/record"
)

// TestKeepUntil_OfAnInstantThatHasPassed computes an answer shortly before an instant at which it becomes false, and sends it afterwards.
func TestKeepUntil_OfAnInstantThatHasPassed(t *testing.T) {
	computed := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	c := &Call{Env: &Env{Now: func() time.Time { return computed.Add(2 * time.Second) }}, op: &Operation{Spec: Spec{CacheFor: 60}}}
	over := record.At(computed.Add(-time.Second))
	next := record.At(computed.Add(time.Second))
	later := record.At(computed.Add(time.Hour))
	c.KeepUntil(computed, &over, nil, &later)
	if got := c.cacheFor(); got != 60 {
		t.Errorf("an hour before the next instant, caches keep the answer for %d seconds", got)
	}
	c.KeepUntil(computed, &next)
	if got := c.cacheFor(); got != 0 {
		t.Errorf("after the next instant, caches keep the answer for %d seconds", got)
	}
}
