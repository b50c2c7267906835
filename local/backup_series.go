package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// seriesLayout is the layout of the names of backups in a series, the instants of their beginning in UTC.
const seriesLayout = "2006-01-02T150405.000Z"

// destination says where a backup goes.
type destination struct {
	folder   string // of the backup; empty for a series
	series   string // folder of all backups, in which the new one gets the name of its instant
	keepDays int    // in a series, the age in days from which older backups are removed; 0: never
}

// maxKeepDays is about a hundred years. Instants overflow with a very large number of days.
const maxKeepDays = 36_500

// check completes the flags -to, -in and -keep-days.
func (d *destination) check() error {
	switch {
	case (d.folder == "") == (d.series == ""):
		return errors.New("give either -to, the folder for the backup, or -in, the folder of all backups")
	case d.keepDays < 0:
		return errors.New("-keep-days must be 0 or more")
	case d.keepDays > maxKeepDays:
		return fmt.Errorf("-keep-days must be at most %d; 0 keeps all backups", maxKeepDays)
	case d.keepDays > 0 && d.series == "":
		return errors.New("-keep-days needs -in: only backups that -in has named are removed")
	}
	for _, path := range []*string{&d.folder, &d.series} {
		if *path == "" {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = absolute
	}
	return nil
}

// query returns the destination for the socket of the server.
func (d *destination) query() string {
	return url.Values{"to": {d.folder}, "in": {d.series}, "keepDays": {strconv.Itoa(d.keepDays)}}.Encode()
}

// destinationOf returns the destination of a request.
func destinationOf(r *http.Request) destination {
	days, _ := strconv.Atoi(r.FormValue("keepDays")) // the command has checked it
	return destination{folder: r.FormValue("to"), series: r.FormValue("in"), keepDays: days}
}

// settledAge is the age from which a folder without a marker is no backup that another server begins.
const settledAge = time.Hour

// removeInterrupted removes the interrupted backups of the data in a series. Several servers may share a series. A folder without a marker
// names no data, so it is only removed when nothing has changed in it for settledAge.
func (s *backupSource) removeInterrupted(series string) error {
	there, err := os.ReadDir(series)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range there {
		if !entry.IsDir() || !strings.HasSuffix(entry.Name(), incompleteSuffix) {
			continue
		}
		folder := filepath.Join(series, entry.Name())
		if isSettled(folder) {
			err = errors.Join(err, s.removeIfInterrupted(folder))
		}
	}
	return err
}

// isSettled reports whether a folder has a marker, or has not changed for settledAge.
func isSettled(folder string) bool {
	if origin, err := originOf(folder); err == nil && origin != "" {
		return true
	}
	changed, err := os.Stat(folder)
	return err == nil && time.Since(changed.ModTime()) > settledAge
}

// removeIfInterrupted removes a folder with an interrupted backup of the data, or an empty folder, which an interruption just before the
// marker leaves. A marker of other data belongs to another server, which may be at work on the folder.
func (s *backupSource) removeIfInterrupted(folder string) error {
	origin, err := originOf(folder)
	switch {
	case err != nil:
		return err
	case origin == s.origin:
		return os.RemoveAll(folder)
	case origin == "":
		_ = os.Remove(folder) // fails unless it is empty
	}
	return nil
}

// removeOlder removes the data's backups in a series that were made before an instant, by their names. The backups of other servers stay.
func (s *backupSource) removeOlder(series string, before time.Time) (removed int, err error) {
	there, err := os.ReadDir(series)
	for _, entry := range there {
		if made, invalid := time.Parse(seriesLayout, entry.Name()); invalid != nil || !made.Before(before) {
			continue
		}
		folder := filepath.Join(series, entry.Name())
		origin, failed := originOf(folder)
		if failed == nil && origin != s.origin {
			continue
		}
		if failed == nil {
			failed = os.RemoveAll(folder)
		}
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		removed++
	}
	return removed, err
}
