// Package page is the wire format of lists. It parses the query parameters of lists (limit, cursor, offset, sort, filters, fields) as
// operations declare them, and renders pages with their links.
package page

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"assay/shared/domain/record"
	"assay/shared/language/lists"
	"assay/shared/language/problem"
)

// Limits of query parameters.
const (
	DefaultLimit = 50
	MaxLimit     = 200
	MaxOffset    = 100_000 // greatest offset into a sorted list
	MaxQuery     = 8192    // bytes of a query string
	MaxValues    = 50      // values of one filter
	MaxText      = 200     // characters of one value
	maxShown     = 60      // bytes of a value that a problem repeats
)

// Type is the type of a filter's values.
type Type int

// The types of filters.
const (
	Text Type = iota // substring, ignoring case
	ID               // a ULID
	Enum             // one of Filter.Values
	Bool             // true or false
)

// Filter declares one filter of a list.
type Filter struct {
	Name       string
	Type       Type
	Values     []string // for Enum; nil: the values that the schema of the listed resources gives the member with the filter's name
	Standalone bool     // the parameter is name=value instead of filter[name]=value,value
}

// Spec declares the query parameters of an operation.
type Spec struct {
	List    bool     // accepts limit and cursor
	Named   bool     // cursors are names instead of ids
	Sort    bool     // accepts sort and offset
	Filters []Filter // in the order of the documentation
	Custom  []string // parameters that the operation parses itself
	Ignored bool     // unknown parameters are ignored, as RFC 6749 requires for the page to which an issuer redirects
	Fields  []string // names that `fields` accepts; empty: the operation has no such parameter
}

// Request holds the parsed parameters of a request.
type Request struct {
	Limit   int
	Cursor  string
	Sort    string
	Offset  int
	Fields  []string
	filters map[string][]string
	query   url.Values
}

// PastEnd reports whether the offset is beyond the end of every sorted list.
func (r Request) PastEnd() bool { return r.Offset > MaxOffset }

// Values returns the values of a filter; nil: the request does not have the filter.
func (r Request) Values(name string) []string { return r.filters[name] }

// SortBy sets the sort order of a request without one, and of the links in its page.
func (r *Request) SortBy(sort string) {
	r.Sort = sort
	r.query.Set("sort", sort)
}

// Value returns a plain parameter.
func (r Request) Value(name string) string { return r.query.Get(name) }

// Matches reports whether the value passes an exact filter.
func (r Request) Matches(name, value string) bool {
	v := r.filters[name]
	return len(v) == 0 || slices.Contains(v, value)
}

// MatchesText reports whether the text contains one of the filter's values, ignoring case.
func (r Request) MatchesText(name, text string) bool {
	v := r.filters[name]
	return len(v) == 0 || slices.ContainsFunc(v, func(part string) bool {
		return strings.Contains(strings.ToLower(text), strings.ToLower(part))
	})
}

// Parse parses a query string. For an unknown parameter it returns a problem that names the known ones.
func (s Spec) Parse(rawQuery string) (Request, error) {
	r := Request{Limit: DefaultLimit, filters: map[string][]string{}, query: url.Values{}}
	if len(rawQuery) > MaxQuery {
		return r, problem.InvalidParameter.New("The query string is longer than %s.", problem.Size(MaxQuery))
	}
	if rawQuery == "" {
		return r, nil
	}
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return r, problem.InvalidParameter.New("The query string is not well-formed: %v. Percent-encode special characters.", err)
	}
	r.query = query
	if s.Ignored {
		return r, nil
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		values := query[name]
		if len(values) > 1 {
			return r, problem.InvalidParameter.New("The parameter %q is given %d times; give it once, several values separated by commas.",
				problem.Clip(name, maxShown), len(values))
		}
		if err := s.read(&r, name, values[0]); err != nil {
			return r, err
		}
	}
	if r.Sort != "" && r.Cursor != "" {
		return r, problem.InvalidParameter.New("{?sort} does not go with {?cursor}: a sorted list is paged with {?offset} and {?limit}.")
	}
	if query.Has("offset") && r.Sort == "" {
		return r, problem.InvalidParameter.New("{?offset} goes only with {?sort}: follow {links.next}, which carries a cursor.")
	}
	return r, nil
}

