package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"

	"github.com/agnivade/levenshtein"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
)

// schemaSet makes the schemas of Go types and validates documents against them.
type schemaSet struct {
	mu       sync.RWMutex
	registry huma.Registry
	byType   map[reflect.Type]*huma.Schema
}

var schemas = newSchemaSet()

func init() {
	huma.ValidateStrictCasing = true  // JSON member names differ by case
	huma.DefaultArrayNullable = false // lists are empty or absent
}

func newSchemaSet() *schemaSet {
	r := huma.NewMapRegistry(schemaPrefix, schemaName)
	r.RegisterTypeAlias(reflect.TypeFor[record.Instant](), reflect.TypeFor[time.Time]())
	return &schemaSet{registry: r, byType: map[reflect.Type]*huma.Schema{}}
}

// schemaName returns the name of a type's schema.
func schemaName(t reflect.Type, hint string) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[problem.Document]():
		return "Problem"
	case reflect.TypeFor[problem.Field]():
		return "ProblemField"
	case reflect.TypeFor[problem.Part]():
		return "ProblemPart"
	default:
		return huma.DefaultSchemaNamer(t, hint)
	}
}

// addNamed adds a schema that belongs to no Go type, and returns a reference to it.
func (s *schemaSet) addNamed(name string, schema *huma.Schema) *huma.Schema {
	s.registry.Map()[name] = schema
	return &huma.Schema{Ref: schemaPrefix + name}
}

// of returns the schema of a type. For a named struct it is a reference.
func (s *schemaSet) of(t reflect.Type) *huma.Schema {
	s.mu.RLock()
	known := s.byType[t]
	s.mu.RUnlock()
	if known != nil {
		return known
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byType[t] == nil {
		s.byType[t] = s.registry.Schema(t, true, t.Name())
		addPatterns(s.registry)
	}
	return s.byType[t]
}

var idName = regexp.MustCompile(`^(id|members|related|.*Ids?)$`)

// declared maps the placeholders of enumerations in struct tags to their values, which other packages declare.
var declared = map[string][]string{"$evaluators": measure.Kinds(), "$formats": measure.Formats()}

// expand replaces the placeholders in the values of an enumeration.
func expand(values []string) (all []string) {
	for _, v := range values {
		if named, ok := declared[v]; ok {
			all = append(all, named...)
		} else {
			all = append(all, v)
		}
	}
	return all
}

// addPatterns adds patterns of ids and URLs, which Go types do not declare, and expands enumerations.
func addPatterns(r huma.Registry) {
	for _, s := range r.Map() {
		for name, member := range s.Properties {
			expandEnum(member)
			addPattern(name, cmp.Or(member.Items, member))
		}
	}
}

// expandEnum replaces the placeholders in the values of a member.
func expandEnum(member *huma.Schema) {
	if len(member.Enum) == 0 || member.Type != huma.TypeString {
		return
	}
	values := expand(lists.Map(member.Enum, func(v any) string { return v.(string) }))
	member.Enum = lists.Map(values, func(v string) any { return v })
	member.PrecomputeMessages()
}

// addPattern adds the pattern of an id or a URL to the schema of a member, or of its items.
func addPattern(name string, value *huma.Schema) {
	if value.Type != huma.TypeString || value.Pattern != "" {
		return
	}
	pattern, description := patternOf(name, value.Format)
	if pattern == "" {
		return
	}
	value.Pattern = pattern
	value.PatternDescription = description
	value.PrecomputeMessages()
	value.PatternDescription = "" // the messages keep it, and OpenAPI has no such member
}

// idDescription describes the pattern of ids in messages.
const idDescription = "an id of 26 characters, such as 01JZ3V7Q0D8T5RZ0S6R1W9C4XK"

// ofUser matches the pointers to the ids of users in bodies.
var ofUser = regexp.MustCompile(`/(userId|members/\d+)$`)

// patternOf returns the pattern of a member and its description for messages. The pattern is empty for a member that is no id or URL.
// Request ids get no pattern, because clients choose them.
func patternOf(name, format string) (pattern, description string) {
	switch {
	case idName.MatchString(name) && name != "requestId":
		return record.IDPattern, idDescription
	case format == "uri":
		return record.URLPattern, "an absolute http or https URL without user name, its special characters percent-encoded"
	default:
		return "", ""
	}
}

// validate returns a problem with all departures of a JSON document from the schema of t. It returns ctx.Err() when the context ends.
func (s *schemaSet) validate(ctx context.Context, t reflect.Type, document []byte) error {
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		return problem.BadRequest.New("The body is not a JSON document: %v.", err)
	}
	schema := s.of(t)
	s.mu.RLock() // references are looked up in the registry, and other calls add schemas to it
	defer s.mu.RUnlock()
	var faults []problem.Field
	v = s.prune(schema, v, "", &faults)
	if err := ctx.Err(); err != nil {
		return err
	}
	slices.SortFunc(faults, func(a, b problem.Field) int { return strings.Compare(a.Pointer, b.Pointer) })
	faults = append(faults, s.departures(schema, v)...)
	if err := ctx.Err(); err != nil {
		return err
	}
	return problem.Check(faults)
}

