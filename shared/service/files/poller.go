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

// await polls for an upload until the given time, unless there is no room.
func (p *Poller) await(key string, signed, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.awaited == nil {
		p.awaited = map[string]*awaitedUpload{}
	}
	next := p.Uploads.Now().Add(minPollInterval)
	earlier := p.awaited[key]
	switch {
	case earlier == nil:
		if len(p.awaited) >= maxAwaited && !p.makeRoom(signed) {
			return
		}
	case !earlier.signed.Before(signed):
		return // this link is not newer
	case earlier.next.Before(next):
		next = earlier.next // signing again does not defer the next question
	}
	p.awaited[key] = &awaitedUpload{signed: signed, next: next, until: until}
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
	var jobs sync.WaitGroup
	jobs.Go(func() { p.repeat(ctx, minPollInterval, pollTimeout, p.poll) })
	jobs.Go(func() { p.repeat(ctx, completeInterval, completeTimeout, p.completeAll) })
	jobs.Wait()
}

// repeat calls do at intervals, each time with a timeout.
func (p *Poller) repeat(ctx context.Context, interval, timeout time.Duration, do func(context.Context) error) {
	const failed = "cannot ask the object store for all uploads; trying again later"
	wait.Repeat(ctx, interval, p.Log, failed, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return do(ctx)
	})
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
		a.next = now.Add(pollInterval(now.Sub(a.signed)))
		if a.next.After(a.until) {
			delete(p.awaited, key)
		}
	}
	return keys
}

// pollInterval returns the interval at which to ask for a file whose link has the age.
func pollInterval(age time.Duration) time.Duration {
	return min(max(age/pollFraction, minPollInterval), maxPollInterval)
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
// because another process, or one that died, may have signed the links. It returns the first error, after trying all files.
func (p *Poller) completeAll(ctx context.Context) error {
	runs := p.completeRuns(ctx)
	datasets := p.completeDatasets(ctx)
	return cmp.Or(runs, datasets)
}

// completeRuns does the work of completeAll for runs. It finds waiting runs by the expiry of their uploads.
func (p *Poller) completeRuns(ctx context.Context) (failed error) {
	now := p.Uploads.Now()
	expiring := store.Query{
		Index: record.ByWork, Partition: record.DueRuns, Limit: readAtOnce,
		From: record.DueBy(now), To: record.DueBy(now.Add(record.UploadTime)),
	}
	for it, err := range records.Items(ctx, p.Uploads.Store, expiring) {
		if err == nil {
			err = p.completeRun(ctx, it)
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

func (p *Poller) completeRun(ctx context.Context, it store.Item) error {
	r, err := records.Decode[record.RunItem](it)
	if err != nil || r.State != record.AwaitingUpload {
		return err
	}
	return p.completeFiles(ctx, record.HolderRuns, r.Meta, r.Files)
}

// completeDatasets does the work of completeAll for datasets.
func (p *Poller) completeDatasets(ctx context.Context) (failed error) {
	all := records.OfKind(record.KindDataset, record.AudiencesOf(record.KindDataset)...)
	err := records.Each(ctx, p.Uploads.Store, readAtOnce, all, func(d *record.DatasetItem) error {
		inputs := p.completeFiles(ctx, record.HolderInputs, d.Meta, d.Inputs)
		truths := p.completeFiles(ctx, record.HolderTruths, d.Meta, d.Truths)
		failed = cmp.Or(failed, inputs, truths)
		return ctx.Err()
	})
	return cmp.Or(failed, err)
}

// completeFiles does the work of completeAll for the files of a run or dataset.
func (p *Poller) completeFiles(ctx context.Context, h record.Holder, of record.Meta, files []record.File) (failed error) {
	for _, f := range files {
		if f.State != record.FilePending {
			continue
		}
		key := record.ObjectKey(h, of.ID, f.SHA256)
		stored, err := p.complete(ctx, key)
		failed = cmp.Or(failed, err)
		until := of.UpdatedAt.Add(maxLinkLife + uploadDuration)
		if !stored && until.After(p.Uploads.Now()) {
			p.await(key, of.UpdatedAt.Time, until)
		}
	}
	return failed
}