func (s Spec) read(r *Request, name, value string) error {
	switch {
	case name == "limit" && s.List:
		return r.readLimit(value)
	case name == "cursor" && s.List:
		if value == "" || !s.Named && !record.IsID(value) {
			return problem.InvalidCursor.New("The cursor is not one: follow {links.next} as it was given, or start without a cursor.")
		}
		r.Cursor = value
	case name == "sort" && s.Sort:
		if value == "" || utf8.RuneCountInString(value) > MaxText {
			return problem.InvalidParameter.New("{?sort} must be `rank` or the name of a measure of the dataset.")
		}
		r.Sort = value
	case name == "offset" && s.Sort:
		n, ok := wholeNumber(value, MaxOffset+1)
		if !ok {
			return problem.InvalidParameter.New("{?offset} must be a whole number from 0.")
		}
		r.Offset = n
	case name == "fields" && len(s.Fields) > 0:
		return s.readFields(r, value)
	case slices.Contains(s.Custom, name):
	default:
		return s.readFilter(r, name, value)
	}
	return nil
}

func (r *Request) readLimit(value string) error {
	n, ok := wholeNumber(value, MaxLimit)
	if !ok || n < 1 {
		return problem.InvalidParameter.New("{?limit} must be a whole number from 1; more than %d is treated as %d.", MaxLimit, MaxLimit)
	}
	r.Limit = n
	return nil
}

// wholeNumber parses any number of decimal digits. Numbers greater than most become most.
func wholeNumber(digits string, most int) (n int, ok bool) {
	number, err := strconv.ParseUint(digits, 10, 31) // returns the greatest number of 31 bits for a number out of range
	return min(int(number), most), err == nil || errors.Is(err, strconv.ErrRange)
}

func (s Spec) readFields(r *Request, value string) error {
	for f := range strings.SplitSeq(value, ",") {
		if !slices.Contains(s.Fields, f) {
			return problem.InvalidParameter.New("There is no field %q. The fields are: %s.", problem.Clip(f, maxShown),
				lists.Map(s.Fields, problem.Member))
		}
		if !slices.Contains(r.Fields, f) {
			r.Fields = append(r.Fields, f)
		}
	}
	return nil
}

func (s Spec) readFilter(r *Request, name, value string) error {
	i := slices.IndexFunc(s.Filters, func(f Filter) bool { return f.Param() == name })
	if i < 0 {
		return problem.InvalidParameter.New("There is no parameter %q here. %s", problem.Clip(name, maxShown), s.allowed())
	}
	f := s.Filters[i]
	values := strings.Split(value, ",")
	if f.Standalone {
		values = []string{value}
	}
	if len(values) > MaxValues {
		return problem.InvalidParameter.New("%s takes at most %d values.", problem.Parameter(f.Param()), MaxValues)
	}
	for _, v := range values {
		if msg := f.check(v); msg != "" {
			return problem.InvalidParameter.New("%s %s.", problem.Parameter(f.Param()), msg)
		}
	}
	r.filters[f.Name] = values
	return nil
}

// Param returns the filter's name in a query string.
func (f Filter) Param() string {
	if f.Standalone {
		return f.Name
	}
	return "filter[" + f.Name + "]"
}

func (f Filter) check(v string) string {
	switch {
	case v == "" || utf8.RuneCountInString(v) > MaxText:
		return fmt.Sprintf("takes values of 1 to %d characters, separated by commas", MaxText)
	case f.Type == ID && !record.IsID(v):
		return fmt.Sprintf("takes ids, which are ULIDs of 26 upper-case characters; %q is none", problem.Clip(v, maxShown))
	case f.Type == Enum && !slices.Contains(f.Values, v):
		return fmt.Sprintf("takes %s; not %q", strings.Join(f.Values, ", "), problem.Clip(v, maxShown))
	case f.Type == Bool && v != "true" && v != "false":
		return fmt.Sprintf("takes true or false; not %q", problem.Clip(v, maxShown))
	}
	return ""
}

// Params lists the names of all parameters of the operation.
func (s Spec) Params() []string {
	names := lists.Map(s.Filters, Filter.Param)
	if s.List {
		names = append(names, "limit", "cursor")
	}
	if s.Sort {
		names = append(names, "sort", "offset")
	}
	names = append(names, s.Custom...)
	if len(s.Fields) > 0 {
		names = append(names, "fields")
	}
	return names
}

func (s Spec) allowed() problem.Text {
	names := s.Params()
	if len(names) == 0 {
		return problem.Sentence("This address takes none.")
	}
	return problem.Sentence("Allowed: %s.", lists.Map(names, problem.Parameter))
}
