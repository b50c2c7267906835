package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/shared/edge/mail/mailtest"
)

// TestJoin_ChangesATeam changes a registered team by join. submit refuses to change it, and names the command that does.
func TestJoin_ChangesATeam(t *testing.T) {
	s, tom, _ := prepared(t)
	run := tom.write("run.txt", goodRun)
	tom.says(done, []string{"Otters takes part in Lake search: accepted.\n"}, "join", "Lake search", "--team", "Otters")
	tom.says(done, []string{"tom submits to Lake search, dataset Rivers, for the team Otters.\n"},
		"submit", "Lake search", "Rivers="+run, "--team", "Otters")
	tom.says(failed, []string{
		"You are in the team Otters of Lake search already, and submit does not change it: leave --affiliation and --team out.",
		`Try: assay join 'Lake search' --affiliation='Lake Lab' --team=Seals` + "\n"},
		"submit", "Lake search", "Rivers="+run, "--team", "Seals", "--affiliation", "Lake Lab")
	tom.says(failed, []string{"leave --anonymous out"}, "submit", "Lake search", "Rivers="+run, "--anonymous")
	if runs := tom.ids("runs"); len(runs) != 1 {
		t.Errorf("there are the runs %v", runs)
	}
	tom.says(done, []string{"Seals takes part in Lake search: accepted. Changed: affiliation, anonymous, team."}, "join", "Lake search",
		"--team", "Seals", "--affiliation", "Lake Lab", "--anonymous")
	tom.says(done, []string{"for the team Seals, which others see as anonymous-"}, "submit", "Lake search", "Rivers="+run)
	if got := tom.says(done, nil, "join", "Lake search", "--team", "Seals"); strings.Contains(got, "Changed") {
		t.Errorf("an equal name is a change: %s", got)
	}
	tom.says(done, []string{"Changed: anonymous."}, "join", "Lake search", "--anonymous=false")
	ben := s.person("ben")
	link := strings.TrimSpace(tom.want(done, "invite", "Lake search"))
	ben.says(failed, []string{"This invitation makes no new team, so it does not go with --team."}, "join", link, "--team", "Bens")
	ben.says(done, []string{"Joined Lake search in the team Seals.\n"}, "join", link)
	ben.says(notFound, []string{"only its owner changes it: leave --team out."}, "join", "Lake search", "--team", "Bens")
	ben.says(notFound, []string{"Only the organizers of Lake search submit baselines."}, "submit", "Lake search", "Rivers="+run, "--baseline")
	ben.says(done, []string{"ben submits to Lake search, dataset Rivers, for the team Seals."}, "submit", "Lake search", "Rivers="+run)
}

// TestLogin_SaysWhoCommandsActAs signs in while variables of the environment have precedence.
func TestLogin_SaysWhoCommandsActAs(t *testing.T) {
	s := serve(t, "embedded")
	ada, nora := s.person("ada"), s.person("nora")
	nora.env = map[string]string{"ASSAY_TOKEN": strings.TrimSpace(ada.want(done, "tokens", "create", "ci"))}
	nora.says(done, []string{"Signed in to " + s.url + " as nora.", "commands act as ada. To act as nora: unset ASSAY_TOKEN"},
		"login", s.url, "--user", "nora")
	nora.says(done, []string{"ASSAY_TOKEN is set, so commands with --server still act as its user"}, "logout")
	nora.says(notSignedIn, []string{"no server is known"}, "runs")
	nora.says(done, nil, "runs", "--server", s.url)
	nora.env["ASSAY_URL"] = s.url
	nora.says(done, []string{"ASSAY_TOKEN is set, so commands still act as its user"}, "logout")
	nora.says(done, nil, "runs")
	delete(nora.env, "ASSAY_URL")
	nora.env["ASSAY_TOKEN"] = "assay_nothing"
	nora.says(done, []string{"the server refuses it", "unset ASSAY_TOKEN"}, "login", s.url, "--user", "nora")
	nora.env["ASSAY_URL"] = "https://other.example"
	nora.says(done, []string{"commands ask https://other.example", "unset ASSAY_URL"}, "login", s.url, "--user", "nora")
	nora.says(failed, []string{"--user has no name"}, "login", s.url, "--user", "")
	nora.says(failed, []string{"--with-token does not go with --user"}, "login", s.url, "--user", "nora", "--with-token")
	nora.says(failed, []string{"There is no token on standard input"}, "login", s.url, "--with-token")
}

