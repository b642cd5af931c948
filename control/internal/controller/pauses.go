package controller

// pause lets the leases of a policy run out, until it is resumed or the controller restarts. It says
// whether there is such a policy.
func (c *Controller) pause(name, by string) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.hasPolicy(name) {
		return false
	}
	c.paused[name] = by
	return true
}

// resume ends a pause. It says whether there is such a policy.
func (c *Controller) resume(name string) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.hasPolicy(name) {
		return false
	}
	delete(c.paused, name)
	return true
}

// pausedBy says who paused a policy, if it is paused.
func (c *Controller) pausedBy(name string) (string, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	by, paused := c.paused[name]
	return by, paused
}

func (c *Controller) countPaused() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.paused)
}

// forgetPauses drops the pauses of policies that are no longer configured, which must have been published: one that
// is paused meanwhile is dropped, too, or refused.
func (c *Controller) forgetPauses() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for name := range c.paused {
		if !hasName(c.config.Policies, name) {
			delete(c.paused, name)
		}
	}
}

func (c *Controller) hasPolicy(name string) bool {
	return hasName(c.published.Load().config.Policies, name)
}

func hasName(policies []Policy, name string) bool {
	for _, policy := range policies {
		if policy.Name == name {
			return true
		}
	}
	return false
}
