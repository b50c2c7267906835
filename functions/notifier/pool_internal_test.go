package notifier

import (
	"fmt"
	"testing"

	"assay/shared/store"
	"assay/shared/waittest"
)

// A mail server and receivers that do not answer delay neither the webhooks of others nor the reading of the outbox.
func TestPool_StartsOthersWhileSomeHang(t *testing.T) {
	p := newPool()
	hold := make(chan struct{})
	defer p.wait()
	defer close(hold)
	for i := range 2 * concurrency {
		if started := p.start(store.Key{Partition: fmt.Sprint("MAILBOX#", i)}, false, func() { <-hold }); started != (i < concurrency) {
			t.Fatalf("mail %d: started %v", i, started)
		}
	}
	for i := range 16 {
		for range 2 * perWebhook {
			p.start(store.Key{Partition: fmt.Sprint("WEBHOOK#", i)}, false, func() { <-hold })
		}
	}
	for i := range 40 {
		for attempt := range 2 {
			if started := p.start(store.Key{Partition: fmt.Sprint("WEBHOOK#failing", i)}, true, func() { <-hold }); started != (attempt == 0) {
				t.Fatalf("attempt %d of a webhook that fails: started %v", attempt, started)
			}
		}
	}
	started := make(chan bool, 2)
	for _, partition := range []string{"WEBHOOK#quick", "EVENT#1"} {
		if !p.start(store.Key{Partition: partition}, false, func() { started <- true }) {
			t.Errorf("%s waits", partition)
		}
	}
	for range 2 {
		waittest.Receive(t, "others start while some hang", started)
	}
}
