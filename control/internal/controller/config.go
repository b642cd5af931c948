// Package controller reads the agents of a cluster once a period, runs policies, and writes leases.
package controller

import (
	_ "embed" // for the schema
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/goccy/go-yaml"

	"sluice.dev/control/internal/document"
)

// Schema is the JSON Schema of the configuration file, for editors. Check rests on the same one.
//
//go:embed config.schema.json
var Schema []byte

var configSchema = document.NewSchema("config.schema.json", Schema)

// Problem is one thing that is wrong with a configuration, Problems is everything.
type (
	Problem  = document.Problem
	Problems = document.Problems
)

// Config is the configuration of a controller, as docs/controller.md describes it. It comes from Load;
// a Config that was put together otherwise has not been checked.
type Config struct {
	// Path is the file that it was read from, and is read from again.
	Path string `yaml:"-"`
	// text is what was in the file then.
	text []byte `yaml:"-"`

	Cluster                string        `yaml:"cluster"`
	Name                   string        `yaml:"name"`
	Listen                 string        `yaml:"listen"`
	Page                   Page          `yaml:"page"`
	TLS                    TLS           `yaml:"tls"`
	LogLevel               string        `yaml:"log_level"`
	PeriodSeconds          float64       `yaml:"period_seconds"`
	LeaseTimeToLiveSeconds float64       `yaml:"lease_time_to_live_seconds"`
	RequestTimeoutSeconds  float64       `yaml:"request_timeout_seconds"`
	StaleSeconds           float64       `yaml:"stale_seconds"`
	DryRun                 bool          `yaml:"dry_run"`
	Agents                 []Agent       `yaml:"agents"`
	Coordination           *Coordination `yaml:"coordination"`
	Prometheus             *Prometheus   `yaml:"prometheus"`
	Policies               []Policy      `yaml:"policies"`
	ServiceLevels          ServiceLevels `yaml:"service_levels"`
}

// ServiceLevels says where service levels are kept.
type ServiceLevels struct {
	// StateFile is for a cluster without coordination; with it, they are kept there.
	StateFile string `yaml:"state_file"`
}

// Page says where the web page and the metrics are served.
type Page struct {
	Listen                   string `yaml:"listen"`
	RequireClientCertificate bool   `yaml:"require_client_certificate"`
}

// TLS names the PEM files of an identity, and of the authority that it trusts.
type TLS struct {
	CertificateFile string `yaml:"certificate_file"`
	KeyFile         string `yaml:"key_file"`
	CAFile          string `yaml:"ca_file"`
}

// Agent is the agent of a node.
type Agent struct {
	Node    string `yaml:"node"`
	Address string `yaml:"address"`
}

// Coordination says how the active controller is elected.
type Coordination struct {
	Etcd Etcd `yaml:"etcd"`
}

// Etcd is an etcd cluster.
type Etcd struct {
	Endpoints                []string `yaml:"endpoints"`
	TLS                      *TLS     `yaml:"tls"`
	KeyPrefix                string   `yaml:"key_prefix"`
	SessionTimeToLiveSeconds int      `yaml:"session_time_to_live_seconds"`
}

// Prometheus is the server that signals are taken from.
type Prometheus struct {
	URL string `yaml:"url"`
	TLS *TLS   `yaml:"tls"`
}

// Policy is one policy and what it decides about.
type Policy struct {
	Name string `yaml:"name"`
	// Type is one of policies.Kinds().
	Type    string            `yaml:"type"`
	Targets Targets           `yaml:"targets"`
	Signals map[string]Signal `yaml:"signals"`
	// Replace takes leases over from other owners.
	Replace    bool           `yaml:"replace"`
	Parameters map[string]any `yaml:"parameters"`
}

// Targets selects tasks: of a kind and scope, of the instances of a store on some nodes. No nodes stand
// for all nodes, no instances for all instances.
type Targets struct {
	Store     string   `yaml:"store"`
	Kind      string   `yaml:"kind"`
	Scope     string   `yaml:"scope"`
	Nodes     []string `yaml:"nodes"`
	Instances []string `yaml:"instances"`
}

// Signal is a PromQL query.
type Signal struct {
	Query        string `yaml:"query"`
	StaleSeconds int    `yaml:"stale_seconds"`
}

const (
	defaultListen                   = ":7413"
	defaultPageListen               = "127.0.0.1:7414"
	defaultLogLevel                 = "info"
	defaultPeriodSeconds            = 1
	defaultLeaseTimeToLiveSeconds   = 5
	defaultRequestTimeoutSeconds    = 0.5
	defaultStaleSeconds             = 3
	defaultSessionTimeToLiveSeconds = 2
	defaultKeyPrefix                = "/sluice"
	// defaultSignalStaleSeconds is twice a scrape interval of 15 s, which is a usual one.
	defaultSignalStaleSeconds = 30

	// maxConfigBytes is enough for 20,000 agents.
	maxConfigBytes = 4 << 20
)

