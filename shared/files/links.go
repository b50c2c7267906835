package files

import (
	"context"
	"time"

	"assay/shared/blob"
	"assay/shared/record"
)

// quarter is what the expiry of links is rounded to, so that an answer with links, and with it the entity tag, stays the same
// for a while.
const quarter = 15 * time.Minute

// LinkLife is how long a link works, in the words of descriptions.
const LinkLife = "30 to 45 minutes"

// Links signs links to the files of one caller.
type Links struct {
	Objects  blob.Store
	Now      time.Time
	Download bool // whether the caller may read files that are stored
	Upload   bool // whether the caller may upload files that are pending
}

// Sign returns a copy of the files of a holder with the links that the caller may have.
func (l Links) Sign(ctx context.Context, h record.Holder, id string, files []record.File) ([]record.File, error) {
	expires := l.Now.Truncate(quarter).Add(3 * quarter)
	signed := make([]record.File, len(files))
	for i, f := range files {
		signed[i] = f
		key := record.ObjectKey(h, id, f.SHA256)
		switch {
		case l.Download && f.State == record.FileStored:
			link, err := l.Objects.SignGet(ctx, key, f.Name, f.MediaType, expires)
			if err != nil {
				return nil, err
			}
			signed[i].URL = link.URL
		case l.Upload && f.State == record.FilePending:
			link, err := l.Objects.SignPut(ctx, blob.Object{Key: key, Size: f.Size, SHA256: f.SHA256, MediaType: f.MediaType}, expires)
			if err != nil {
				return nil, err
			}
			signed[i].Upload = &record.Upload{Method: link.Method, URL: link.URL, Headers: link.Headers, ExpiresAt: record.At(link.ExpiresAt)}
		}
	}
	return signed, nil
}
