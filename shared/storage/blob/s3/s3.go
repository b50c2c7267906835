// Package s3 stores files in an S3 bucket with AWS's client. Clients upload and download with signed links, so that a deployed Assay
// never transfers the bytes of files itself.
//
// The bucket's settings keep the bytes encrypted and private; this package sets neither.
//
// Callers need s3:GetObject, s3:PutObject and s3:DeleteObject on the objects, as far as they read, write and delete them. They also need
// s3:ListBucket on the bucket, even to read a single key: without it S3 answers 403 for a missing key instead of 404, and ErrNotFound is
// never returned. A link has the rights that its signer has when the link is used, while the signer's credentials are valid.
//
// In a program that already has the DynamoDB client, the S3 client adds 1.4 MB to a stripped arm64 binary and 0.2 to 0.4 ms to its
// start. Using only AWS's signer over net/http would add 0.1 MB, but without the client's retries, checksums and endpoints.
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

	"assay/shared/storage/blob"

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

// New returns the store of an existing bucket. cfg names the region and the credentials. If cfg.BaseEndpoint or one of cfg.ConfigSources
// sets an endpoint, requests have the bucket in the path, because few servers other than AWS have a host name for each bucket.
func New(cfg aws.Config, bucket string) *Store {
	client := sdk.NewFromConfig(cfg, func(o *sdk.Options) { o.UsePathStyle = o.BaseEndpoint != nil })
	return &Store{client: client, presigner: sdk.NewPresignClient(client), bucket: bucket, now: time.Now}
}

// LinkTo returns the same store, except that its links lead to another endpoint. It is for servers that clients reach at another address
// than this process. The endpoint must not have a path, because signatures cover the whole path.
func (s *Store) LinkTo(endpoint string) *Store {
	linked := *s
	client := sdk.New(s.client.Options(), func(o *sdk.Options) { o.BaseEndpoint, o.UsePathStyle = &endpoint, true })
	linked.presigner = sdk.NewPresignClient(client)
	return &linked
}

// CreateBucket creates the bucket if it is missing. Browsers may use a new bucket from pages of the origins.
func (s *Store) CreateBucket(ctx context.Context, origins ...string) error {
	in := &sdk.CreateBucketInput{Bucket: &s.bucket}
	if region := s.client.Options().Region; region != "us-east-1" { // S3 refuses a constraint that names this region
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

// Open implements blob.Store. The reader returns an error at its end if the bytes do not have the stored SHA-256.
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

// maxDeleted is the greatest number of keys in one deletion request of S3.
const maxDeleted = 1000

// Delete implements blob.Store. After an error, some of the files may be deleted.
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
				// S3 truncates the time to whole seconds, so the file may be up to one second younger.
				stored := aws.ToTime(o.LastModified).Add(time.Second)
				if !stored.After(before) && !yield(aws.ToString(o.Key), nil) {
					return
				}
			}
		}
	}
}

// contractError converts an error of S3 to an error of the contract. S3 has two errors for a missing key, because the answer to HEAD has
// no body that distinguishes a missing key from a missing bucket.
func (s *Store) contractError(action, key string, err error) error {
	if _, ok := errors.AsType[*types.NoSuchKey](err); ok {
		return blob.ErrNotFound
	}
	if _, ok := errors.AsType[*types.NotFound](err); ok {
		return blob.ErrNotFound
	}
	return fmt.Errorf("%s file %s in bucket %s: %w", action, key, s.bucket, err)
}

// maxInMemory is the greatest size of a file that Put holds in memory. Put writes a larger file to the folder for temporary files first.
// The limit exceeds the size of any file within a request.
const maxInMemory = 8 << 20

// Put implements blob.Store. It reads and verifies all of r before the request to S3, so that the request can be repeated.
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
		// S3 compares the bytes with the declared SHA-256, which is signed. Hashing them again for the signature adds nothing.
		v4.SwapComputePayloadSHA256ForUnsignedPayloadMiddleware,
	))
	if err != nil {
		return s.contractError("store", o.Key, err)
	}
	return nil
}

// declare returns the request that stores exactly o. o must be valid.
func (s *Store) declare(o blob.Object, content io.Reader) *sdk.PutObjectInput {
	mediaType := cmp.Or(o.MediaType, blob.DefaultMediaType)
	sum, _ := hex.DecodeString(o.SHA256)
	digest := base64.StdEncoding.EncodeToString(sum)
	return &sdk.PutObjectInput{
		Bucket: &s.bucket, Key: &o.Key, ContentLength: &o.Size, ContentType: &mediaType, ChecksumSHA256: &digest, Body: content,
	}
}

// verifiedCopy reads r, verifies it against o, and returns a copy in memory or on disk. The caller must call discard, even after an error.
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
