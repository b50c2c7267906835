package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/files"
	"assay/shared/storage/blob"
	"assay/shared/storage/store/embedded"
)

// silentStore is an object store without notifications. It counts calls of Stat, and fails on demand.
type silentStore struct {
	blob.Store
	asked atomic.Int64
	fails atomic.Bool
}

func (s *silentStore) Stat(ctx context.Context, key string) (blob.Object, error) {
	s.asked.Add(1)
	if s.fails.Load() {
		return blob.Object{}, errors.New("the store is down")
	}
	return s.Store.Stat(ctx, key)
}

// pollerTest is a poller in a synctest bubble.
type pollerTest struct {
	*fixture
	*files.Poller
	objects *silentStore
	log     bytes.Buffer
}

func newPollerTest(t *testing.T) *pollerTest {
	t.Helper()
	b := recordtest.New(t, recordtest.OpenStore(t, embedded.Options{}))
	p := &pollerTest{
		fixture: &fixture{b, files.Uploads{Store: b.Store, Now: time.Now}, t}, objects: &silentStore{Store: recordtest.OpenFiles(t)},
	}
	p.Poller = &files.Poller{Store: p.objects, Uploads: p.fixture.Uploads, Log: slog.New(slog.NewTextHandler(&p.log, nil))}
	return p
}

// start runs the poller until stop is called.
func (p *pollerTest) start() (stop func()) {
	ctx, cancel := context.WithCancel(p.t.Context())
	var ended sync.WaitGroup
	ended.Go(func() { p.Run(ctx) })
	synctest.Wait()
	return func() {
		cancel()
		ended.Wait()
	}
}

// sign signs upload links for the run, as an answer to its owner does.
func (p *pollerTest) sign(r *record.RunItem) {
	p.t.Helper()
	links := files.Links{Objects: p.Poller, Now: time.Now(), Upload: true}
	if _, err := links.Sign(p.t.Context(), record.HolderRuns, r.ID, r.Files); err != nil {
		p.t.Fatal(err)
	}
}

// upload stores a file like a client with a link.
func (p *pollerTest) upload(h record.Holder, id, content string) {
	p.t.Helper()
	f := pending(content)[0]
	o := blob.Object{Key: record.ObjectKey(h, id, f.SHA256), Size: f.Size, SHA256: f.SHA256}
	if err := p.objects.Put(p.t.Context(), o, strings.NewReader(content)); err != nil {
		p.t.Fatal(err)
	}
}

func TestPoller_QueuesARunWithinSecondsOfItsUpload(t *testing.T) {
	for name, wait := range map[string]time.Duration{"at once": 0, "after a minute": time.Minute, "an upload of an hour": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPollerTest(t)
				defer p.start()()
				r := p.run(record.AwaitingUpload, "a", "b")
				p.sign(r)
				time.Sleep(wait)
				p.upload(record.HolderRuns, r.ID, "a")
				p.upload(record.HolderRuns, r.ID, "b")
				if wait > time.Minute {
					time.Sleep(27 * time.Second)
				}
				time.Sleep(4 * time.Second)
				if now := stored(p.fixture, r); now.State != record.Queued {
					t.Errorf("the run is %s", now.State)
				}
			})
		})
	}
}

// A client that reads its run gets a new link, and the poller asks for the file soon.
func TestPoller_AsksQuicklyAgainForWhoAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPollerTest(t)
		defer p.start()()
		r := p.run(record.AwaitingUpload, "a")
		p.sign(r)
		time.Sleep(40*time.Minute + 100*time.Millisecond)
		p.upload(record.HolderRuns, r.ID, "a")
		for range 20 { // the client keeps reading its run
			p.sign(r)
			time.Sleep(100 * time.Millisecond)
		}
		if now := stored(p.fixture, r); now.State != record.Queued {
			t.Errorf("the run is %s", now.State)
		}
	})
}

// The poller asks less and less often for a file that never arrives. After its link has expired, only the search asks for it.
func TestPoller_AsksLittleForWhatNeverArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPollerTest(t)
		defer p.start()()
		p.sign(p.run(record.AwaitingUpload, "a"))
		time.Sleep(3*time.Hour + time.Second)
		first := p.objects.asked.Swap(0)
		time.Sleep(time.Hour)
		if later := p.objects.asked.Load(); first < 100 || first > 400 || later != 12 {
			t.Errorf("%d requests in three hours, and %d in the next", first, later)
		}
	})
}

