// Package s3 keeps files in an S3 bucket, with AWS's own client, so that a deployed Assay never moves the bytes of files
// itself: clients send and get them with signed links.
//
// Bytes at rest are encrypted and private by the bucket's settings; this package sets neither.
//
// Callers need s3:GetObject, s3:PutObject and s3:DeleteObject on the objects, as far as they read, write and delete
// them, and s3:ListBucket on the bucket even for a key that it names: without that S3 answers 403 where nothing is stored,
// and ErrNotFound never comes. A link can do what its signer may do when it is used, as long as the signer's
// credentials are valid.
//
// The client weighs 1.4 MB of a stripped arm64 program that has the DynamoDB client already, and 0.2 to 0.4 ms of its start;
// AWS's signer alone over net/http weighs 0.1 MB. The difference buys the client's retries, checksums and endpoints.
package s3

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"assay/shared/blob"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Store is a blob.Store over a bucket.
type Store struct {
	client    *sdk.Client
	presigner *sdk.PresignClient
	bucket    string
	now       func() time.Time
}

var _ blob.Store = (*Store)(nil)

// New returns the store of a bucket, which must be there. cfg names the region and the credentials. An endpoint of its
// own, from cfg.BaseEndpoint or from one of cfg.ConfigSources, is addressed with the bucket in the path, because few
// servers other than AWS have a host name for each bucket.
func New(cfg aws.Config, bucket string) *Store {
	client := sdk.NewFromConfig(cfg, func(o *sdk.Options) { o.UsePathStyle = o.BaseEndpoint != nil })
	return &Store{client: client, presigner: sdk.NewPresignClient(client), bucket: bucket, now: time.Now}
}

// LinkTo returns the same store, except that its links lead to another endpoint, for a server that clients reach at another address than
// this process. An endpoint that has a path is refused by servers, because signatures are of the whole path.
func (s *Store) LinkTo(endpoint string) *Store {
	linked := *s
	client := sdk.New(s.client.Options(), func(o *sdk.Options) { o.BaseEndpoint, o.UsePathStyle = &endpoint, true })
	linked.presigner = sdk.NewPresignClient(client)
	return &linked
}

// CreateBucket makes the bucket when it is missing, which clients in browsers on pages of the origins may use.
func (s *Store) CreateBucket(ctx context.Context, origins ...string) error {
	in := &sdk.CreateBucketInput{Bucket: &s.bucket}
	if region := s.client.Options().Region; region != "us-east-1" { // which is the one that must not be named
		in.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(region)}
	}
	_, err := s.client.CreateBucket(ctx, in)
	if _, there := errors.AsType[*types.BucketAlreadyOwnedByYou](err); there {
		return nil
	}
	if err != nil {
		return fmt.Errorf("make the bucket %s: %w", s.bucket, err)
	}
	_, err = s.client.PutBucketCors(ctx, &sdk.PutBucketCorsInput{Bucket: &s.bucket, CORSConfiguration: &types.CORSConfiguration{
		CORSRules: []types.CORSRule{{AllowedOrigins: origins, AllowedMethods: []string{"GET", "HEAD", "PUT"}, AllowedHeaders: []string{"*"},
			ExposeHeaders: []string{"ETag"}}},
	}})
	if err != nil {
		return fmt.Errorf("let pages use the bucket %s: %w", s.bucket, err)
	}
	return nil
}

// Open implements blob.Store. The reader ends in an error when the bytes are not those whose SHA-256 was stored with them.
func (s *Store) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := blob.CheckKey(key); err != nil {
		return nil, err
	}
	got, err := s.client.GetObject(ctx, &sdk.GetObjectInput{
		Bucket: &s.bucket, Key: &key, ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return nil, s.contractError("read", key, err)
	}
	return got.Body, nil
}

// Stat implements blob.Store.
func (s *Store) Stat(ctx context.Context, key string) (blob.Object, error) {
	if err := blob.CheckKey(key); err != nil {
		return blob.Object{}, err
	}
	head, err := s.client.HeadObject(ctx, &sdk.HeadObjectInput{
		Bucket: &s.bucket, Key: &key, ChecksumMode: types.ChecksumModeEnabled,
	})
	if err != nil {
		return blob.Object{}, s.contractError("look at", key, err)
	}
	sum, err := base64.StdEncoding.DecodeString(aws.ToString(head.ChecksumSHA256))
	if err != nil || len(sum) != 32 {
		return blob.Object{}, fmt.Errorf("file %s in bucket %s has no SHA-256 of the whole: it was not stored by Assay; remove it and store it "+
			"again", key, s.bucket)
	}
	return blob.Object{
		Key: key, Size: aws.ToInt64(head.ContentLength), SHA256: hex.EncodeToString(sum),
		MediaType: cmp.Or(aws.ToString(head.ContentType), blob.DefaultMediaType),
	}, nil
}

