// Package config reads settings: environment variables, flags, and settings in JSON. It declares the name of each variable once, for the
// deployment, which sets the variable, and the programs, which read it. It returns errors for missing or malformed settings, so that
// only a main function ends the process. Package awsconfig makes settings for the AWS SDK from them.
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

// Prefix is the prefix of all variables of Assay, except for those of the worker.
const Prefix = "ASSAY_"

// Variables that the deployment sets.
const (
	TableVariable    = Prefix + "TABLE"    // name of DynamoDB's table
	BucketVariable   = Prefix + "BUCKET"   // name of S3's bucket
	IssuerVariable   = Prefix + "ISSUER"   // OpenID Connect issuer to trust
	AudienceVariable = Prefix + "AUDIENCE" // audience that its tokens must have
	// "true": the issuer confirms every e-mail address in its tokens, even if email_verified is missing
	IssuerVerifiesEmailVariable = Prefix + "ISSUER_VERIFIES_EMAIL"
	ClientIDVariable            = Prefix + "CLIENT_ID" // the console's client at the issuer; none: the console takes only access tokens
	// origin of signed links to files, which the console may request; none: the server's own
	FilesOriginVariable = Prefix + "FILES_ORIGIN"
	// quotas of users and of the server that differ from the defaults, in JSON; see record.Quotas
	QuotasVariable  = Prefix + "QUOTAS"
	OriginsVariable = Prefix + "ORIGINS" // origins of web pages that may call the API, separated by commas; none: all

	URLVariable      = Prefix + "URL"       // at which clients reach the API; the base of links in e-mails
	MailFromVariable = Prefix + "MAIL_FROM" // sender of e-mails; none: no e-mails are sent

	ScheduleGroupVariable  = Prefix + "SCHEDULE_GROUP"  // name of the group of schedules
	ScheduleRoleVariable   = Prefix + "SCHEDULE_ROLE"   // ARN of the role with which a schedule calls a function
	ScheduleTargetVariable = Prefix + "SCHEDULE_TARGET" // ARN of the function that schedules call: the function that reads this
	DeadLettersVariable    = Prefix + "DEAD_LETTERS"    // ARN of the queue for events that could not be delivered
)

// Environment reads variables, and collects errors for missing ones. A main function reads all variables and then checks Err once.
type Environment struct{ missing []error }

// Require returns the value of a variable that must be set.
func (e *Environment) Require(name string) string {
	v := os.Getenv(name)
	if v == "" {
		e.missing = append(e.missing, fmt.Errorf("the environment variable %s must be set", name))
	}
	return v
}

// Err returns an error that names each missing variable; nil: none is missing.
func (e *Environment) Err() error { return errors.Join(e.missing...) }

// Origins returns the origins of web pages that may call the API.
func Origins() []string {
	if v := os.Getenv(OriginsVariable); v != "" {
		return strings.Split(v, ",")
	}
	return []string{"*"}
}

// ParseFlags parses the arguments. A missing flag gets the value of its environment variable, if that is set. The variable's name is the
// prefix and the flag's name, in upper case and with underscores for hyphens. The usage of each flag names its variable.
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

// BaseURL checks the value of a flag, which must be empty or an http or https URL without a path. It returns the value without a final
// slash.
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

// ParseJSON decodes the JSON text of a setting into defaults. Members that the text leaves out keep their values. An empty text changes
// nothing.
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

// Loopback reports whether a host is this machine. Programs may send secrets to it without TLS.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
