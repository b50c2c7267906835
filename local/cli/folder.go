package main

import (
	"cmp"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"assay/local/cli/client"
	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
	"assay/shared/domain/record"
	"assay/shared/storage/durable"
)

// open returns a folder for files, and creates it if it is missing. Names from a server and symbolic links cannot lead out of it.
func (c *call) open(folder string) *os.Root {
	c.fail(os.MkdirAll(folder, 0o750))
	root, err := os.OpenRoot(folder)
	c.fail(err)
	return root
}

// fetch downloads a file of the resource at the path of to a folder, and returns the path of the file. The path is empty if the caller may
// not read the file. Then fetch creates no folder. The index i names the file in a member of the resource. fetch reads the resource again,
// because links expire.
func (c *call) fetch(in *os.Root, folder, of, member string, i int, f sent) string {
	if c.err != nil {
		return ""
	}
	path := filepath.Join(folder, fetchedName(f, i))
	err := c.Fetch(c.ctx, in, path, f.File, func(ctx context.Context) (string, error) {
		now, err := client.Get[object](ctx, c.Client, of)
		if files := filesOf(now, member); err == nil && i < len(files) && files[i].SHA256 == f.SHA256 && files[i].URL != "" {
			return files[i].URL, in.MkdirAll(folder, 0o750)
		}
		return "", err
	}, c.progress())
	if errors.Is(err, client.ErrNoLink) || c.fail(err) {
		return ""
	}
	return filepath.Join(in.Name(), path)
}

// fetchedName returns the name under which fetch saves the file at the index i of a member.
func fetchedName(f sent, i int) string { return fileName(f.Name, strconv.Itoa(i)) }

// fileName returns a safe file name for a name that somebody else chose, without separators, leading dots, and special characters of shells
// and file systems. A changed name begins with a checksum of the original, so that different names stay different. For names of devices it
// returns otherwise. A name that fileName returned stays unchanged.
func fileName(name, otherwise string) string {
	clean := strings.TrimLeft(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._- ", r) {
			return r
		}
		return '_'
	}, strings.TrimSpace(name)), ".- ")
	if clean != name || clean == "" || len(clean) > 150 {
		clean = strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(name))), 16) + "-" + clean
	}
	clean = strings.TrimSpace(strings.ToValidUTF8(clean[:min(len(clean), 150)], ""))
	if !filepath.IsLocal(clean) { // for example NUL on Windows
		return otherwise
	}
	return clean
}

func download(c *call, task object) {
	saved := []string{}
	lines := [][]string{}
	withheld := []string{} // names of datasets with inputs for registrants of which the caller gets none
	var into *os.Root
	datasets := all[object](c, datasetsOf(task))
	if only := c.text("dataset"); only != "" {
		datasets = []object{c.dataset(task, only)}
	}
	for _, d := range datasets {
		folder := fileName(d.text("name"), d.id())
		if withholdsInputs(d) {
			withheld = append(withheld, d.text("name"))
		}
		members := map[string]string{"inputs": folder}
		if memberAs[bool](d, "truthsPublic") {
			members["truths"] = filepath.Join(folder, "truths")
		}
		for _, member := range slices.Sorted(maps.Keys(members)) {
			for i, f := range filesOf(d, member) {
				if into == nil {
					into = c.open(c.text("output"))
				}
				if path := c.fetch(into, members[member], client.Path("datasets", d.id()), member, i, f); path != "" {
					saved, lines = append(saved, path), append(lines, []string{path})
				}
			}
		}
	}
	why := ""
	if len(withheld) > 0 {
		why = c.withheldInputs(task, c.knownRegistration(task))
	}
	switch {
	case c.err != nil:
	case why != "":
		c.note("There are no inputs of %s that you may read. %s", strings.Join(withheld, " and "), why)
	case len(saved) == 0:
		c.note("%s has no inputs.", cmp.Or(c.text("dataset"), task.text("name")))
	}
	c.print(saved, lines...)
}

// withheldInputs says why the caller, with the registration r, gets no inputs for registrants, and what to do. It returns an empty text if
// the caller may read them.
func (c *call) withheldInputs(task, r object) string {
	if c.organizes(task) {
		return ""
	}
	switch {
	case r == nil:
		why, join := c.howToJoin(task)
		if join != "" {
			why = "To take part: " + join
		}
		return "The task gives them only to accepted teams. " + why
	case r.text("state") != string(record.Accepted):
		return notAccepted(task, r)
	case lacksTerms(task, r):
		return "Your team has not accepted the present terms of the task. " + c.howToAccept()
	}
	return ""
}

// save opens the files that the arguments name, and calls write with the file that --output names or with standard output.
func (c *call) save(write func(io.Writer, []measure.File) error) error {
	files, done := scoring.Contents(c.files(c.args...))
	defer done()
	if c.err != nil {
		return c.err
	}
	path := c.text("output")
	if path == "" {
		return write(c.out, files)
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() { // A pipe, /dev/null or a link is written to, not replaced.
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		return errors.Join(write(f, files), f.Close())
	}
	return durable.Write(filepath.Dir(path), path, func(f *os.File) error { return write(f, files) })
}

// isFile reports whether the path exists and is no folder, or stands for standard input.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return path == stdin || err == nil && !info.IsDir()
}