var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// Load reads and checks a configuration file. What is wrong with its content is an error of type
// Problems.
func Load(path string) (Config, error) {
	text, err := readFile(path)
	if err != nil {
		return Config{}, err
	}
	config, problems := parse(text)
	if len(problems) > 0 {
		return Config{}, fmt.Errorf("%s: %w", path, problems)
	}
	config.Path, config.text = path, text
	return config, nil
}

// Check says everything that is wrong with a configuration file, in the order of its lines.
func Check(path string) []Problem {
	_, err := Load(path)
	if err == nil {
		return nil
	}
	var problems Problems
	if errors.As(err, &problems) {
		return problems
	}
	return []Problem{{Message: err.Error()}}
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the controller's configuration: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxConfigBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the controller's configuration: %w", err)
	}
	return text, nil
}

// parse reads a configuration that has passed the schema, so that it fails only where the schema is
// wrong, and then checks what no schema can say.
func parse(text []byte) (Config, Problems) {
	written, problems := document.Read(text, maxConfigBytes, "docs/controller.md")
	if len(problems) > 0 {
		return Config{}, problems
	}
	if problems := written.Check(configSchema); len(problems) > 0 {
		return Config{}, problems
	}
	config := defaultConfig()
	if err := yaml.UnmarshalWithOptions(text, &config, yaml.Strict()); err != nil {
		return Config{}, Problems{document.SyntaxProblem(err)}
	}
	config.setDefaults()
	if problems := config.check(); len(problems) > 0 {
		return Config{}, written.Locate(problems)
	}
	return config, nil
}

func defaultConfig() Config {
	return Config{
		Listen:                 defaultListen,
		LogLevel:               defaultLogLevel,
		PeriodSeconds:          defaultPeriodSeconds,
		LeaseTimeToLiveSeconds: defaultLeaseTimeToLiveSeconds,
		RequestTimeoutSeconds:  defaultRequestTimeoutSeconds,
		StaleSeconds:           defaultStaleSeconds,
	}
}

// setDefaults fills in what lies below a list or an optional part.
func (c *Config) setDefaults() {
	if c.Page.Listen == "" {
		c.Page.Listen = defaultPageListen
	}
	if c.Coordination != nil {
		c.Coordination.Etcd.setDefaults()
	}
	for _, policy := range c.Policies {
		for name, signal := range policy.Signals {
			if signal.StaleSeconds == 0 {
				signal.StaleSeconds = defaultSignalStaleSeconds
				policy.Signals[name] = signal
			}
		}
	}
}

func (e *Etcd) setDefaults() {
	if e.SessionTimeToLiveSeconds == 0 {
		e.SessionTimeToLiveSeconds = defaultSessionTimeToLiveSeconds
	}
	if e.KeyPrefix == "" {
		e.KeyPrefix = defaultKeyPrefix
	}
}

// Level is the least level of what is logged.
func (c Config) Level() slog.Level { return logLevels[c.LogLevel] }

// Period is the time between two decisions about a target.
func (c Config) Period() time.Duration { return seconds(c.PeriodSeconds) }

// LeaseTimeToLive is after what time without renewal a store goes back to its own configuration.
func (c Config) LeaseTimeToLive() time.Duration { return seconds(c.LeaseTimeToLiveSeconds) }

// RequestTimeout is how long reading all agents may take, and again writing to all.
func (c Config) RequestTimeout() time.Duration { return seconds(c.RequestTimeoutSeconds) }

// Stale is the age beyond which a snapshot is not acted on.
func (c Config) Stale() time.Duration { return seconds(c.StaleSeconds) }

// leastTimeLeft is what a lease must have left at the beginning of a period for the period not to renew it,
// so that neither one lost renewal nor the way to another controller ends it.
func (c Config) leastTimeLeft() time.Duration {
	least := 2 * (c.Period() + c.RequestTimeout())
	if c.Coordination != nil {
		least = max(least, c.Coordination.Etcd.SessionTimeToLive()+c.Period()+2*c.RequestTimeout())
	}
	return least
}

// SessionTimeToLive is after what time another controller takes over.
func (e Etcd) SessionTimeToLive() time.Duration { return seconds(float64(e.SessionTimeToLiveSeconds)) }

// Stale is the age beyond which a sample is not acted on.
func (s Signal) Stale() time.Duration { return seconds(float64(s.StaleSeconds)) }

func seconds(count float64) time.Duration { return time.Duration(count * float64(time.Second)) }
