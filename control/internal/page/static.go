package page

import (
	"embed"
	"net/http"
	"path"
)

//go:embed static
var files embed.FS

// mediaTypes are those of the files that are served; the machine's own table is not asked.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// securityPolicy allows what this server serves, scripts that never write markup, and nothing inline.
const securityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

func withSecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", securityPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}

func serveIndex(w http.ResponseWriter, r *http.Request) {
	serveFile(w, r, "index.html")
}

func serveStatic(w http.ResponseWriter, r *http.Request) {
	serveFile(w, r, r.PathValue("name"))
}

func serveFile(w http.ResponseWriter, r *http.Request, name string) {
	content, err := files.ReadFile("static/" + name)
	mediaType, known := mediaTypes[path.Ext(name)]
	if err != nil || !known {
		refuse(w, http.StatusNotFound, "there is no such file")
		return
	}
	writeContent(w, r, mediaType, content)
}
