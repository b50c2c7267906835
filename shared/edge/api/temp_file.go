package api

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
)

// MaxResultBytes is the greatest length of a result file. It is less than half of the 512 MB disk of a Lambda function, because the object
// store copies the file there before it sends the file.
const MaxResultBytes = 240 << 20

// TempFile is a temporary file on disk for a result. The result is complete only at its end. Only then its size and digest are known,
// which the object store needs before the content.
type TempFile struct {
	Name, MediaType string
	Size            int64
	SHA256          string // in lower-case hexadecimal

	disk     *os.File // not embedded, or its WriteString and ReadFrom would go past Write
	limit    int64    // bytes
	digest   hash.Hash
	buffered *bufio.Writer
}

// WriteTempFile returns a file with the output of write. The caller closes the file. If write fails or panics, the file is already closed.
// Callers without a login get at most record.MaxInlineBytes.
func (c *Call) WriteTempFile(name, mediaType string, write func(io.Writer) error) (*TempFile, error) {
	disk, err := os.CreateTemp("", "assay-result-*")
	if err != nil {
		return nil, err
	}
	whole := false
	defer func() {
		if !whole {
			_ = disk.Close() // nobody reads it
		}
	}()
	if err := os.Remove(disk.Name()); err != nil { // the open file remains usable, and disappears even if the process dies
		return nil, err
	}
	f := &TempFile{Name: name, MediaType: mediaType, disk: disk, digest: sha256.New(), limit: MaxResultBytes}
	if c.Caller.Anonymous() {
		f.limit = record.MaxInlineBytes
	}
	f.buffered = bufio.NewWriterSize(io.MultiWriter(disk, f.digest), 256<<10)
	if err := write(f); err != nil {
		return nil, err
	}
	if err := f.buffered.Flush(); err != nil {
		return nil, err
	}
	whole, f.SHA256 = true, hex.EncodeToString(f.digest.Sum(nil))
	return f, nil
}

// Write implements io.Writer.
func (f *TempFile) Write(p []byte) (int, error) {
	switch f.Size += int64(len(p)); {
	case f.Size <= f.limit:
		return f.buffered.Write(p)
	case f.limit == record.MaxInlineBytes:
		return 0, problem.Unauthorized.New("The result has more than the %s that are answered to everyone. Log in to get a link to it: "+
			"Authorization: Bearer <token>.", problem.Size(f.limit))
	default:
		return 0, problem.TooLarge.New("The result has more than %s. Give a {depth}, or fewer or smaller files.", problem.Size(f.limit))
	}
}

// Reader returns the file from its start.
func (f *TempFile) Reader() (io.Reader, error) {
	_, err := f.disk.Seek(0, io.SeekStart)
	return f.disk, err
}

// Close deletes the file.
func (f *TempFile) Close() { _ = f.disk.Close() }

// StoreResult stores the file, charges the caller for it during Quotas.ResultTime, and returns a link to it with the media type.
func (c *Call) StoreResult(ctx context.Context, f *TempFile, mediaType string) (blob.Link, error) {
	content, err := f.Reader()
	if err != nil {
		return blob.Link{}, err
	}
	now := c.Now()
	key := record.ObjectKey(record.HolderTools, c.Caller.ID, f.SHA256) // equal results of a caller share an object
	err = records.Retry(ctx, func() error {
		c.Forget()
		c.Tx = new(records.Tx)
		if err := c.Charge(ctx, record.Charge{Leaving: f.Size, Until: record.At(now.Add(c.Quotas.ResultTime))}); err != nil {
			return err
		}
		return c.Tx.Commit(ctx, c.Store)
	})
	if err != nil {
		return blob.Link{}, err
	}
	if err := c.Files.Put(ctx, blob.Object{Key: key, Size: f.Size, SHA256: f.SHA256, MediaType: f.MediaType}, content); err != nil {
		return blob.Link{}, problem.Unavailable.Wrap(err, "The result could not be stored. Try again in a few seconds.").After(2 * time.Second)
	}
	return c.Files.SignGet(ctx, key, f.Name, mediaType, now.Add(record.ResultLinkTime))
}
