package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/shared/language/plural"
	"assay/shared/service/config"
	"assay/shared/service/files"
	"assay/shared/storage/blob"
	"assay/shared/storage/blob/directory"
	"assay/shared/storage/durable"
	"assay/shared/storage/store/embedded"
)

// A file in the folder of a backup has one of these names. Its content is the origin of the backup.
const (
	incompleteMarker = "incomplete-backup" // until the backup is complete
	completeMarker   = "backup-of"
)

// incompleteSuffix ends the name of the folder of a backup until the backup is complete.
const incompleteSuffix = ".incomplete"

// checkComplete returns an error if the folder has an interrupted backup.
func checkComplete(data string) error {
	_, err := os.Stat(filepath.Join(data, incompleteMarker))
	if err == nil {
		return fmt.Errorf("%s has a backup that was interrupted: remove the folder, and use an earlier backup or make a new one", data)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// backupSource has the data of a backup. Only one backup of it is made at a time.
type backupSource struct {
	data   string // folder of the data
	origin string // of backups
	table  *embedded.Store
	files  *directory.Store
	now    func() time.Time
}

// newBackupSource returns the source for backups of a data folder. Their origin is the path of the folder, because copies of a folder are
// equal, and the id of its table, because servers in containers have equal paths.
func newBackupSource(ctx context.Context, data string, table *embedded.Store, objects *directory.Store, now func() time.Time) (
	*backupSource, error) {
	path, err := filepath.Abs(data)
	if err != nil {
		return nil, err
	}
	id, err := files.Claimant(ctx, objects)
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		return nil, err
	}
	return &backupSource{data: path, origin: path + "\n" + id + "\n", table: table, files: objects, now: now}, nil
}

// originOf returns the origin of the backup in a folder, complete or not. It is empty without a marker.
func originOf(folder string) (origin string, err error) {
	for _, marker := range []string{incompleteMarker, completeMarker} {
		content, err := os.ReadFile(filepath.Join(folder, marker))
		if !errors.Is(err, fs.ErrNotExist) {
			return string(content), err
		}
	}
	return "", nil
}

// backup copies the data to the destination, and returns a sentence about the result. Until the backup is complete and synced to disk, its
// folder has another name. A failed backup leaves nothing behind, and an interrupted one a folder that the next backup replaces.
func (s *backupSource) backup(ctx context.Context, d destination) (made string, err error) {
	began := time.Now()
	if d.series != "" {
		if err := s.removeInterrupted(d.series); err != nil {
			return "", err
		}
		d.folder = filepath.Join(d.series, s.now().UTC().Format(seriesLayout))
	}
	parent := filepath.Dir(d.folder)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	if err := removeEmpty(d.folder); err != nil {
		return "", err
	}
	to := d.folder + incompleteSuffix
	if err := s.begin(to); err != nil {
		return "", err
	}
	copied, err := s.copyTo(ctx, to)
	if err == nil {
		err = complete(to, d.folder)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(to))
	}
	made = fmt.Sprintf("%s has a backup of %s. It took %s.", d.folder, copied, time.Since(began).Round(time.Millisecond))
	if d.series == "" || d.keepDays == 0 {
		return made, nil
	}
	removed, err := s.removeOlder(d.series, s.now().AddDate(0, 0, -d.keepDays))
	if err != nil {
		return "", fmt.Errorf("%s But older backups could not be removed: %w", made, err)
	}
	if removed > 0 {
		made += fmt.Sprintf(" Removed %s of more than %s ago.", plural.Count(removed, "backup"), plural.Count(d.keepDays, "day"))
	}
	return made, nil
}

// removeEmpty removes an empty folder whose name a backup takes. It refuses files and folders with content.
func removeEmpty(folder string) error {
	there, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || len(there) > 0:
		return errors.Join(fmt.Errorf("%s exists already: name a folder that does not exist", folder), err)
	}
	return os.Remove(folder)
}

// begin creates the folder of a backup with its marker. It replaces an interrupted backup of the same data.
func (s *backupSource) begin(to string) error {
	if err := s.removeIfInterrupted(to); err != nil {
		return err
	}
	err := os.Mkdir(to, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is not a backup of %s: name another folder for the backup, or remove that one", to, s.data)
	}
	if err != nil {
		return err
	}
	return durable.WriteBytes(to, filepath.Join(to, incompleteMarker), []byte(s.origin))
}

// complete gives a copied backup its name.
func complete(to, folder string) error {
	if err := os.Rename(filepath.Join(to, incompleteMarker), filepath.Join(to, completeMarker)); err != nil {
		return err
	}
	if err := durable.Sync(to); err != nil {
		return err
	}
	if err := os.Rename(to, folder); err != nil {
		return err
	}
	return durable.Sync(filepath.Dir(folder))
}

