package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/auth"
	"assay/shared/language/lists"
	"assay/shared/language/plural"
	"assay/shared/service/config"
	"assay/shared/service/files"
	"assay/shared/service/quota"
	"assay/shared/service/transfer"
	"assay/shared/storage/store"
)

// parseAndExport writes a store, an organizer or a task to a folder.
func parseAndExport(ctx context.Context, args []string, getenv func(string) string, out, _ io.Writer) error {
	var scope transfer.Scope
	f := flag.NewFlagSet("assay-server export", flag.ContinueOnError)
	to := f.String("to", "export", "folder to write")
	f.StringVar(&scope.Organizer, "organizer", "", "id of an organizer, to export nothing but it and its tasks")
	f.StringVar(&scope.Task, "task", "", "id of a task, to export nothing but it and its organizer")
	p, err := openStores(ctx, f, args, getenv, out, false)
	if err != nil {
		return err
	}
	scanner, _ := p.table.Store.(store.Scanner) // Every driver is a Scanner.
	e := &transfer.Export{Store: scanner, Files: p.files, Now: p.now, Scope: scope, Origin: p.dataLocation()}
	m, err := e.WriteTo(ctx, *to)
	if err := errors.Join(err, p.table.close()); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, kind := range slices.Sorted(maps.Keys(m.Counts)) {
		_, _ = fmt.Fprintf(table, "%s\t%d\n", kind, m.Counts[kind])
	}
	_, _ = fmt.Fprintf(table, "files\t%d, %s\n", m.Objects, plural.Count(m.Bytes, "byte"))
	_ = table.Flush()
	if n := len(m.Missing); n > 0 {
		_, _ = fmt.Fprintf(out, "Not there: %s that records name, as of uploads that have not arrived; manifest.json lists them.\n",
			plural.Count(n, "file"))
	}
	_, err = fmt.Fprintf(out, "%s has the export. It has hidden ground truth and the names of people: keep it as safe as the store.\n", *to)
	return err
}

// parseAndImport reads a folder that parseAndExport wrote.
func parseAndImport(ctx context.Context, args []string, getenv func(string) string, out, _ io.Writer) error {
	f := flag.NewFlagSet("assay-server import", flag.ContinueOnError)
	from := f.String("from", "export", "folder that export wrote")
	apply := f.Bool("apply", false, "write; without it, the import only says what it would do")
	users := f.String("users", "",
		"file in CSV that says who users are here: old id or e-mail address, then new id, or subject at -issuer; others keep their ids")
	byEmail := f.Bool("users-by-email", false,
		"take users of the export for those here with the same e-mail address: only where the issuers of both verify addresses")
	issuer := f.String("issuer", "", "OpenID Connect issuer of the subjects in -users")
	p, err := openStores(ctx, f, args, getenv, out, true)
	if err != nil {
		return err
	}
	ledger := quota.New(record.DefaultQuotas(), p.table.Store, p.now)
	m := &transfer.Import{Store: ledger.Store(), Files: p.files, Now: p.now, Users: transfer.UserMap{ByEmail: *byEmail,
		ID: func(subject string) (string, error) {
			if *issuer == "" {
				return "", fmt.Errorf("%q is no id of a user; if it is a subject, give -issuer", subject)
			}
			return auth.Identity{Issuer: *issuer, Subject: subject}.UserID(), nil
		}}}
	m.Users.Rows, err = readUserRows(*users)
	if err == nil {
		err = p.importFrom(ctx, m, *from, *apply, out)
	}
	return errors.Join(err, ledger.Flush(ctx), p.table.close())
}

// openStores parses the flags, and opens the table and the files that they name. It makes the folder of the data only with create.
func openStores(ctx context.Context, f *flag.FlagSet, args []string, getenv func(string) string, out io.Writer,
	create bool) (*program, error) {
	p := &program{settings: settings{now: time.Now, origins: "*", url: "http://localhost"}} // The URL is not used, because no link is signed.
	p.storeFlags(f)
	f.SetOutput(out)
	if err := config.ParseFlags(f, config.Prefix, args, getenv); err != nil {
		return nil, err
	}
	err := p.checkStore()
	if err == nil && p.keepsFolder() && create {
		err = os.MkdirAll(p.data, 0o700)
	} else if err == nil && p.store == storeEmbedded {
		_, err = os.Stat(filepath.Join(p.data, tableFile))
	}
	if err != nil {
		return nil, err
	}
	if p.table, err = openTable(ctx, p.settings, nil); err != nil {
		return nil, err
	}
	if err := p.openFiles(ctx); err != nil {
		return nil, errors.Join(err, p.table.close())
	}
	return p, nil
}

// importFrom imports the folder or, without apply, prints what an import would do.
func (p *program) importFrom(ctx context.Context, m *transfer.Import, folder string, apply bool, out io.Writer) (err error) {
	if m.Folder, err = transfer.OpenFolder(folder); err != nil {
		return err
	}
	defer func() { _ = m.Folder.Close() }()
	_, _ = fmt.Fprintf(out, "The folder has %q, exported at %s.\n", m.Folder.Origin, m.Folder.ExportedAt)
	do := m.Plan
	claim := func(ctx context.Context) error { return files.CheckClaim(ctx, p.table, p.files) }
	if apply {
		do, claim = m.Apply, p.claimFiles
	}
	if err := claim(ctx); err != nil {
		return err
	}
	r, err := do(ctx)
	if r != nil {
		printReport(out, r)
	}
	if err == nil && !apply {
		_, err = fmt.Fprintln(out, "Nothing was written. Repeat it with -apply to write what is new.")
	}
	return err
}

func printReport(out io.Writer, r *transfer.Report) {
	printf := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	outcomes := []transfer.Outcome{transfer.New, transfer.Same, transfer.Stays, transfer.Left, transfer.Conflict}
	for _, o := range outcomes {
		_, _ = fmt.Fprintf(table, "\t%s", o)
	}
	_, _ = fmt.Fprintln(table)
	for _, kind := range slices.Sorted(maps.Keys(r.Found)) {
		_, _ = fmt.Fprint(table, kind)
		for _, o := range outcomes {
			_, _ = fmt.Fprintf(table, "\t%d", r.Found[kind][o])
		}
		_, _ = fmt.Fprintln(table)
	}
	_ = table.Flush()
	for _, key := range r.Conflicts {
		printf("%s: another is here", key)
	}
	for _, u := range r.Users.Mapped {
		printf("%s %q, %q: becomes %s", u.ID, u.Name, u.Email, r.Users.IDs[u.ID])
	}
	for _, u := range r.Users.Unmapped {
		printf("%s %q, %q: keeps the id", u.ID, u.Name, u.Email)
	}
	if r.Users.Unused > 0 {
		printf("Not used: %s of -users, by an address that no user of the export has, or several have.", plural.Count(r.Users.Unused, "row"))
	}
}

// readUserRows reads the file of -users.
func readUserRows(path string) ([]transfer.UserRow, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("-users: %w", err)
	}
	defer func() { _ = f.Close() }()
	lines := csv.NewReader(f)
	lines.FieldsPerRecord = 2
	lines.Comment = '#'
	lines.TrimLeadingSpace = true
	all, err := lines.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("-users %s: %w", path, err)
	}
	return lists.Map(all, func(row []string) transfer.UserRow { return transfer.UserRow{From: row[0], To: row[1]} }), nil
}
