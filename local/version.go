package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"assay/shared/domain/record"
	"assay/shared/language/buildinfo"
	"assay/shared/service/config"
	"assay/shared/service/files"
)

// parseAndPrintVersion prints the version and the commit of the build, and the schema and the digest of its records.
func parseAndPrintVersion(_ context.Context, args []string, getenv func(string) string, out, _ io.Writer) error {
	f := flag.NewFlagSet("assay-server version", flag.ContinueOnError)
	f.SetOutput(out)
	if err := config.ParseFlags(f, config.Prefix, args, getenv); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "assay-server %s, commit %s, schema %d, digest %s\n", buildinfo.Version, cmp.Or(buildinfo.Commit(), "unknown"),
		record.Schema, record.Digest)
	return err
}

// parseAndCheck checks that this build can use the table that the flags name. It creates the identity of an empty table, so that no build
// with another form uses the table.
func parseAndCheck(ctx context.Context, args []string, getenv func(string) string, out, _ io.Writer) error {
	p := &program{settings: settings{now: time.Now}}
	f := flag.NewFlagSet("assay-server check", flag.ContinueOnError)
	f.SetOutput(out)
	p.storeFlags(f)
	if err := config.ParseFlags(f, config.Prefix, args, getenv); err != nil {
		return err
	}
	if err := p.checkStore(); err != nil {
		return err
	}
	table, err := openTable(ctx, p.settings, nil)
	if err != nil {
		return err
	}
	_, err = files.NameTable(ctx, table, p.now)
	if err := errors.Join(err, table.close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s has the form of this build: schema %d, digest %s.\n", table.displayName, record.Schema, record.Digest)
	return err
}
