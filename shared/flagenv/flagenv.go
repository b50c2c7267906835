// Package flagenv gives the flags of a program twins in the environment, for a container has no command line to speak of.
package flagenv

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// Parse parses the arguments. A flag that is not among them has the value of its twin, if that is set: the flag's name after
// the prefix, in upper case and with underscores for hyphens. The usage of each flag tells its twin.
func Parse(f *flag.FlagSet, prefix string, args []string, getenv func(string) string) error {
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

// JSON sets in the defaults what the JSON text of a flag has; nothing when it is empty.
func JSON(text string, defaults any) error {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(defaults); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one JSON value")
	}
	return nil
}
