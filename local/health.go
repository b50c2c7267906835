package main

import (
	"context"
	"errors"
	"os"

	"assay/shared/language/metrics"
	"assay/shared/service/health"
)

// recordGauges records the current values of metrics.
func (p *program) recordGauges(ctx context.Context, r metrics.Recorder) error {
	p.health.Record(ctx, r)
	return p.grpc.RecordMetrics(ctx, r)
}

// folders returns the folders whose free space is checked.
func (c *settings) folders() []health.Folder {
	list := []health.Folder{{Name: "temporary files", Path: os.TempDir(), Space: diskSpace}}
	if c.keepsFolder() {
		list = append([]health.Folder{{Name: "the data", Path: c.data, Space: diskSpace}}, list...)
	}
	return list
}

// ready returns a function that returns nil while the server takes requests until ctx ends and its table answers. An object store that
// does not answer and a full disk are no reason to route requests elsewhere: other servers share the object store, and this one still
// answers everything that is stored.
func (p *program) ready(ctx context.Context) func(context.Context) error {
	return func(asked context.Context) error { return errors.Join(ctx.Err(), p.table.Ping(asked)) }
}
