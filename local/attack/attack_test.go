// Package attack starts the program as it is shipped, under limits of memory and disk, and attacks it over its network
// interfaces while another user works with it. It proves for the whole what the tests of the packages prove for the parts.
//
// The full form, `make attack`, floods for minutes and judges by time as well: the process must not die, its memory may grow by
// growthBytes above rest, the p99 of a bystander's GETs stays under bystanderTime, and everything that was acknowledged is there
// in the end, also after the process was killed. The short form is part of the ordinary tests. It sends every attack once and
// judges what does not depend on how fast the machine is: statuses, bytes answered and allocated for each byte sent, resident
// memory, and the bystander's p99 as a multiple of the p99 without attack.
//
// Everything stays on loopback addresses. What the system lacks for a check is written to the log as NOT CHECKED.
package attack

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"assay/shared/store/storetest"
)

// Variables of the environment: which form, and a binary to attack instead of a fresh build.
const (
	formVariable   = "ASSAY_ATTACK"
	binaryVariable = "ASSAY_ATTACK_BINARY"
)

// What an attack may do to the process and to others.
const (
	growthBytes    = 512 << 20              // resident memory above rest
	bystanderTime  = 250 * time.Millisecond // p99 of a bystander's GETs; the full form alone judges it
	bystanderRatio = 150                    // the same p99 in the short form, as a multiple of the p99 without attack
	p99Attempts    = 3                      // of which the best counts, since other processes disturb it too
)

// form is how much is sent.
type form struct {
	full  bool
	flood time.Duration // how long each scenario sends; zero: until everything was sent once
	calm  time.Duration // how long the bystander is observed without attack
}

var (
	short = form{calm: time.Second}
	full  = form{full: true, flood: 5 * time.Second, calm: 3 * time.Second}
)

func TestAttack(t *testing.T) {
	f := short
	if os.Getenv(formVariable) == "full" {
		f = full
	}
	started := time.Now()
	p := newProgram(t, build(t))
	p.start(t)
	s := newSite(t, p, storetest.Random(t), f)
	j := newJournal(s)
	rest := p.rest(t)
	calm := s.calm(t)
	if f.full && calm.p99 > bystanderTime/10 {
		t.Logf("The machine has other work: without attack the p99 is %v. What follows says little of time; run it again without that work.",
			calm.p99)
	}
	rows := []string{fmt.Sprintf("%-34s %9s %8s %10s %10s  %s", "scenario", "p99", "peak", "allocated", "sent", "statuses")}
	rows = append(rows, row("at rest", calm, rest))
	for _, sc := range scenarios {
		if sc.fullOnly && !f.full || sc.smallDisk && !p.disk.small {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			rows = append(rows, row(sc.name, s.judge(t, sc, s.run(t, sc), rest, calm), rest))
		})
		if p.died() {
			t.Fatalf("the process died during %q:\n%s", sc.name, p.log.tail())
		}
	}
	j.stop()
	j.verify(t)
	p.kill(t)
	p.start(t)
	j.verify(t)
	t.Logf("%s, at rest %d MiB resident, %.0f s; %d acknowledged writes are there after a kill\n%s",
		p.limits(), rest>>20, time.Since(started).Seconds(), j.size(), strings.Join(rows, "\n"))
}

func row(name string, o outcome, rest int64) string {
	return fmt.Sprintf("%-34s %9s %+7dM %9dM %9dM  %v", name, o.p99.Round(100*time.Microsecond), (o.peak-rest)>>20, o.allocated>>20,
		o.sent>>20, o.byStatus())
}

// judge holds the outcome of a scenario to the bounds, and returns the one that counted.
func (s *site) judge(t *testing.T, sc scenario, o outcome, rest int64, calm outcome) outcome {
	t.Helper()
	if grown := o.peak - rest; grown > growthBytes {
		t.Errorf("resident memory grew by %d MiB above rest, more than %d", grown>>20, growthBytes>>20)
	}
	for _, fault := range o.faults {
		t.Error(fault)
	}
	if most := sc.allocates(o); !s.form.full && sc.factor > 0 && o.allocated > most {
		t.Errorf("%d MiB were allocated for %d requests of %d bytes together, more than %d MiB", o.allocated>>20, o.requests, o.sent, most>>20)
	}
	for attempt := 1; ; attempt++ {
		most := bystanderTime
		if !s.form.full {
			most = bystanderRatio * calm.p99
		}
		if o.p99 <= most {
			return o
		}
		if attempt == p99Attempts {
			t.Errorf("the p99 of the bystander's GETs is %v, more than %v; without attack it is %v", o.p99, most, calm.p99)
			return o
		}
		t.Logf("the p99 of the bystander's GETs is %v, more than %v: trying again", o.p99, most)
		calm, o = s.calm(t), s.run(t, sc)
	}
}
