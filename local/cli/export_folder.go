package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/local/cli/client"
	"assay/shared/language/plural"
	"assay/shared/storage/durable"
)

// contentsFile is the file in an exported folder that holds its contents.
const contentsFile = "export.json"

// contents names the files that export wrote into a folder, so that the next export removes those that it does not write. Export writes
// the contents before the files, so that they are complete after an interruption.
type contents struct {
	TaskID string   `json:"taskId"`
	Files  []string `json:"files"` // paths in the folder, with slashes
}

// set returns the files as a set.
func (is contents) set() map[string]bool {
	all := make(map[string]bool, len(is.Files))
	for _, name := range is.Files {
		all[name] = true
	}
	return all
}

// exportedFile is a file of a run that the caller may read.
type exportedFile struct {
	sent
	run   object
	index int    // in the run
	into  string // path in the folder, with slashes
}

// exportedFiles returns the files of runs that the caller may read. lacking counts the files that the caller may not read or that have not
// arrived.
func (c *call) exportedFiles(runs []object) (all []exportedFile, lacking int) {
	for _, r := range runs {
		files := filesOf(r, "files")
		if len(files) == 0 {
			continue
		}
		whole := c.ifShown(client.Path("runs", r.id())) // Only the answer of a single run has links.
		linked := filesOf(whole, "files")
		for i, f := range files {
			if i >= len(linked) || linked[i].URL == "" {
				lacking++
				continue
			}
			all = append(all, exportedFile{sent: f, run: r, index: i, into: path.Join(folderOf(r), fetchedName(f, i))})
		}
	}
	return all, lacking
}

// filesFolder is the folder in an exported folder that holds the files of runs.
const filesFolder = "files"

// folderOf returns the folder for the files of a run. The ids of a broken server cannot lead to other files in the exported folder.
func folderOf(run object) string {
	return path.Join(filesFolder, fileName(run.text("datasetId"), "dataset"), fileName(run.id(), "run"))
}

// isExported reports whether export writes files with this name. The list of files in a folder that came from elsewhere can name any file.
func isExported(name string) bool {
	parts := strings.Split(name, "/")
	if len(parts) == 1 {
		list, extension, _ := strings.Cut(name, ".")
		return slices.Contains(listNames, list) && slices.Contains(listExtensions, "."+extension)
	}
	unlike := func(part string) bool { return fileName(part, "") != part }
	return len(parts) == 4 && parts[0] == filesFolder && !slices.ContainsFunc(parts, unlike)
}

// prepare makes the folder of an export ready for its files. It removes the files that an earlier export of the task wrote and this one
// does not, such as lists that the caller may not see now and files of deleted runs. It refuses the folder of another task, and removes
// nothing that no export writes.
func (c *call) prepare(root *os.Root, is contents) {
	if c.err != nil {
		return
	}
	var was contents
	content, err := root.ReadFile(contentsFile)
	if err == nil {
		err = json.Unmarshal(content, &was)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		c.fail(&refusal{fileRefused, fmt.Sprintf("%s cannot be read: %v.", filepath.Join(root.Name(), contentsFile), err),
			"--output with another folder"})
	case was.TaskID != is.TaskID:
		c.fail(&refusal{failed, fmt.Sprintf("The folder %s has an export of another task.", root.Name()), "--output with another folder"})
	}
	var removed []string
	written := is.set()
	for _, name := range was.Files {
		if c.err == nil && !written[name] && isExported(name) {
			gone, err := removeExported(root, name)
			c.fail(err)
			if gone {
				removed = append(removed, name)
			}
		}
	}
	if c.err == nil {
		text, _ := json.MarshalIndent(is, "", "  ") // It consists of strings.
		c.fail(durable.WriteBytes(root.Name(), filepath.Join(root.Name(), contentsFile), append(text, '\n')))
	}
	if len(removed) > 0 {
		c.note("Removed from %s, because an earlier export wrote them and this one does not: %s.", root.Name(), some(removed))
	}
}

// removeExported removes a file of an earlier export, its partial download if there is one, and folders that become empty. It reports
// whether the file existed.
func removeExported(root *os.Root, name string) (existed bool, err error) {
	local := filepath.FromSlash(name)
	err = root.Remove(local)
	existed = err == nil
	for _, err := range []error{err, root.Remove(local + ".part")} {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return existed, err
		}
	}
	folder := path.Dir(name)
	for folder != "." && root.Remove(filepath.FromSlash(folder)) == nil { // A folder with other files stays.
		folder = path.Dir(folder)
	}
	return existed, nil
}

// tellOthers names the files in the folder that no export wrote.
func (c *call) tellOthers(root *os.Root, is contents) {
	var others []string
	written := is.set()
	c.fail(fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == "." || name == contentsFile || written[name]:
		case !e.IsDir():
			others = append(others, name)
		case name != filesFolder && !strings.HasPrefix(name, filesFolder+"/"):
			others = append(others, name+"/")
			return fs.SkipDir
		}
		return nil
	}))
	if len(others) > 0 {
		c.note("Also in %s, but not from an export: %s.", root.Name(), some(others))
	}
}

// some names the first of several files, and counts the others.
func some(names []string) string {
	const most = 6
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + plural.Count(len(names)-most, "more file")
}
