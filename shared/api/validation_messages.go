package api

import (
	"maps"
	"slices"
	"strings"

	"assay/shared/problem"

	"github.com/agnivade/levenshtein"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
)

// required begins the message for an object that lacks a member, whose name follows.
const required = "must have the member "

// What is wrong with a value, in words that continue its name. Schemas keep these texts when they are made.
func init() {
	validation.MsgExpectedRequiredProperty = required + "%s"
	validation.MsgExpectedString = "must be a text"
	validation.MsgExpectedNumber = "must be a number"
	validation.MsgExpectedInteger = "must be a whole number"
	validation.MsgExpectedBoolean = "must be true or false"
	validation.MsgExpectedArray = "must be a list, in brackets"
	validation.MsgExpectedObject = "must be an object, in braces"
	validation.MsgExpectedOneOf = "must be one of: %s"
	validation.MsgExpectedMinimumNumber = "must be at least %v"
	validation.MsgExpectedMaximumNumber = "must be at most %v"
	validation.MsgExpectedExclusiveMinimumNumber = "must be more than %v"
	validation.MsgExpectedExclusiveMaximumNumber = "must be less than %v"
	validation.MsgExpectedMinLength = "is too short: the least number of characters is %d"
	validation.MsgExpectedMaxLength = "is too long: the greatest number of characters is %d"
	validation.MsgExpectedMinItems = "has too few items: the least number is %d"
	validation.MsgExpectedMaxItems = "has too many items: the greatest number is %d"
	validation.MsgExpectedBePattern = "must be %s"
	validation.MsgExpectedMatchPattern = "must match the regular expression %s"
	validation.MsgExpectedRFC3339DateTime = "must be an instant as in RFC 3339, such as 2027-01-31T12:00:00Z"
	validation.MsgExpectedRFC3986URI = "must be a URL: %v"
}

// Bounds of what a fault says of an unknown member.
const (
	maxShownName  = 200 // bytes of its name
	maxShownNames = 20  // members that the object can have
	maxTypos      = 2   // letters in which a name differs from the one that was meant
)

// unknownMember says which members the schema has instead of one that it does not have, and which of them may have been meant.
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

// fieldOf is the fault that a validator found at the place in a document; a missing member is named by its own pointer.
func fieldOf(place *huma.ErrorDetail) problem.Field {
	if name, missing := strings.CutPrefix(place.Message, required); missing {
		return problem.Field{Pointer: pointerTo(place.Location) + problem.Pointer(name), Detail: "is missing: it must be given"}
	}
	return problem.Field{Pointer: pointerTo(place.Location), Detail: place.Message}
}
