package console

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"

	"assay/shared/edge/api"
	"assay/shared/service/visibility"
)

//go:generate go test -run ^TestBundle_IsCurrent$ -update

// dist is the bundle of the sources as an archive: an entry, its style, and the parts that screens load when they are shown. It is one file
// because the names of the parts change with their content: two branches would add and remove different files without a conflict. It is not
// compressed, so that Git stores only the differences.
//
//go:embed dist.zip
var dist []byte

var bundle = sync.OnceValues(func() (*zip.Reader, error) { return zip.NewReader(bytes.NewReader(dist), int64(len(dist))) })

// read returns the content of a file of the bundle. Its error is fs.ErrNotExist if the bundle has no such file.
func read(name string) ([]byte, error) {
	files, err := bundle()
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(files, name)
}

// file answers with a file of the bundle.
func file(_ context.Context, c *api.Call) error {
	name := c.Param("file")
	content, err := read(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return visibility.Missing
	}
	if err != nil {
		return err
	}
	mediaType := mediaScript
	if path.Ext(name) == ".css" {
		mediaType = mediaStyle
	}
	return c.WriteDocument(mediaType+"; charset=utf-8", content)
}

// firstFiles are the files that a browser needs for the first screen.
type firstFiles struct {
	script, style string
	parts         []string // parts that the script imports at once
}

var staticImport = regexp.MustCompile(`from"\./(chunk-[A-Z0-9]+\.js)"`)

var first = sync.OnceValues(func() (f firstFiles, err error) {
	files, err := bundle()
	if err != nil {
		return f, err
	}
	for _, e := range files.File {
		switch name := e.Name; {
		case strings.HasPrefix(name, "main-") && path.Ext(name) == ".css":
			f.style = name
		case strings.HasPrefix(name, "main-"):
			f.script = name
		}
	}
	script, err := read(f.script)
	if err != nil {
		return f, err
	}
	for _, m := range staticImport.FindAllSubmatch(script, -1) {
		f.parts = append(f.parts, string(m[1]))
	}
	return f, nil
})