// maxDeleted is how many keys S3 deletes in one request.
const maxDeleted = 1000

// Delete implements blob.Store. After an error some of the keys may be deleted.
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := blob.CheckKey(key); err != nil {
			return err
		}
	}
	for batch := range slices.Chunk(keys, maxDeleted) {
		objects := make([]types.ObjectIdentifier, len(batch))
		for i := range batch {
			objects[i].Key = &batch[i]
		}
		done, err := s.client.DeleteObjects(ctx, &sdk.DeleteObjectsInput{
			Bucket: &s.bucket, Delete: &types.Delete{Objects: objects, Quiet: aws.Bool(true)},
		})
		if err != nil {
			return fmt.Errorf("delete %d files from bucket %s: %w", len(batch), s.bucket, err)
		}
		// Some servers report a key that a concurrent request has deleted.
		left := slices.DeleteFunc(done.Errors, func(e types.Error) bool { return aws.ToString(e.Code) == "NoSuchKey" })
		if len(left) > 0 {
			e := left[0]
			return fmt.Errorf("delete %d of %d files from bucket %s: the first is %s: %s: %s", len(left), len(batch), s.bucket,
				aws.ToString(e.Key), aws.ToString(e.Code), aws.ToString(e.Message))
		}
	}
	return nil
}

// List implements blob.Store.
func (s *Store) List(ctx context.Context, prefix, after string, before time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := blob.CheckPrefix(prefix); err != nil {
			yield("", err)
			return
		}
		in := &sdk.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &prefix}
		if after != "" {
			in.StartAfter = &after
		}
		pages := sdk.NewListObjectsV2Paginator(s.client, in)
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield("", fmt.Errorf("list files in bucket %s: %w", s.bucket, err))
				return
			}
			for _, o := range page.Contents {
				// S3 cuts the instant to whole seconds: the file may be up to one second younger than it says.
				stored := aws.ToTime(o.LastModified).Add(time.Second)
				if !stored.After(before) && !yield(aws.ToString(o.Key), nil) {
					return
				}
			}
		}
	}
}

// contractError maps an error of S3 to one of the contract. S3 has two errors for a key with nothing stored, because the answer to
// HEAD has no body that distinguishes a missing key from a missing bucket.
func (s *Store) contractError(action, key string, err error) error {
	if _, ok := errors.AsType[*types.NoSuchKey](err); ok {
		return blob.ErrNotFound
	}
	if _, ok := errors.AsType[*types.NotFound](err); ok {
		return blob.ErrNotFound
	}
	return fmt.Errorf("%s file %s in bucket %s: %w", action, key, s.bucket, err)
}

// maxInMemory is how large a file may be to be kept in memory until it is sent; a larger one waits in the folder for temporary
// files. It is more than any file that comes within a request.
const maxInMemory = 8 << 20

// Put implements blob.Store. All of r is read and verified before the request to S3, so that the request can be retried.
func (s *Store) Put(ctx context.Context, o blob.Object, r io.Reader) error {
	if err := o.Check(); err != nil {
		return err
	}
	content, discard, err := verifiedCopy(ctx, o, r)
	defer discard()
	if err != nil {
		return err
	}
	_, err = s.client.PutObject(ctx, s.declare(o, content), sdk.WithAPIOptions(
		// S3 compares the bytes with the declared SHA-256, which is signed: hashing them once more for the signature adds nothing.
		v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware,
	))
	if err != nil {
		return s.contractError("store", o.Key, err)
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

// verifiedCopy returns what o declares of r, at its start, from memory or from disk; discard ends it, also after an error.
func verifiedCopy(ctx context.Context, o blob.Object, r io.Reader) (content io.ReadSeeker, discard func(), err error) {
	if o.Size <= maxInMemory {
		memory := bytes.NewBuffer(make([]byte, 0, o.Size+1))
		err = blob.Copy(ctx, memory, o, r)
		return bytes.NewReader(memory.Bytes()), func() {}, err
	}
	disk, err := os.CreateTemp("", "assay-put-*")
	if err != nil {
		return nil, func() {}, err
	}
	if err = blob.Copy(ctx, disk, o, r); err == nil {
		_, err = disk.Seek(0, io.SeekStart)
	}
	return disk, func() {
		disk.Close()
		os.Remove(disk.Name())
	}, err
}
