package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"assay/functions"
	"assay/shared/domain/record"
	"assay/shared/service/quota"
)

// settings are the settings of one deployment. They come from the CDK's context: -c key=value, or the member "context" of cdk.json.
type settings struct {
	stage
	Binaries string // folder with <function>/bootstrap for each function

	Issuer, Audience string   // OpenID Connect issuer to trust; empty: the stack creates a Cognito user pool
	VerifiesEmail    bool     // the issuer confirms e-mail addresses even if its tokens do not say so
	ClientID         string   // public client of the issuer for the sign-in page; empty: none
	SignInReturns    []string // further pages that the user pool may return to
	Origins          []string // of web pages that may call the API and send files
	Quotas           string   // in JSON, where they differ from record.DefaultQuotas
	// MailFrom is the sender of e-mails of the notifier and the user pool, and MailIdentity the ARN of its identity in Amazon SES. If
	// they are empty, the notifier sends no e-mails, and the pool sends at most 50 a day from an address of Cognito.
	MailFrom, MailIdentity string

	Domain, Certificate string // custom domain of the API, and the ARN of its certificate; empty: an address of AWS
	AlarmEmail          string // receives alarms; empty: only AWS's console shows them
	Budget              int    // US dollars a month; AlarmEmail gets an e-mail when most of it is spent
	Tracing             bool   // enables traces by AWS X-Ray

	GRPC grpcSettings

	// RestoredTable and RestoredStream are a table to use instead of the stack's own, and the ARN of its stream. The own table remains
	// unchanged.
	RestoredTable, RestoredStream string

	// Unprotected disables protection from deletion. A first deployment needs that, because a protected stack cannot be rolled back.
	Unprotected bool
}

// protects reports whether table, users and stack are protected from deletion.
func (s settings) protects() bool { return s.RetainsData && !s.Unprotected }

// grpcSettings are the settings of the gRPC server, which costs money even while nobody calls.
type grpcSettings struct {
	On          bool
	Certificate string // ARN
	Count       int    // of servers
	Images      string // folder that images are built from: the root of the repository
}

// stage holds the settings that depend on the stage.
type stage struct {
	Name         string
	RetainsData  bool // data outlives the stack and is protected from accidental deletion
	LogsFiles    bool // accesses to files are logged
	AsksForMail  bool // AlarmEmail is required, and Cognito's limit of e-mails causes a warning
	LogDays      int
	Rate, Burst  int            // limits of requests to the API: a second, and at once
	Concurrency  map[string]int // greatest number of instances of a function; more would only wait for the table
	ParallelWork int            // concurrent batches of one shard of the stream
}

// stages lists the stages. Only prod reserves concurrency. Reserved concurrency reduces that of the account, and a new account has too
// little to reserve any.
var stages = []stage{
	{Name: "dev", LogDays: 14, Rate: 50, Burst: 100, ParallelWork: 2},
	{
		Name: "prod", RetainsData: true, LogsFiles: true, AsksForMail: true, LogDays: 90, Rate: 2000, Burst: 1000, ParallelWork: 10,
		Concurrency: map[string]int{
			// Submissions before a deadline write to few partitions of the indexes, each of which takes 1,000 writes a second. Beyond
			// this limit API Gateway answers 503 to some callers. Otherwise all callers would wait for the table.
			"submissions": 100,
			// Computations take seconds of a whole processor, and anybody may request them. The limit leaves the rest of the account's
			// concurrency to other functions.
			"tools": 50,
			// A backlog waits in the stream, where it costs nothing, instead of in retries against the table.
			functions.Background: 20,
			// The reservation protects uploaded files from floods that use up the account's concurrency.
			functions.Uploads: 20,
			// E-mails wait in the outbox instead of exceeding the rate limit of SES.
			functions.Notifier: 5,
		},
	},
}

// readSettings reads the settings from the context. Its error says which setting is wrong.
func readSettings(context func(key string) any) (settings, error) {
	var err error
	text := func(key, fallback string) string {
		switch v := context(key).(type) {
		case nil:
			return fallback
		case string:
			return strings.TrimSpace(v)
		default:
			err = errors.Join(err, fmt.Errorf("context %s: give a text, in cdk.json in quotes, such as \"60\" or \"true\"", key))
			return fallback
		}
	}
	s := settings{
		Binaries:      text("binaries", "../bin/lambda"),
		Issuer:        text("issuer", ""),
		Audience:      text("audience", ""),
		ClientID:      text("clientId", ""),
		SignInReturns: strings.Split(text("signInReturns", "http://localhost:8080/console"), ","),
		Origins:       strings.Split(text("origins", "*"), ","),
		Quotas:        text("quotas", ""),
		Domain:        text("domain", ""), Certificate: text("certificate", ""),
		MailFrom: text("mailFrom", ""), MailIdentity: text("mailIdentity", ""),
		AlarmEmail:    text("alarmEmail", ""),
		RestoredTable: text("table", ""), RestoredStream: text("tableStream", ""),
	}
	s.GRPC.Certificate = text("grpcCertificate", "")
	s.GRPC.Images = text("images", "..")
	either := func(key, off, on string) bool {
		v := text(key, off)
		if v != on && v != off {
			err = errors.Join(err, fmt.Errorf("context %s=%s: choose %s or %s", key, v, on, off))
		}
		return v == on
	}
	s.VerifiesEmail = either("issuerVerifiesEmail", "false", "true")
	s.Tracing = either("tracing", "false", "true")
	s.GRPC.On = either("grpc", "off", "on")
	s.Unprotected = either("protect", "true", "false")
	name := text("stage", "dev")
	count := text("grpcCount", "1")
	budget := text("budget", "50")
	i := slices.IndexFunc(stages, func(known stage) bool { return known.Name == name })
	if i < 0 {
		return s, fmt.Errorf("context stage=%s: choose dev or prod", name)
	}
	s.stage = stages[i]
	if err != nil {
		return s, err
	}
	if s.GRPC.Count, err = strconv.Atoi(count); err != nil || s.GRPC.Count < 1 || s.GRPC.Count > maxServers {
		return s, fmt.Errorf("context grpcCount=%s: give how many servers run, from 1 to %d", count, maxServers)
	}
	if s.Budget, err = strconv.Atoi(budget); err != nil || s.Budget < 1 {
		return s, fmt.Errorf("context budget=%s: give how many US dollars a month may cost, such as 50", budget)
	}
	err = s.check()
	if s.AlarmEmail == noMail {
		s.AlarmEmail = ""
	}
	return s, err
}

