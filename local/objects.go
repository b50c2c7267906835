package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"assay/shared/service/files"
	"assay/shared/storage/blob/directory"
	"assay/shared/storage/blob/s3"

	aws "github.com/aws/aws-sdk-go-v2/config"
)

// The values of -files.
const (
	filesDirectory = "directory"
	filesS3        = "s3"
)

// openFiles opens the object store that the flags name.
func (p *program) openFiles(ctx context.Context) (err error) {
	if p.filesIn == filesDirectory {
		if p.directory, err = directory.Open(filepath.Join(p.data, filesFolder), p.url+"/files"); err != nil {
			return err
		}
		p.directory.Now = p.now
		p.files = files.Observed{Store: p.directory, Metrics: p.metrics}
		return nil
	}
	cfg, err := aws.LoadDefaultConfig(ctx)
	if err != nil {
		return fmt.Errorf("the AWS SDK's environment: %w", err)
	}
	bucket := s3.New(cfg, p.bucket)
	if p.createBucket {
		if err := bucket.CreateBucket(ctx, strings.Split(p.origins, ",")...); err != nil {
			return err
		}
	}
	if p.filesURL != "" {
		bucket = bucket.LinkTo(p.filesURL)
	}
	if p.filesOrigin, err = bucket.Origin(ctx); err != nil {
		return fmt.Errorf("links to files cannot be signed; the AWS SDK's environment says with which credentials: %w", err)
	}
	p.poller = &files.Poller{Store: files.Observed{Store: bucket, Metrics: p.metrics}, Uploads: p.uploads(), Log: p.log}
	p.files = p.poller
	return nil
}

// claimFiles claims the object store for the table, so that no other table uses it.
func (p *program) claimFiles(ctx context.Context) error {
	err := files.Claim{Table: p.table, Objects: p.files, Now: p.now}.Make(ctx)
	if err != nil && p.poller != nil {
		return fmt.Errorf("the S3 bucket %s cannot be used; AWS_REGION, AWS_ENDPOINT_URL_S3 and the credentials say where it is, and "+
			"-create-bucket creates a missing bucket: %w", p.bucket, err)
	}
	return err
}

func (p *program) uploads() files.Uploads { return files.Uploads{Store: p.table, Now: p.now} }
