package s3

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"os"

	"assay/shared/blob"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
)

// maxInMemory is how large a file may be to be kept in memory until it is sent; a larger one waits in the folder for temporary
// files. It is more than any file that comes within a request.
const maxInMemory = 8 << 20

// Put implements blob.Store. All of r is read and verified before S3 hears of it, so that sending can be tried again.
func (s *Store) Put(ctx context.Context, o blob.Object, r io.Reader) error {
	if err := o.Check(); err != nil {
		return err
	}
	copied, err := newCopy(o.Size)
	if err != nil {
		return err
	}
	defer copied.discard()
	if err := blob.Copy(ctx, copied, o, r); err != nil {
		return err
	}
	content, err := copied.content()
	if err != nil {
		return err
	}
	_, err = s.client.PutObject(ctx, s.declare(o, content), sdk.WithAPIOptions(
		// S3 compares the bytes with the declared SHA-256, which is signed: hashing them once more for the signature adds nothing.
		v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware,
	))
	if err != nil {
		return s.failed("store", o.Key, err)
	}
	return nil
}

// declare is the request that stores o and no other bytes. o must be valid.
func (s *Store) declare(o blob.Object, content io.Reader) *sdk.PutObjectInput {
	mediaType := cmp.Or(o.MediaType, blob.DefaultMediaType)
	sum, _ := hex.DecodeString(o.SHA256)
	digest := base64.StdEncoding.EncodeToString(sum)
	return &sdk.PutObjectInput{
		Bucket: &s.bucket, Key: &o.Key, ContentLength: &o.Size, ContentType: &mediaType, ChecksumSHA256: &digest, Body: content,
	}
}

// copied is the copy of a file that is yet to be sent, in memory or on disk.
type copied struct {
	io.Writer // to one of the two
	memory    bytes.Buffer
	disk      *os.File // nil when memory has it
}

func newCopy(size int64) (*copied, error) {
	c := new(copied)
	c.Writer = &c.memory
	if size <= maxInMemory {
		c.memory.Grow(int(size) + 1)
		return c, nil
	}
	var err error
	c.disk, err = os.CreateTemp("", "assay-put-*")
	c.Writer = c.disk
	return c, err
}

// content returns the copy from its start.
func (c *copied) content() (io.ReadSeeker, error) {
	if c.disk == nil {
		return bytes.NewReader(c.memory.Bytes()), nil
	}
	_, err := c.disk.Seek(0, io.SeekStart)
	return c.disk, err
}

func (c *copied) discard() {
	if c.disk != nil {
		c.disk.Close()
		os.Remove(c.disk.Name())
	}
}
