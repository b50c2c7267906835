// Package link puts signed links into the files of a resource that is shown.
package link

import (
	"context"
	"time"

	"assay/shared/blob"
	"assay/shared/record"
)

// quarter is what the expiry of links is rounded to, so that what is shown, and with it the entity tag, stays the same
// for a while.
const quarter = 15 * time.Minute

// Life is how long a link works, as descriptions say it.
const Life = "30 to 45 minutes"

// expiry is when a link that is made now expires.
func expiry(now time.Time) time.Time { return now.Truncate(quarter).Add(3 * quarter) }

// Files returns the files with links: to get the bytes of those that are stored, if the caller may read them, and to send
// the bytes of those that are pending, if the caller may write them.
func Files(ctx context.Context, s blob.Store, now time.Time, h record.Holder, id string, files []record.File, read, write bool) ([]record.File, error) {
	linked := make([]record.File, len(files))
	for i, f := range files {
		linked[i] = f
		key := record.ObjectKey(h, id, f.SHA256)
		switch {
		case read && f.State == record.FileStored:
			l, err := s.SignGet(ctx, key, f.Name, f.MediaType, expiry(now))
			if err != nil {
				return nil, err
			}
			linked[i].URL = l.URL
		case write && f.State == record.FilePending:
			l, err := s.SignPut(ctx, blob.Object{Key: key, Size: f.Size, SHA256: f.SHA256, MediaType: f.MediaType}, expiry(now))
			if err != nil {
				return nil, err
			}
			linked[i].Upload = &record.Upload{Method: l.Method, URL: l.URL, Headers: l.Headers, ExpiresAt: record.At(l.ExpiresAt)}
		}
	}
	return linked, nil
}