// Another process, or one that died, may have signed the links.
func TestPoller_FindsUploadsToLinksOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPollerTest(t)
		arrived := p.run(record.AwaitingUpload, "a")
		old := p.run(record.AwaitingUpload, "b")
		missing := p.run(record.AwaitingUpload, "c")
		d := p.dataset("in", "truth")
		p.upload(record.HolderRuns, arrived.ID, "a")
		p.upload(record.HolderInputs, d.ID, "in")
		p.upload(record.HolderTruths, d.ID, "truth")
		stop := p.start()
		if now := stored(p.fixture, arrived); now.State != record.Queued {
			t.Errorf("a run whose file was there is %s", now.State)
		}
		if now := stored(p.fixture, d); now.Inputs[0].State != record.FileStored || !now.PendingWork.Is(record.AcceptTruth) {
			t.Errorf("the dataset is %+v", now)
		}
		time.Sleep(time.Minute)
		p.upload(record.HolderRuns, missing.ID, "c")
		time.Sleep(5 * time.Second)
		if now := stored(p.fixture, missing); now.State != record.Queued {
			t.Errorf("a run whose file came with a link of an earlier process is %s", now.State)
		}
		stop()
		time.Sleep(23 * time.Hour)
		p.upload(record.HolderRuns, old.ID, "b")
		defer p.start()()
		if now := stored(p.fixture, old); now.State != record.Queued {
			t.Errorf("a run that waits for a day is %s", now.State)
		}
	})
}

// Many links to files that are never sent do not delay clients who send files, whether or not their runs were deleted.
func TestPoller_ServesOthersWhenOneAnnouncesMany(t *testing.T) {
	for name, deleted := range map[string]bool{"waiting": false, "deleted": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPollerTest(t)
				defer p.start()()
				nobody := record.NewID(time.Now())
				for i := range 25_000 {
					digest := fmt.Sprintf("%064x", i)
					o := blob.Object{Key: record.ObjectKey(record.HolderRuns, nobody, digest), Size: 1, SHA256: digest}
					if _, err := p.SignPut(t.Context(), o, time.Now().Add(time.Hour)); err != nil {
						t.Fatal(err)
					}
					if deleted {
						if err := p.Delete(t.Context(), o.Key); err != nil {
							t.Fatal(err)
						}
					}
				}
				time.Sleep(time.Millisecond)
				r := p.run(record.AwaitingUpload, "a")
				p.sign(r)
				p.upload(record.HolderRuns, r.ID, "a")
				p.objects.asked.Store(0)
				time.Sleep(4 * time.Second)
				if now := stored(p.fixture, r); now.State != record.Queued {
					t.Errorf("the run is %s", now.State)
				}
				if n := p.objects.asked.Load(); deleted && n > 10 {
					t.Errorf("%d requests for files that were deleted", n)
				}
			})
		})
	}
}

func TestPoller_GoesOnWhenTheStoreIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPollerTest(t)
		p.objects.fails.Store(true)
		defer p.start()()
		r := p.run(record.AwaitingUpload, "a")
		p.sign(r)
		p.upload(record.HolderRuns, r.ID, "a")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if !strings.Contains(p.log.String(), "the store is down") {
			t.Errorf("the log says %q", p.log.String())
		}
		p.objects.fails.Store(false)
		time.Sleep(2 * time.Second)
		if now := stored(p.fixture, r); now.State != record.Queued {
			t.Errorf("the run is %s", now.State)
		}
	})
}

// The poller does not delete an upload that no record names, because the transaction of its record may not be committed yet.
func TestPoller_WaitsForTheRecordOfAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPollerTest(t)
		defer p.start()()
		r := p.run(record.Cancelled, "a")
		p.sign(r)
		p.upload(record.HolderRuns, r.ID, "a")
		time.Sleep(5 * time.Second)
		if _, err := p.objects.Stat(t.Context(), key(record.HolderRuns, r.ID, "a")); err != nil {
			t.Errorf("the file: %v", err)
		}
		r.State = record.AwaitingUpload
		r.Version = stored(p.fixture, r).Version
		p.Replace(r)
		time.Sleep(2 * time.Second)
		if now := stored(p.fixture, r); now.State != record.Queued {
			t.Errorf("the run is %s", now.State)
		}
		if p.log.Len() > 0 {
			t.Errorf("the log has %s", p.log.String())
		}
	})
}
