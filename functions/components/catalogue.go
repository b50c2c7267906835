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

	"assay/shared/lists"
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

// Component is an entry of the catalogue.
type Component struct {
	ID          string    `json:"id" example:"01KAKP3T00E4Y7QZ1V5M8N2R6W"`
	Kind        string    `json:"kind" enum:"dataset-format,run-format,measure,evaluator,tool,client,recipe"`
	Name        string    `json:"name" example:"Submit from CI"`
	Description string    `json:"description" doc:"Markdown"`
	Links       []Link    `json:"links" doc:"where to read on"`
	Related     []string  `json:"related" doc:"ids of components that go with it"`
	Snippets    []Snippet `json:"snippets" doc:"its snippets; GET …/snippet returns the first unless language names another"`
	Prints      string    `json:"prints" doc:"what is in the output of each snippet" example:"{\"nDCG@10\": 0.8597}"`
}

// Link leads out of the catalogue.
type Link struct {
	Title string `json:"title" example:"RFC 4180, the format of CSV files"`
	URL   string `json:"url" format:"uri-reference" doc:"an absolute address, or one on this server" example:"https://www.rfc-editor.org/rfc/rfc4180"`
}

// Snippet is where to find a component's snippet in a language.
type Snippet struct {
	Language string `json:"language" enum:"curl,python,go"`
	URL      string `json:"url" format:"uri-reference" example:"/v1/platform/components/01KAKP3T00E4Y7QZ1V5M8N2R6W/snippet?language=curl"`
}

// snippetFiles are the languages of snippets, in the order of preference, with the files that they stand in.
type snippetFile struct{ language, file string }

var snippetFiles = []snippetFile{
	{"curl", "curl.sh"},
	{"python", "python.py"},
	{"go", "main.go"},
}

func languages() []string {
	return lists.Map(snippetFiles, func(f snippetFile) string { return f.language })
}
