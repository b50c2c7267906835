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
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/shared/language/plural"
	"assay/shared/service/config"
	"assay/shared/storage/blob/directory"
	"assay/shared/storage/durable"
	"assay/shared/storage/store/embedded"
)

// incompleteMarker is the name of a file in a folder whose backup is not complete yet.
const incompleteMarker = "incomplete-backup"

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

// backup copies the data to a new or empty folder, in which a server can be started. The folder has the marker until the copy is complete
// and synced to disk.
func backup(ctx context.Context, data, to string, table *embedded.Store, files *directory.Store) (made string, err error) {
	began := time.Now()
	if err := os.MkdirAll(to, 0o700); err != nil { //nolint:gosec // who runs the program names the folder
		return "", err
	}
	if there, err := os.ReadDir(to); err != nil || len(there) > 0 {
		return "", errors.Join(err, fmt.Errorf("%s is not empty: name a new folder", to))
	}
	if err := os.Chmod(to, 0o700); err != nil { //nolint:gosec // a folder is entered with x
		return "", fmt.Errorf("%s belongs to somebody else: name a new folder: %w", to, err)
	}
	marker := filepath.Join(to, incompleteMarker)
	if err := durable.WriteBytes(to, marker, nil); err != nil {
		return "", err
	}
	var size int64
	n, bytes, err := files.Backup(ctx, filepath.Join(to, filesFolder), func() error {
		return durable.Write(to, filepath.Join(to, tableFile), func(f *os.File) error {
			size, err = table.WriteTo(f)
			return err
		})
	})
	if err != nil {
		return "", err
	}
	key, err := os.ReadFile(filepath.Join(data, devIssuerKey)) //nolint:gosec // who runs the program names the folder
	if err == nil {
		err = durable.WriteBytes(to, filepath.Join(to, devIssuerKey), key)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	err = errors.Join(durable.Sync(filepath.Dir(to)), os.Remove(marker), durable.Sync(to)) //nolint:gosec // who runs the program names the folder
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s has a backup of the table, of %s, and %s, of %s. It took %s.", to, plural.Count(size, "byte"),
		plural.Count(n, "file"), plural.Count(bytes, "byte"), time.Since(began).Round(time.Millisecond)), nil
}

// A running server makes backups for users who can write to its socket. The socket has its own folder, so that other users cannot reach it
// even while it is created. Its protocol is HTTP: a POST whose query names the folder.
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
	s := &http.Server{ReadHeaderTimeout: headerTime, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		made, err := backup(r.Context(), p.data, r.FormValue("to"), p.table.embedded, p.directory)
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
	data := f.String("data", "data", "folder of the table and the files, of a running server or of none")
	to := f.String("to", "", "folder for the backup, which is new or empty, as the server sees it")
	if err := config.ParseFlags(f, config.Prefix, args, getenv); err != nil {
		return err
	}
	if *to == "" {
		return errors.New("-to is needed: the folder for the backup")
	}
	path, err := filepath.Abs(*to)
	if err != nil {
		return err
	}
	made, err := askForBackup(ctx, *data, path)
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" { // No server runs.
		made, err = backupAtRest(ctx, *data, path)
	}
	if err == nil {
		_, err = fmt.Fprintln(out, made)
	}
	return err
}

// askForBackup asks the server of the folder to make a backup.
func askForBackup(ctx context.Context, data, to string) (made string, err error) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(data, socketFolder, socketName))
	}}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server/backup?to="+url.QueryEscape(to), nil)
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
		err = fmt.Errorf("the server made no backup: %s", body)
	}
	return strings.TrimSpace(string(body)), err
}

// backupAtRest makes a backup of a folder without a running server.
func backupAtRest(ctx context.Context, data, to string) (made string, err error) {
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
	files, err := directory.Open(folder, "http://localhost/files")
	if err != nil {
		return "", err
	}
	return backup(ctx, data, to, table, files)
}
