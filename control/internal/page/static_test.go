package page

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
)

func TestSecurityHeaders(t *testing.T) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	for _, where := range []string{"/", "/static/page.css", "/static/none", "/api/cluster", "/api/cluster?limit=x", "/none"} {
		header := ask(p, http.MethodGet, where).Header
		policy := header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: Content-Security-Policy is %q", where, policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", where, name, got, want)
			}
		}
	}
}

func TestReadingAlone(t *testing.T) {
	c := newTestCluster(1)
	p := New(c, c.Now)
	for _, where := range []string{"/", "/static/main.js", "/api/cluster", "/api/history", "/api/decisions", "/api/events"} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
			response := ask(p, method, where)
			if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %s, Allow %q", method, where, response.Status, response.Header.Get("Allow"))
			}
		}
	}
	// A request without a body in return must not become a stream.
	response := ask(p, http.MethodHead, "/api/events")
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD /api/events: %s, %q", response.Status, response.Header.Get("Content-Type"))
	}
}

func TestEveryFileIsServed(t *testing.T) {
	c := newTestCluster(1)
	server := httptest.NewServer(New(c, c.Now))
	defer server.Close()
	for _, name := range fileNames(t) {
		response, err := http.Get(server.URL + "/static/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK || len(text) == 0 {
			t.Errorf("%s: %s, %d bytes, %v", name, response.Status, len(text), err)
		}
		if got, want := response.Header.Get("Content-Type"), mediaTypes[path.Ext(name)]; got != want {
			t.Errorf("%s is served as %q, want %q", name, got, want)
		}
	}
}

var (
	// elsewhere is an address that is not of this server; the name space of SVG is never fetched.
	elsewhere = regexp.MustCompile(`(?:https?:)?//[a-z0-9-]+\.[a-z]`)
	// asMarkup is how text would become markup or code.
	asMarkup = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|srcdoc|createContextualFragment|DOMParser`)
	// inline is what the policy of the page would refuse.
	inline = regexp.MustCompile(`<style|\sstyle=|\son[a-z]+=|<script>|javascript:`)
	// referred is a file that the page, a style or a module needs.
	referred = regexp.MustCompile(`(?:(?:src|href)="/static/|from "\./)([^"]+)"`)
)

func TestFilesNeedNothingElse(t *testing.T) {
	names := fileNames(t)
	for _, name := range names {
		content, err := files.ReadFile("static/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(content), "http://www.w3.org/2000/svg", "")
		for what, pattern := range map[string]*regexp.Regexp{"another host": elsewhere, "text as markup": asMarkup, "inline code": inline} {
			if found := pattern.FindString(text); found != "" {
				t.Errorf("%s: %s: %q", name, what, found)
			}
		}
		for _, match := range referred.FindAllStringSubmatch(text, -1) {
			if _, err := files.ReadFile("static/" + match[1]); err != nil {
				t.Errorf("%s needs %s: %v", name, match[1], err)
			}
		}
	}
}

func fileNames(t *testing.T) []string {
	t.Helper()
	found, err := fs.Glob(files, "static/*")
	if err != nil || len(found) < 10 {
		t.Fatalf("%d files, %v", len(found), err)
	}
	for i, name := range found {
		found[i] = path.Base(name)
	}
	return found
}
