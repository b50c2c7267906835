package components

import (
	"embed"

	"assay/shared/language/lists"
)

//go:generate go test -run TestCatalogue_IsGenerated -update

//go:embed catalogue/*/curl.sh catalogue/*/python.py catalogue/*/main.go
var snippets embed.FS

// entry is a component and the files of its snippets in the order of Snippets. Entries are Go code that a test generates from the
// folder. The texts of snippets are read when they are requested. Reading both at the start would delay the first answer of a
// function by a millisecond.
type entry struct {
	Component
	files []string
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

// Link is a link to a page outside the catalogue.
type Link struct {
	Title string `json:"title" example:"RFC 4180, the format of CSV files"`
	URL   string `json:"url" format:"uri-reference" doc:"an absolute address, or one on this server" example:"https://www.rfc-editor.org/rfc/rfc4180"`
}

// Snippet describes a component's snippet in a language, and where to get it.
type Snippet struct {
	Language string `json:"language" enum:"curl,python,go"`
	URL      string `json:"url" format:"uri-reference" example:"/v1/platform/components/01KAKP3T00E4Y7QZ1V5M8N2R6W/snippet?language=curl"`
}

// snippetFile is a language of snippets and the name of their files.
type snippetFile struct{ language, file string }

var snippetFiles = []snippetFile{
	{"curl", "curl.sh"},
	{"python", "python.py"},
	{"go", "main.go"},
}

func languages() []string {
	return lists.Map(snippetFiles, func(f snippetFile) string { return f.language })
}
