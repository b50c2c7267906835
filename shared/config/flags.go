package config

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// ParseFlags parses the arguments. A flag that is not among them has the value of its environment variable, if that is set: the
// flag's name after the prefix, in upper case and with underscores for hyphens. The usage of each flag names its variable.
func ParseFlags(f *flag.FlagSet, prefix string, args []string, getenv func(string) string) error {
	var err error
	f.VisitAll(func(fl *flag.Flag) {
		name := prefix + strings.ToUpper(strings.ReplaceAll(fl.Name, "-", "_"))
		if v := getenv(name); v != "" && err == nil {
			if e := f.Set(fl.Name, v); e != nil {
				err = fmt.Errorf("%s: %w", name, e)
			}
		}
		fl.Usage += " (" + name + ")"
	})
	if err != nil {
		return err
	}
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("there is no argument %q; -h lists the flags", f.Arg(0))
	}
	return nil
}

// ParseJSON sets in the defaults, which have objects and whole numbers, what the JSON text of a setting has; nothing when it is
// empty. An error quotes the text up to the fault.
func ParseJSON(text string, defaults any) error {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(defaults)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		return fmt.Errorf("there is more than one JSON value: %s", text)
	}
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); {
	case unknown:
		return fmt.Errorf("%s is not a member of the object that it stands in", name)
	case errors.As(err, &syntax):
		return fmt.Errorf("this is not JSON from its last character on: %s", text[:syntax.Offset])
	case !errors.As(err, &wrong):
		return fmt.Errorf("this JSON is not complete: %s", text)
	case wrong.Type.Kind() == reflect.Struct || wrong.Type.Kind() == reflect.Map:
		return fmt.Errorf("the last value of this must be an object: %s", text[:wrong.Offset])
	default:
		return fmt.Errorf("the last value of this must be a whole number of at most 18 digits: %s", text[:wrong.Offset])
	}
}
