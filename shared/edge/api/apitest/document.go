package apitest

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"assay/shared/language/problem"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// document is a parsed OpenAPI document. It is not safe for concurrent use, because compiling a schema changes it.
type document struct {
	root     node
	compiler *jsonschema.Compiler
}

// node is a value in the document with the JSON Pointer (RFC 6901) to it. An absent member has the value nil.
type node struct {
	doc     *document
	pointer string
	value   any
}

// address is the absolute name that the compiler needs for the document. Nothing is fetched from it.
const address = "https://document.invalid/openapi.json"

// noLoader refuses to load other documents.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("a document must not refer to what lies outside it")
}

func parse(content []byte) (*document, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("the document is not JSON: %w", err)
	}
	d := &document{compiler: newCompiler()}
	d.root = node{d, "", value}
	if err := d.compiler.AddResource(address, value); err != nil {
		return nil, fmt.Errorf("the document holds a schema that cannot be read: %w", err)
	}
	return d, nil
}

func newCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.AssertFormat()
	return c
}

// compile compiles the schema at the node.
func (n node) compile() (*jsonschema.Schema, error) {
	fragment := (&url.URL{Fragment: n.pointer}).EscapedFragment()
	schema, err := n.doc.compiler.Compile(address + "#" + fragment)
	if err != nil {
		return nil, fmt.Errorf("#%s is not a valid schema: %w", n.pointer, err)
	}
	return schema, nil
}

func (n node) exists() bool { return n.value != nil }

// text returns the string at the node, or "".
func (n node) text() string {
	s, _ := n.value.(string)
	return s
}

// isTrue reports whether the node holds true.
func (n node) isTrue() bool {
	b, _ := n.value.(bool)
	return b
}

// child returns the member of an object by its name, or the element of an array by its index. It may be absent.
func (n node) child(name string) node {
	below := node{doc: n.doc, pointer: n.pointer + problem.Pointer(name)}
	switch value := n.value.(type) {
	case map[string]any:
		below.value = value[name]
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(value) {
			below.value = value[i]
		}
	}
	return below
}

// get follows the names down from the node. It resolves references on the way.
func (n node) get(names ...string) node {
	for _, name := range names {
		n = n.resolved().child(name)
	}
	return n
}

// all yields the members of an object in the order of their names, or the elements of an array. It first resolves the node.
func (n node) all() iter.Seq2[string, node] {
	n = n.resolved()
	var names []string
	switch value := n.value.(type) {
	case map[string]any:
		names = slices.Sorted(maps.Keys(value))
	case []any:
		for i := range value {
			names = append(names, strconv.Itoa(i))
		}
	}
	return func(yield func(string, node) bool) {
		for _, name := range names {
			if !yield(name, n.child(name)) {
				return
			}
		}
	}
}

// maxReferences is the greatest length of a chain of references. Longer chains count as cycles.
const maxReferences = 16

// resolved follows the references at the node. Without a reference it returns the node. It returns an absent node for a broken reference.
func (n node) resolved() node {
	for range maxReferences {
		object, _ := n.value.(map[string]any)
		reference, ok := object["$ref"].(string)
		if !ok {
			return n
		}
		n = n.doc.find(reference)
	}
	return node{doc: n.doc, pointer: n.pointer}
}

// find returns the node that a reference within the document (#/components/...) names, or an absent node.
func (d *document) find(reference string) node {
	fragment, _ := strings.CutPrefix(reference, "#")
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	tokens, ok := problem.PointerTokens(fragment)
	if !ok {
		return node{doc: d, pointer: reference}
	}
	n := d.root
	for _, token := range tokens {
		n = n.child(token)
	}
	return n
}

var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// declared is an operation in the document.
type declared struct {
	node
	method string // GET
	path   string // /v1/tasks/{taskId}
	item   node
}

func (o declared) name() string { return o.method + " " + o.path }

// operations yields all operations by path and method.
func (d *document) operations() iter.Seq[declared] {
	return func(yield func(declared) bool) {
		for path, item := range d.root.get("paths").all() {
			for _, method := range methods {
				op := declared{node: item.get(method), method: strings.ToUpper(method), path: path, item: item}
				if op.exists() && !yield(op) {
					return
				}
			}
		}
	}
}

// parameters returns the parameters of an operation. They include the parameters of its path that the operation does not redeclare.
func (o declared) parameters() []node {
	var out []node
	seen := map[[2]string]bool{}
	for _, list := range []node{o.get("parameters"), o.item.get("parameters")} {
		for _, p := range list.all() {
			p = p.resolved()
			key := [2]string{p.get("in").text(), p.get("name").text()}
			if !seen[key] {
				seen[key] = true
				out = append(out, p)
			}
		}
	}
	return out
}
