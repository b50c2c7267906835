package components

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
)

//go:embed catalogue
var embedded embed.FS

// entry is a component with the texts of its snippets.
type entry struct {
	Component
	snippets map[string][]byte // by language
}

// catalogue returns all entries, the newest first.
var catalogue = sync.OnceValues(func() ([]*entry, error) {
	folder, err := fs.Sub(embedded, "catalogue")
	if err != nil {
		return nil, err
	}
	return readCatalogue(folder)
})

// readCatalogue reads a catalogue: a folder for each entry. In component.json, related components stand by the names of their
// folders, which become ids.
func readCatalogue(from fs.FS) ([]*entry, error) {
	folders, err := fs.ReadDir(from, ".")
	if err != nil {
		return nil, err
	}
	var all []*entry
	ids := map[string]string{}
	for _, f := range folders {
		e, err := readEntry(from, f.Name())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		ids[f.Name()] = e.ID
		all = append(all, e)
	}
	for _, e := range all {
		for i, folder := range e.Related {
			id, ok := ids[folder]
			if !ok {
				return nil, fmt.Errorf("%s: there is no related component %q", e.Name, folder)
			}
			e.Related[i] = id
		}
	}
	slices.SortFunc(all, func(a, b *entry) int { return cmp.Compare(b.ID, a.ID) })
	return all, nil
}

func readEntry(from fs.FS, folder string) (*entry, error) {
	content, err := fs.ReadFile(from, folder+"/component.json")
	if err != nil {
		return nil, err
	}
	e := &entry{snippets: map[string][]byte{}}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&e.Component); err != nil {
		return nil, err
	}
	for _, f := range snippetFiles {
		text, err := fs.ReadFile(from, folder+"/"+f.file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		e.snippets[f.language] = text
		e.Snippets = append(e.Snippets, Snippet{f.language, "/v1/platform/components/" + e.ID + "/snippet?language=" + f.language})
	}
	return e, nil
}