// copyTo copies table, files and key to a folder, and describes them.
func (s *backupSource) copyTo(ctx context.Context, to string) (copied string, err error) {
	var size int64
	n, bytes, err := s.files.Backup(ctx, filepath.Join(to, filesFolder), func() error {
		return durable.Write(to, filepath.Join(to, tableFile), func(f *os.File) error {
			size, err = s.table.WriteTo(f)
			return err
		})
	})
	if err != nil {
		return "", err
	}
	key, err := os.ReadFile(filepath.Join(s.data, devIssuerKey))
	if err == nil {
		err = durable.WriteBytes(to, filepath.Join(to, devIssuerKey), key)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return fmt.Sprintf("the table, of %s, and %s, of %s", plural.Count(size, "byte"), plural.Count(n, "file"),
		plural.Count(bytes, "byte")), nil
}

// A running server makes backups for users who can write to its socket. The socket has its own folder, so that other users cannot reach it
// even while it is created. Its protocol is HTTP: a POST whose query has the destination.
const (
	socketFolder = "control"
	socketName   = "backup.socket"
)

// listenForBackups listens at the socket. An existing file of the same name belongs to a server that has ended, because only one server
// can open the table of the folder.
func listenForBackups(ctx context.Context, data string) (net.Listener, error) {
	folder := filepath.Join(data, socketFolder)
	socket := filepath.Join(folder, socketName)
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.Chmod(folder, 0o700)); err != nil { //nolint:gosec // a folder is entered with x
		return nil, err
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	return l, os.Chmod(socket, 0o600)
}

// serveBackups makes backups for the command until ctx ends.
func (p *program) serveBackups(ctx context.Context) {
	l, err := listenForBackups(ctx, p.data)
	if err != nil {
		p.log.WarnContext(ctx, "cannot listen for backups: stop the server to make one", "error", err)
		return
	}
	source, err := newBackupSource(ctx, p.data, p.table.embedded, p.directory, p.now)
	if err != nil {
		p.log.WarnContext(ctx, "cannot listen for backups: stop the server to make one", "error", err)
		return
	}
	turn := make(chan struct{}, 1) // A second command waits for the first one's backup.
	s := &http.Server{ReadHeaderTimeout: headerTime, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-r.Context().Done():
			return
		}
		made, err := source.backup(r.Context(), destinationOf(r))
		if err != nil {
			p.log.ErrorContext(r.Context(), "no backup was made", "error", err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		p.log.InfoContext(r.Context(), "backup made", "result", made)
		_, _ = fmt.Fprintln(w, made) //nolint:gosec // the client is the command, not a browser
	})}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	go func() { _ = s.Serve(l) }() // It ends when s is closed.
}

// parseAndBackup backs up the folder that the flags name. The server of the folder makes the backup if it runs.
func parseAndBackup(ctx context.Context, args []string, getenv func(string) string, out, _ io.Writer) error {
	f := flag.NewFlagSet("assay-server backup", flag.ContinueOnError)
	f.SetOutput(out)
	var d destination
	data := f.String("data", "data", "folder of the table and the files, of a running server or of none")
	f.StringVar(&d.folder, "to", "", "folder for the backup, which does not exist or is empty, as the server sees it")
	f.StringVar(&d.series, "in", "", "instead of -to: folder of all backups, in which the new one gets the name of its instant")
	f.IntVar(&d.keepDays, "keep-days", 0,
		"after a backup with -in, remove backups there that an earlier -in made of the same data more than so many days ago; 0: keep all")
	if err := config.ParseFlags(f, config.Prefix, args, getenv); err != nil {
		return err
	}
	if err := d.check(); err != nil {
		return err
	}
	made, err := askForBackup(ctx, *data, d)
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" { // No server runs.
		made, err = backupAtRest(ctx, *data, d)
	}
	if err == nil {
		_, err = fmt.Fprintln(out, made)
	}
	return err
}

// askForBackup asks the server of the folder to make a backup.
func askForBackup(ctx context.Context, data string, d destination) (made string, err error) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(data, socketFolder, socketName))
	}}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server/backup?"+d.query(), nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the server made no backup: %s", strings.TrimSpace(string(body)))
	}
	return strings.TrimSpace(string(body)), err
}

// backupAtRest makes a backup of a folder without a running server.
func backupAtRest(ctx context.Context, data string, d destination) (made string, err error) {
	path, folder := filepath.Join(data, tableFile), filepath.Join(data, filesFolder)
	for _, needed := range []string{path, folder} {
		if _, err := os.Stat(needed); err != nil {
			return "", fmt.Errorf("%s does not have both the table and the files, of which a backup is made: %w", data, err)
		}
	}
	if err := checkComplete(data); err != nil {
		return "", err
	}
	table, err := embedded.Open(path, embedded.Options{})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, table.Close()) }()
	objects, err := directory.Open(folder, "http://localhost/files")
	if err != nil {
		return "", err
	}
	source, err := newBackupSource(ctx, data, table, objects, time.Now)
	if err != nil {
		return "", err
	}
	return source.backup(ctx, d)
}
