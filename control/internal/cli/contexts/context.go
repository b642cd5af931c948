// Package contexts keeps how clusters are reached: named contexts, in a file of the user over one of
// the system.
package contexts

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"sluice.dev/control/internal/store"
)

// Context says how a cluster is reached, and with which certificate.
type Context struct {
	// Cluster is its name, as certificates have it.
	Cluster string `yaml:"cluster,omitempty"`
	// Controller is HOST:PORT of a controller; Agent that of the agent of Node. One of them is given.
	Controller string `yaml:"controller,omitempty"`
	Agent      string `yaml:"agent,omitempty"`
	Node       string `yaml:"node,omitempty"`
	// Files in PEM: the certificate and the key of whoever runs the command, the authority of the cluster.
	// A relative path starts at the folder of the context file.
	CertificateFile string `yaml:"certificate_file,omitempty"`
	KeyFile         string `yaml:"key_file,omitempty"`
	CAFile          string `yaml:"ca_file,omitempty"`
}

// Over returns c with what it leaves empty taken from below. A controller or an agent, with its node,
// replaces either.
func (c Context) Over(below Context) Context {
	if c.Controller == "" && c.Agent == "" {
		c.Controller, c.Agent = below.Controller, below.Agent
		if c.Agent != "" {
			c.Node = either(c.Node, below.Node)
		}
	}
	c.Cluster = either(c.Cluster, below.Cluster)
	c.CertificateFile = either(c.CertificateFile, below.CertificateFile)
	c.KeyFile = either(c.KeyFile, below.KeyFile)
	c.CAFile = either(c.CAFile, below.CAFile)
	return c
}

func either(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

// Validate says what is missing or wrong. Errors are of type *store.Error.
func (c Context) Validate() error {
	if err := c.validateAddress(); err != nil {
		return err
	}
	for _, needed := range []struct{ key, value, meaning string }{
		{"cluster", c.Cluster, "the name of the cluster, as its certificates have it"},
		{"certificate_file", c.CertificateFile, "your certificate in PEM, of the role operator or viewer"},
		{"key_file", c.KeyFile, "the key of your certificate in PEM"},
		{"ca_file", c.CAFile, "the certificate of the cluster's authority in PEM"},
	} {
		if needed.value == "" {
			return store.Invalidf("%s is missing", needed.key).WithHint("It is %s.", needed.meaning)
		}
	}
	return nil
}

func (c Context) validateAddress() error {
	switch {
	case c.Controller == "" && c.Agent == "":
		return store.Invalidf("neither controller nor agent is given").
			WithHint("Give the HOST:PORT of a controller, or of one agent with its node.")
	case c.Controller != "" && c.Agent != "":
		return store.Invalidf("controller and agent are both given").WithHint("Leave one of them out.")
	case c.Agent != "" && c.Node == "":
		return store.Invalidf("the node of agent %s is missing", c.Agent).
			WithHint("Its name is checked against the agent's certificate.")
	case c.Agent != "":
		return validateHostPort("agent", c.Agent)
	default:
		return validateHostPort("controller", c.Controller)
	}
}

func validateHostPort(key, address string) error {
	host, port, err := net.SplitHostPort(address)
	number, parseErr := strconv.ParseUint(port, 10, 16)
	if err == nil && parseErr == nil && host != "" && number > 0 {
		return nil
	}
	return store.Invalidf("%s %q is not HOST:PORT", key, address).
		WithHint("Write it as in db1.example:7413, or [2001:db8::1]:7413.")
}

// WithAbsoluteFiles takes relative paths for those of the current folder, as flags mean them.
func (c Context) WithAbsoluteFiles() (Context, error) {
	folder, err := os.Getwd()
	if err != nil {
		return Context{}, fmt.Errorf("finding the current folder: %w", err)
	}
	return c.from(folder), nil
}

// from makes the paths of its files absolute: relative ones start at a folder.
func (c Context) from(folder string) Context {
	for _, path := range []*string{&c.CertificateFile, &c.KeyFile, &c.CAFile} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(folder, *path)
		}
	}
	return c
}
