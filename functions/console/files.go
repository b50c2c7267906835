package console

import (
	"context"
	"embed"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"

	"assay/shared/api"
	"assay/shared/visibility"
)

//go:generate go test -run ^TestBundle_IsBuilt$ -update

// dist is what the sources are bundled into: an entry, its style, and the parts that screens load when they are shown.
//
//go:embed dist
var dist embed.FS

func read(name string) ([]byte, error) { return fs.ReadFile(dist, "dist/"+name) }

// file answers with a file of the bundle.
func file(_ context.Context, c *api.Call) error {
	name := c.Param("file")
	content, err := read(name)
	if err != nil {
		return visibility.Missing
	}
	mediaType := mediaScript
	if path.Ext(name) == ".css" {
		mediaType = mediaStyle
	}
	return c.WriteDocument(mediaType+"; charset=utf-8", content)
}

// firstFiles are what a browser needs for the first screen.
type firstFiles struct {
	script, style string
	parts         []string // that the script imports at once
}

var staticImport = regexp.MustCompile(`from"\./(chunk-[A-Z0-9]+\.js)"`)

var first = sync.OnceValues(func() (f firstFiles, err error) {
	all, err := fs.ReadDir(dist, "dist")
	if err != nil {
		return f, err
	}
	for _, e := range all {
		switch name := e.Name(); {
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
