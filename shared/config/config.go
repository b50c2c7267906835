// Package config reads the settings of programs: environment variables, flags, and settings that are JSON. It exists so that
// each variable has its name in one place, which the deployment sets and the programs read, and so that only a main ends
// its process: what is missing or malformed is returned as an error. Package awsconfig makes settings of the AWS SDK of it.
package config

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
)

// Prefix begins the names of all variables of Assay, but for those of the worker.
const Prefix = "ASSAY_"

// The variables that the deployment sets.
const (
	TableVariable    = Prefix + "TABLE"    // name of DynamoDB's table
	BucketVariable   = Prefix + "BUCKET"   // name of S3's bucket
	IssuerVariable   = Prefix + "ISSUER"   // OpenID Connect issuer to trust
	AudienceVariable = Prefix + "AUDIENCE" // audience that its tokens must have
	// true: the issuer confirms each e-mail address before it puts it into a token, also where email_verified is missing
	IssuerVerifiesEmailVariable = Prefix + "ISSUER_VERIFIES_EMAIL"
	ClientIDVariable            = Prefix + "CLIENT_ID" // public client of the issuer that the console is; none: it takes access tokens alone
	// origin of signed links to files, which the console may ask; none: the server's own
	FilesOriginVariable = Prefix + "FILES_ORIGIN"
	// quotas of users and of the server, in JSON, where they differ from the defaults; see record.Quotas
	QuotasVariable  = Prefix + "QUOTAS"
	OriginsVariable = Prefix + "ORIGINS" // origins of web pages that may call the API, separated by commas; none: all

	URLVariable      = Prefix + "URL"       // at which clients reach the API: links in e-mails begin with it
	MailFromVariable = Prefix + "MAIL_FROM" // address that e-mails are sent from; none: none is sent

	ScheduleGroupVariable  = Prefix + "SCHEDULE_GROUP"  // name of the group of schedules
	ScheduleRoleVariable   = Prefix + "SCHEDULE_ROLE"   // ARN of the role with which a schedule calls a function
	ScheduleTargetVariable = Prefix + "SCHEDULE_TARGET" // ARN of that function: the evaluator, or the notifier its own
	DeadLettersVariable    = Prefix + "DEAD_LETTERS"    // ARN of the queue of events that could not be delivered
)

// Environment reads variables, and collects an error for each that is missing: a main reads them all and checks Err once.
type Environment struct{ missing []error }

// Require returns the value of a variable that must be set.
func (e *Environment) Require(name string) string {
	v := os.Getenv(name)
	if v == "" {
		e.missing = append(e.missing, fmt.Errorf("the environment variable %s must be set", name))
	}
	return v
}

// Err returns an error that names each required variable that is missing; nil when there is none.
func (e *Environment) Err() error { return errors.Join(e.missing...) }

// Origins returns the origins of web pages that may call the API.
func Origins() []string {
	if v := os.Getenv(OriginsVariable); v != "" {
		return strings.Split(v, ",")
	}
	return []string{"*"}
}

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

// BaseURL returns the value of a flag, which is empty or an http or https URL without a path, without a slash at its end.
func BaseURL(name, value string) (string, error) {
	if value == "" {
		return "", nil
	}
	if u, err := url.Parse(value); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "", fmt.Errorf("-%s %q is not an http or https URL without a path", name, value)
	}
	return strings.TrimRight(value, "/"), nil
}

// ParseJSON sets in the defaults what the JSON text of a setting has; nothing when it is empty.
func ParseJSON(text string, defaults any) error {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(defaults); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: there is more than one JSON value", text)
	}
	return nil
}

// Loopback reports whether a host is this machine, to which secrets can go in plain text.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