// maxServers is far above the number of servers that one table can serve.
const maxServers = 100

func (s settings) check() error {
	for _, pair := range []struct{ one, other, names string }{
		{s.Issuer, s.Audience, "issuer and audience"},
		{s.Domain, s.Certificate, "domain and certificate"},
		{s.MailFrom, s.MailIdentity, "mailFrom and mailIdentity"},
		{s.RestoredTable, s.RestoredStream, "table and tableStream"},
	} {
		if (pair.one == "") != (pair.other == "") {
			return fmt.Errorf("context: give both %s, or neither", pair.names)
		}
	}
	if err := s.checkSignIn(); err != nil {
		return err
	}
	if _, err := quota.Parse(record.DefaultQuotas(), s.Quotas); err != nil {
		return fmt.Errorf("context quotas: %w", err)
	}
	for _, o := range s.Origins {
		if o != "*" && (!isURL(o, "http", "https") || strings.Count(o, "/") != 2) {
			return fmt.Errorf("context origins=%s: give * or origins such as https://pages.example, separated by commas", o)
		}
	}
	if s.GRPC.On && s.GRPC.Certificate == "" {
		return errors.New("context grpc=on: give grpcCertificate too, the ARN of a certificate in AWS Certificate Manager for the name at " +
			"which workers will reach the server, in the region of the stack; without TLS, tokens would travel in the open")
	}
	for _, c := range []struct{ key, arn, of string }{
		{"certificate", s.Certificate, "a certificate in AWS Certificate Manager, in the region of the stack"},
		{"grpcCertificate", s.GRPC.Certificate, "a certificate in AWS Certificate Manager, in the region of the stack"},
		{"mailIdentity", s.MailIdentity, "a verified identity of Amazon SES, such as arn:aws:ses:eu-central-1:111122223333:identity/lab.example"},
	} {
		if c.arn != "" && !strings.HasPrefix(c.arn, "arn:") {
			return fmt.Errorf("context %s=%s: give the ARN of %s", c.key, c.arn, c.of)
		}
	}
	return s.checkMail()
}

// noMail is the value of alarmEmail for alarms without a recipient.
const noMail = "none"

func (s settings) checkMail() error {
	if s.AlarmEmail == "" && s.AsksForMail {
		return fmt.Errorf("context alarmEmail: give the e-mail address that alarms of %s are sent to, as -c alarmEmail=ada@lab.example or in "+
			"cdk.json; -c alarmEmail=%s, when they go to nobody", s.Name, noMail)
	}
	for _, m := range []struct{ key, address string }{{"alarmEmail", s.AlarmEmail}, {"mailFrom", s.MailFrom}} {
		if m.address != "" && m.address != noMail && !strings.Contains(m.address, "@") {
			return fmt.Errorf("context %s=%s: give an e-mail address", m.key, m.address)
		}
	}
	return nil
}

func (s settings) checkSignIn() error {
	if s.ClientID != "" && s.Issuer == "" {
		return errors.New("context clientId: give issuer and audience too; the user pool of the stack has a client of its own")
	}
	if s.VerifiesEmail && s.Issuer == "" {
		return errors.New("context issuerVerifiesEmail: give issuer and audience too; tokens of the user pool of the stack say which addresses " +
			"are confirmed")
	}
	if s.Issuer != "" && !isURL(s.Issuer, "https") {
		return fmt.Errorf("context issuer=%s: give its https URL, exactly as it stands in its tokens", s.Issuer)
	}
	for _, u := range s.SignInReturns {
		if !isURL(u, "https") && !isLocal(u) {
			return fmt.Errorf("context signInReturns=%s: give https URLs, or http://localhost ones, separated by commas", u)
		}
	}
	return nil
}

func isURL(s string, schemes ...string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && slices.Contains(schemes, u.Scheme)
}

// isLocal reports whether u is an http URL of the machine on which it is opened.
func isLocal(u string) bool {
	parsed, err := url.Parse(u)
	return err == nil && parsed.Scheme == "http" && parsed.Hostname() == "localhost"
}