// departures returns the faults that huma finds in a pruned value.
func (s *schemaSet) departures(schema *huma.Schema, v any) []problem.Field {
	var result huma.ValidateResult
	huma.Validate(s.registry, schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, v, &result)
	return lists.Map(result.Errors, func(err error) problem.Field {
		if detail, ok := errors.AsType[*huma.ErrorDetail](err); ok {
			return fieldOf(detail)
		}
		return problem.NewField("", "%s", err)
	})
}

// prune prepares a value for huma, and adds the faults that huma does not find to faults:
//
//	unknown member              is removed; huma's locations cannot tell a dot or bracket in its name from a separator
//	null in an optional member  stays; huma accepts it
//	too many items              only the first excess item stays; huma would validate all items, and reports their number
func (s *schemaSet) prune(schema *huma.Schema, v any, pointer string, faults *[]problem.Field) any {
	for schema != nil && schema.Ref != "" {
		schema = s.registry.SchemaFromRef(schema.Ref)
	}
	if schema == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		s.pruneObject(schema, v, pointer, faults)
		return v
	case []any:
		return s.pruneArray(schema, v, pointer, faults)
	default:
		return v
	}
}

// pruneObject prunes the members in place.
func (s *schemaSet) pruneObject(schema *huma.Schema, members map[string]any, pointer string, faults *[]problem.Field) {
	closed := schema.AdditionalProperties == false //nolint:revive // it is an any: a schema or a bool
	for _, name := range slices.Sorted(maps.Keys(members)) {
		known, ok := schema.Properties[name]
		switch {
		case ok:
			at := pointer + "/" + name
			if members[name] == nil && refusesNull(known) && !slices.Contains(schema.Required, name) {
				*faults = append(*faults, problem.NewField(at, "must not be null: leave the member out"))
			}
			members[name] = s.prune(known, members[name], at, faults)
		case closed:
			delete(members, name)
			if len(*faults) <= problem.MaxFields { // answers do not list more faults
				shown := name[:min(len(name), maxShownName)]
				*faults = append(*faults, problem.NewField(pointer+problem.Pointer(shown), "%s", unknownMember(schema, shown)))
			}
		}
	}
}

// refusesNull reports whether null is no value of the schema. A schema without a type allows any value.
func refusesNull(schema *huma.Schema) bool { return !schema.Nullable && schema.Type+schema.Ref != "" }

// pruneArray returns the pruned items.
func (s *schemaSet) pruneArray(schema *huma.Schema, items []any, pointer string, faults *[]problem.Field) []any {
	if most := schema.MaxItems; most != nil && len(items) > *most {
		items = items[:*most+1]
	}
	for i, item := range items {
		items[i] = s.prune(schema.Items, item, fmt.Sprintf("%s/%d", pointer, i), faults)
	}
	return items
}

// pointerTo converts huma's location of a value (files[0].name) to a JSON Pointer (/files/0/name).
func pointerTo(location string) string {
	if location == "" {
		return ""
	}
	return "/" + strings.NewReplacer("[", "/", "]", "", ".", "/").Replace(location)
}

// jsonSchemas caches the results of JSONSchema by type. Each takes half a millisecond to compute, and lists of tools contain many.
var jsonSchemas sync.Map

