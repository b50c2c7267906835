package apitest

import (
	"bytes"
	"embed"
	"errors"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed openapi31/*.json
var openapi31 embed.FS

// standard is the OpenAPI Initiative's schema of a document, with that of the schemas in it.
var standard = sync.OnceValues(func() (*jsonschema.Schema, error) {
	c := newCompiler()
	var entry string
	for _, name := range []string{"meta", "dialect", "schema", "schema-base"} {
		content, err := openapi31.ReadFile("openapi31/" + name + ".json")
		if err != nil {
			return nil, err
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		object, _ := value.(map[string]any)
		entry, _ = object["$id"].(string)
		if err := c.AddResource(entry, value); err != nil {
			return nil, err
		}
	}
	return c.Compile(entry)
})

func standardConformance(d *document, report reporter) {
	schema, err := standard()
	if err != nil {
		report(d.root, "the schema of OpenAPI 3.1 cannot be compiled: %v", err)
		return
	}
	err = schema.Validate(d.root.value)
	var invalid *jsonschema.ValidationError
	switch {
	case errors.As(err, &invalid):
		for _, fault := range leaves(invalid, message.NewPrinter(language.English), nil) {
			report(d.root, "%s", fault)
		}
	case err != nil:
		report(d.root, "%v", err)
	}
}
