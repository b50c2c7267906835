package files

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/wait"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// A Poller asks for a file at intervals that grow with the age of the last signed link. Clients usually upload right after they get a
// link. A client that reads its run again gets a new link with the answer.
const (
	minPollInterval  = time.Second
	maxPollInterval  = 30 * time.Second
	pollFraction     = 20               // the interval is this fraction of the link's age
	uploadDuration   = time.Hour        // longest upload; it may begin just before its link expires
	completeInterval = 5 * time.Minute  // between searches for uploads to links of other processes
	maxAwaited       = 20_000           // greatest number of polled uploads; the search finds others
	compared         = 32               // uploads among which makeRoom finds one to forget
	readAtOnce       = 50               // records
	maxLinkLife      = 3 * quarter      // of upload links
	completeTimeout  = 10 * time.Minute // of one search
	pollTimeout      = time.Minute      // of one round of polling
)

// Poller is an object store that detects uploads to its signed links by asking the underlying store for the files. It is for stores that
// send no notification of uploads, such as S3-compatible servers.
type Poller struct {
	blob.Store
	Uploads Uploads
	Log     *slog.Logger

	mu      sync.Mutex
	awaited map[string]*awaitedUpload // by key
}

// awaitedUpload is the state of an upload that may still arrive.
type awaitedUpload struct {
	signed, next, until time.Time // when the link was signed, when to ask next, and when to stop
}

// SignPut implements blob.Store.
func (p *Poller) SignPut(ctx context.Context, o blob.Object, expires time.Time) (blob.Link, error) {
	link, err := p.Store.SignPut(ctx, o, expires)
	if err == nil {
		p.await(o.Key, p.Uploads.Now(), expires.Add(uploadDuration))
	}
	return link, err
}

// Delete implements blob.Store. It also stops polling for the files.
func (p *Poller) Delete(ctx context.Context, keys ...string) error {
	p.mu.Lock()
	for _, key := range keys {
		delete(p.awaited, key)
	}
	p.mu.Unlock()
	return p.Store.Delete(ctx, keys...)
}

func (p *Poller) await(key string, signed, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.awaited == nil {
		p.awaited = map[string]*awaitedUpload{}
	}
	a := p.awaited[key]
	if a == nil && len(p.awaited) >= maxAwaited && !p.makeRoom(signed) || a != nil && !a.signed.Before(signed) {
		return
	}
	next := p.Uploads.Now().Add(minPollInterval)
	if a != nil && a.next.Before(next) {
		next = a.next // signing again does not defer the next question
	}
	p.awaited[key] = &awaitedUpload{signed, next, until}
}

// makeRoom forgets an upload whose link was signed before the given time. It compares only some uploads, and reports whether it found
// one. So a user who announces many files and sends none does not delay uploads to newer links.
func (p *Poller) makeRoom(signed time.Time) bool {
	earliest, n := "", 0
	for key, a := range p.awaited {
		if a.signed.Before(signed) {
			earliest, signed = key, a.signed
		}
		n++
		if n == compared {
			break
		}
	}
	delete(p.awaited, earliest)
	return earliest != ""
}

// Run completes uploads until the context ends.
func (p *Poller) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, job := range []struct {
		every, timeout time.Duration
		do             func(context.Context) error
	}{{minPollInterval, pollTimeout, p.poll}, {completeInterval, completeTimeout, p.completeAll}} {
		all.Go(func() {
			const failed = "cannot ask the object store for all uploads; trying again later"
			wait.Repeat(ctx, job.every, nil, p.Log, failed, func(ctx context.Context) error {
				limited, cancel := context.WithTimeout(ctx, job.timeout)
				defer cancel()
				return job.do(limited)
			})
		})
	}
	all.Wait()
}

// poll asks for the awaited files that are due.
func (p *Poller) poll(ctx context.Context) error {
	keys := p.due(p.Uploads.Now())
	return records.Concurrently(len(keys), func(i int) error {
		_, err := p.complete(ctx, keys[i])
		return err
	})
}

// due returns the keys to ask for now, and sets the next time for each. It drops uploads whose links can no longer be in use.
func (p *Poller) due(now time.Time) (keys []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, a := range p.awaited {
		if a.next.After(now) {
			continue
		}
		keys = append(keys, key)
		a.next = now.Add(min(max(now.Sub(a.signed)/pollFraction, minPollInterval), maxPollInterval))
		if a.next.After(a.until) {
			delete(p.awaited, key)
		}
	}
	return keys
}

// complete records that the file is stored. stored is false if the file is not stored.
func (p *Poller) complete(ctx context.Context, key string) (stored bool, err error) {
	if _, err = p.Stat(ctx, key); err == nil {
		err = p.Uploads.Complete(ctx, key)
	}
	if errors.Is(err, blob.ErrNotFound) {
		return false, nil // the file has not arrived, or the transaction that names it is not committed yet
	}
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.awaited, key)
	}
	return err == nil, err
}

// completeAll asks once for every file that runs and datasets wait for. It starts polling for files whose links may still be used,
// because another process, or one that died, may have signed the links. It finds waiting runs by the expiry of their uploads. It returns
// the first error, after trying all files.
func (p *Poller) completeAll(ctx context.Context) (failed error) {
	now := p.Uploads.Now()
	for it, err := range records.Items(ctx, p.Uploads.Store, store.Query{Index: record.ByWork, Partition: record.DuePartition,
		From: record.DueBy(now), To: record.DueBy(now.Add(record.UploadTime)), Limit: readAtOnce}) {
		if err != nil {
			return cmp.Or(failed, err)
		}
		if !record.IsRun(it.Key) {
			continue
		}
		r, err := records.Decode[record.RunItem](it)
		if err == nil && r.State == record.AwaitingUpload {
			err = p.completeFiles(ctx, record.HolderRuns, r.Meta, r.Files)
		}
		failed = cmp.Or(failed, err)
	}
	datasets := records.OfKind(record.KindDataset, record.AudiencesOf(record.KindDataset)...)
	err := records.Each(ctx, p.Uploads.Store, readAtOnce, datasets, func(d *record.DatasetItem) error {
		failed = cmp.Or(failed, p.completeFiles(ctx, record.HolderInputs, d.Meta, d.Inputs),
			p.completeFiles(ctx, record.HolderTruths, d.Meta, d.Truths))
		return ctx.Err()
	})
	return cmp.Or(failed, err)
}

// completeFiles does the work of completeAll for the files of one resource.
func (p *Poller) completeFiles(ctx context.Context, h record.Holder, of record.Meta, files []record.File) (failed error) {
	for _, f := range files {
		if f.State != record.FilePending {
			continue
		}
		key := record.ObjectKey(h, of.ID, f.SHA256)
		stored, err := p.complete(ctx, key)
		failed = cmp.Or(failed, err)
		if until := of.UpdatedAt.Add(maxLinkLife + uploadDuration); !stored && until.After(p.Uploads.Now()) {
			p.await(key, of.UpdatedAt.Time, until)
		}
	}
	return failed
}