// JSONSchema returns the schema of a type as a JSON Schema document (2020-12).
func JSONSchema(t reflect.Type) (json.RawMessage, error) {
	if known, ok := jsonSchemas.Load(t); ok {
		return known.(json.RawMessage), nil
	}
	r := huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)
	r.RegisterTypeAlias(reflect.TypeFor[record.Instant](), reflect.TypeFor[time.Time]())
	document := *r.Schema(t, false, t.Name()) // a copy, because $defs contains the original
	addPatterns(r)
	document.Extensions = map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema"}
	if all := r.Map(); len(all) > 0 {
		document.Extensions["$defs"] = all
	}
	made, err := json.Marshal(&document)
	if err == nil {
		jsonSchemas.Store(t, json.RawMessage(made))
	}
	return made, err
}

// required is the start of the message about a missing member. The name of the member follows.
const required = "must have the member "

// The messages continue the name of a member. They must be set before the first schema, because schemas keep the messages.
func init() {
	validation.MsgExpectedRequiredProperty = required + "%s"
	validation.MsgExpectedString = "must be a text"
	validation.MsgExpectedNumber = "must be a number"
	validation.MsgExpectedInteger = "must be a whole number"
	validation.MsgExpectedBoolean = "must be true or false"
	validation.MsgExpectedArray = "must be a list, in brackets"
	validation.MsgExpectedObject = "must be an object, in braces"
	validation.MsgExpectedOneOf = "must be one of: %s"
	validation.MsgExpectedMinimumNumber = "must be at least %.15g"
	validation.MsgExpectedMaximumNumber = "must be at most %.15g"
	validation.MsgExpectedExclusiveMinimumNumber = "must be more than %.15g"
	validation.MsgExpectedExclusiveMaximumNumber = "must be less than %.15g"
	validation.MsgExpectedMinLength = "is too short: the least number of characters is %d"
	validation.MsgExpectedMaxLength = "is too long: the greatest number of characters is %d"
	validation.MsgExpectedMinItems = "has too few items: the least number is %d"
	validation.MsgExpectedMaxItems = "has too many items: the greatest number is %d"
	validation.MsgExpectedBePattern = "must be %s"
	validation.MsgExpectedMatchPattern = "must match the regular expression %s"
	validation.MsgExpectedRFC3339DateTime = "must be an instant as in RFC 3339, such as 2027-01-31T12:00:00Z"
	validation.MsgExpectedRFC3986URI = "must be a URL: %v"
}

// Limits for the fault about an unknown member.
const (
	maxShownName  = 200 // bytes of its name
	maxShownNames = 20  // known members to list
	maxTypos      = 2   // edit distance to a known name that is suggested
)

// unknownMember returns the text of the fault about an unknown member. It suggests a similar name and lists the known members. The names
// are plain text, because callers who send unknown members write the names of members themselves.
func unknownMember(schema *huma.Schema, name string) string {
	text := "is not a member that can be written here"
	known := slices.Sorted(maps.Keys(schema.Properties))
	if len(known) == 0 {
		return text + ": there is none"
	}
	like := func(k string) int { return levenshtein.ComputeDistance(strings.ToLower(k), strings.ToLower(name)) }
	if best := slices.MinFunc(known, func(a, b string) int { return like(a) - like(b) }); like(best) <= min(maxTypos, len(best)/2) {
		text += "; did you mean " + best + "?"
	}
	return text + "; the members are: " + strings.Join(known[:min(len(known), maxShownNames)], ", ")
}

// fieldOf converts huma's error to a fault. A missing member is named by its own pointer.
func fieldOf(place *huma.ErrorDetail) problem.Field {
	if name, missing := strings.CutPrefix(place.Message, required); missing {
		return problem.NewField(pointerTo(place.Location)+problem.Pointer(name), "is missing: it must be given")
	}
	pointer := pointerTo(place.Location)
	if ofUser.MatchString(pointer) && strings.HasSuffix(place.Message, idDescription) {
		return problem.NewField(pointer, "%s. Users find theirs: %s", place.Message, problem.GetCurrentUser.With())
	}
	return problem.NewField(pointer, "%s", place.Message)
}
