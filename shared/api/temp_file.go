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

	"assay/shared/blob"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
)

// MaxResultBytes is how large a file may be that is written for a caller: less than half of the 512 MB that a function has on its disk,
// for the store makes a copy there before it sends the file.
const MaxResultBytes = 240 << 20

// TempFile takes a file while it is written for a caller, on the disk: whether it is of any use is known only at its end, and so are its
// size and digest, which the object store wants first.
type TempFile struct {
	Name, MediaType string
	Size            int64
	SHA256          string // in lower-case hexadecimal

	disk     *os.File // not embedded, or its WriteString and ReadFrom would go past Write
	limit    int64    // bytes
	digest   hash.Hash
	buffered *bufio.Writer
}

// WriteTempFile returns a file with what write writes, for the caller to close. When there is an error, or write panics, it is
// closed already. Nobody but who is logged in gets more than an answer has room for.
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
	if err := os.Remove(disk.Name()); err != nil { // it stays until it is closed, and goes with the process if that dies
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
		return 0, problem.Unauthorized.New("The result has more than the %d bytes that are answered to everyone. Log in to get a link to it: "+
			"Authorization: Bearer <token>.", f.limit)
	default:
		return 0, problem.TooLarge.New("The result has more than %d bytes. Give a depth, or fewer or smaller files.", f.limit)
	}
}

// Reader returns the file from its start.
func (f *TempFile) Reader() (io.Reader, error) {
	_, err := f.disk.Seek(0, io.SeekStart)
	return f.disk, err
}

// Close closes the file, which nobody reads again.
func (f *TempFile) Close() { _ = f.disk.Close() }

// StoreResult keeps the file for the caller, whom it is charged to for as long, and returns a link to it as the media type.
func (c *Call) StoreResult(ctx context.Context, f *TempFile, mediaType string) (blob.Link, error) {
	content, err := f.Reader()
	if err != nil {
		return blob.Link{}, err
	}
	now := c.Now()
	key := record.ObjectKey(record.HolderTools, c.Caller.ID, f.SHA256) // the same again for who asks again
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