// TestInvite_SaysThatNothingIsSent invites an address through servers without and with a mail server.
func TestInvite_SaysThatNothingIsSent(t *testing.T) {
	s, tom, _ := prepared(t)
	tom.want(done, "join", "Lake search")
	got := tom.says(done, []string{"This server sends no e-mails: send the link to ben@lab.example yourself.", s.url + "/console#"},
		"invite", "Lake search", "--email", "ben@lab.example")
	if _, link, _ := strings.Cut(got, s.url); !strings.Contains(link, "assay-invitation_") {
		t.Errorf("there is no link in %s", got)
	}
	tom.says(failed, []string{"--uses: "}, "invite", "Lake search", "--uses", "100000")
	s.kill()
	s.args = append(s.args, "-smtp", mailtest.New(t).URL, "-mail-from", "Assay <assay@lab.example>")
	s.start()
	if got := tom.want(done, "invite", "Lake search", "--email", "ben@lab.example"); strings.Contains(got, "sends no e-mails") {
		t.Error(got)
	}
}

// TestInvite_OfOrganizersNamesATeam invites into a team as an organizer without a team, and as somebody who is none.
func TestInvite_OfOrganizersNamesATeam(t *testing.T) {
	s, tom, _ := prepared(t)
	olga, ben := s.person("olga"), s.person("ben")
	tom.want(done, "join", "Lake search", "--team", "Otters")
	olga.says(notFound, []string{"--team TEAM, to invite into a team"}, "invite", "Lake search")
	link := strings.TrimSpace(olga.want(done, "invite", "Lake search", "--team", "otters"))
	ben.says(done, []string{"Joined Lake search in the team Otters.\n"}, "join", link)
	olga.says(notFound, []string{`There is no team "Seals"`}, "invite", "Lake search", "--team", "Seals")
	olga.says(failed, []string{"does not go with"}, "invite", "Lake search", "--team", "Otters", "--to-task")
	tom.says(notFound, []string{"Only the organizers of Lake search name the team to invite into."},
		"invite", "Lake search", "--team", "Otters")
}

// TestTokens_WorkForPools makes tokens for workers of an organizer, which people name.
func TestTokens_WorkForPools(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	olga.want(done, "apply", olga.write("task.yaml", "organizer: Lake Lab\ntask: {name: Lakes}\n"))
	create := []string{"tokens", "create", "worker", "--scopes", "work"}
	olga.says(failed, []string{"assay: --pools: must name pools of your organizers"}, create...)
	olga.says(notFound, []string{`no member of an organizer "Lake Lap". Did you mean "Lake Lab"?`},
		append(create, "--pools", "Lake Lap/gpu")...)
	olga.says(failed, []string{"assay: --pools: "}, append(create, "--pools", "gpu")...)
	olga.want(done, append(create, "--pools", "lake lab/gpu")...)
	if pool := decode[[]object](t, olga.want(done, "tokens", "--json"))[0].text("pools"); !strings.HasSuffix(pool, "/gpu") {
		t.Errorf("the token is for the pool %q", pool)
	}
	for _, days := range []string{"0", "-3", "366"} {
		olga.says(failed, []string{"--days: must be from 1 to 365, and is " + days + ".\n"}, "tokens", "create", "ci", "--days", days)
	}
	olga.says(fileRefused, []string{"The announcement has no text"}, "announce", "Lakes", "--title", "News")
	olga.in = " \n"
	olga.says(fileRefused, []string{"The announcement has no text"}, "announce", "Lakes", "--title", "News")
	olga.in = "There is news."
	olga.says(failed, []string{"assay: --title: "}, "announce", "Lakes")
}

// TestSubmit_ChecksSizesFirst refuses files by their size before it reads or sends them.
func TestSubmit_ChecksSizesFirst(t *testing.T) {
	s, tom, _ := prepared(t)
	path := tom.write("large.bin", "x")
	if err := os.Truncate(path, 2<<30+1); err != nil {
		t.Fatal(err)
	}
	tom.says(fileRefused, []string{"large.bin has 2.0 GiB (2147483649 bytes), and this server takes files of at most 1 GiB for it."},
		"submit", "Lake search", "Rivers="+path)
	tom.says(fileRefused, []string{"empty.txt is empty."}, "submit", "Lake search", "Rivers="+tom.write("empty.txt", ""))
	olga := s.person("olga")
	file := olga.write("task.yaml", strings.ReplaceAll(taskFile, "topics.tsv", path))
	olga.write("qrels.txt", qrelsFile)
	olga.says(fileRefused, []string{filepath.Base(path) + " has 2.0 GiB (2147483649 bytes)", "takes files of at most 2 GiB for it."},
		"apply", file)
}

// TestTasks_WithEqualNamesHaveOrganizers names a task that two organizers have.
func TestTasks_WithEqualNamesHaveOrganizers(t *testing.T) {
	s := serve(t, "embedded")
	for user, organizer := range map[string]string{"olga": "Lake Lab", "otto": "Sea Lab"} {
		p := s.person(user)
		p.want(done, "apply", p.write("task.yaml", "organizer: "+organizer+"\ntask: {name: Lakes}\n"))
	}
	s.person("tom").says(failed, []string{"Which task is meant?", "Lakes, by Lake Lab", "Lakes, by Sea Lab",
		"Try: the same command with its ID"}, "join", "Lakes")
}
