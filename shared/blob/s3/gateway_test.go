//go:build s3

// These tests need the Versity S3 Gateway, which takes minutes to build: make test-s3 builds it once and runs them.

package s3_test

import (
	"testing"

	"assay/shared/blob"
	"assay/shared/blob/blobtest"
	"assay/shared/blob/s3"
	"assay/shared/blob/s3/versity"
)

func TestConformance(t *testing.T) {
	cfg, _ := versity.Start(t)
	blobtest.Run(t, func(t *testing.T) blob.Store { return s3.New(cfg, versity.Bucket(t, cfg)) })
}
