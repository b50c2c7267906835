package main

import (
	"context"
	"slices"

	"assay/local/cli/client"
	"assay/shared/domain/record"
)

// send uploads a file of a member of the resource at the path, unless the file is stored already.
func (c *call) send(path, member string, f sent) {
	if c.err != nil {
		return
	}
	link := func(ctx context.Context) (*record.Upload, error) { return c.uploadLink(ctx, path, member, f) }
	c.err = c.Send(c.ctx, f.path, link, c.progress())
}

// uploadLink returns a new link to upload the file, or nil if the file is stored already or the resource no longer names it.
func (c *call) uploadLink(ctx context.Context, path, member string, f sent) (*record.Upload, error) {
	resource, err := client.Get[object](ctx, c.Client, path)
	if err != nil {
		return nil, err
	}
	files := filesOf(resource, member)
	i := slices.IndexFunc(files, f.same)
	if i < 0 || files[i].State == record.FileStored {
		return nil, nil
	}
	return files[i].Upload, nil
}
