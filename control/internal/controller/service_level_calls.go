package controller

import (
	"context"
	"slices"
	"strconv"
	"strings"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/policies"
	"sluice.dev/control/internal/policy"
	"sluice.dev/control/internal/security"
	"sluice.dev/control/internal/servicelevel"
	"sluice.dev/control/internal/servicelevel/objectstore"
	"sluice.dev/control/internal/store"
	"sluice.dev/control/internal/wire"
)

// swapTries is how often a change is tried anew when another one was made meanwhile.
const swapTries = 3

// ListServiceLevels returns what is kept, and how each fares by the policy of its store.
func (s *service) ListServiceLevels(
	ctx context.Context, _ *sluicev1.ListServiceLevelsRequest,
) (*sluicev1.ListServiceLevelsResponse, error) {
	set, err := s.controller.levels.read(ctx)
	if err != nil {
		return nil, err
	}
	response := &sluicev1.ListServiceLevelsResponse{}
	for _, object := range set.Objects {
		response.ServiceLevels = append(response.ServiceLevels, s.stateOf(object))
	}
	return response, nil
}

// pageActions is how many actions of each the page shows.
const pageActions = 16

// levels is what the page shows of service levels: those that were last read.
func (s *service) levels() []*sluicev1.ServiceLevelState {
	var all []*sluicev1.ServiceLevelState
	for _, object := range s.controller.levels.all() {
		state := s.stateOf(object)
		state.Actions = state.GetActions()[max(0, len(state.GetActions())-pageActions):]
		all = append(all, state)
	}
	return all
}

func (s *service) stateOf(object servicelevel.Object) *sluicev1.ServiceLevelState {
	c := s.controller
	status, isThere := c.published.Load().statuses[object.Name]
	switch state := c.elector.State(); {
	case !state.Active:
		// What it knew when it was the active one may no longer be so.
		status = servicelevel.Status{State: servicelevel.Unknown, Reason: "this controller is not the active one: ask " + state.Leader}
	case !isThere:
		status = servicelevel.Status{State: servicelevel.Unknown, Reason: "the policy of " + object.Store + " has not decided about it yet"}
	}
	return wire.EncodeServiceLevelState(object, status, c.startedAt)
}

// ApplyServiceLevels keeps all of the request's service levels, or none: those are admitted that can be promised beside
// all that are kept and come before them.
func (s *service) ApplyServiceLevels(
	ctx context.Context, request *sluicev1.ApplyServiceLevelsRequest,
) (*sluicev1.ApplyServiceLevelsResponse, error) {
	asked, err := decodeServiceLevels(request.GetServiceLevels())
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		response, err := s.applyOnce(ctx, asked, request.GetIsDryRun())
		if store.CodeOf(err) == store.CodeConflict && try < swapTries {
			continue
		}
		if err == nil {
			s.logAdmissions(ctx, response, request.GetIsDryRun())
		}
		return response, err
	}
}

func decodeServiceLevels(messages []*sluicev1.ServiceLevel) ([]servicelevel.Object, error) {
	if len(messages) == 0 || len(messages) > servicelevel.MaxObjects {
		return nil, store.Invalidf("there are %d service levels, 1 to %d can be applied at once", len(messages), servicelevel.MaxObjects).
			WithHint("Apply a file with so many.")
	}
	asked := make([]servicelevel.Object, len(messages))
	for i, message := range messages {
		object, err := wire.DecodeServiceLevel(message)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(asked[:i], func(other servicelevel.Object) bool { return other.Name == object.Name }) {
			return nil, store.Invalidf("the service level %s is there twice", object.Name).
				WithHint("Leave one of the two out, or give it another name.")
		}
		asked[i] = object
	}
	return asked, nil
}

// applyOnce admits beside what is kept now. The error is of code store.CodeConflict if that has changed when it is done.
func (s *service) applyOnce(
	ctx context.Context, asked []servicelevel.Object, isDryRun bool,
) (*sluicev1.ApplyServiceLevelsResponse, error) {
	set, err := s.controller.levels.read(ctx)
	if err != nil {
		return nil, err
	}
	objects, response := slices.Clone(set.Objects), &sluicev1.ApplyServiceLevelsResponse{}
	isChanged := false
	for _, object := range asked {
		admission, next, err := s.admit(object, objects, set, len(asked) > 1)
		if err != nil {
			return nil, err
		}
		response.Admissions = append(response.Admissions, admission)
		isChanged = isChanged || admission.GetIsChanged()
		if !admission.GetIsAdmitted() {
			return response, nil
		}
		objects = next
	}
	if isDryRun || !isChanged {
		response.IsStored = !isDryRun
		return response, nil
	}
	if err := s.controller.levels.swap(ctx, set, objects); err != nil {
		return nil, err
	}
	response.IsStored = true
	return response, nil
}

// admit says whether an object can be promised beside others, and gives them all if it can. One of several that is
// admitted is shown without the arithmetic of the others: that of all for each would be more than an answer holds.
func (s *service) admit(
	object servicelevel.Object, others []servicelevel.Object, set objectstore.Set, isOneOfSeveral bool,
) (*sluicev1.ServiceLevelAdmission, []servicelevel.Object, error) {
	place := slices.IndexFunc(others, func(other servicelevel.Object) bool { return other.Name == object.Name })
	if err := checkVersion(object, others, place); err != nil {
		return nil, nil, err
	}
	if err := checkScope(object, others); err != nil {
		return nil, nil, err
	}
	resources, err := s.resourcesOf(object.Store)
	if err != nil {
		return nil, nil, err
	}
	if place >= 0 && others[place].SameDemand(object) {
		kept := servicelevel.Admission{IsAdmitted: true, Lines: []string{object.Name + " is kept as it is"}}
		return wire.EncodeAdmission(others[place], kept, false), others, nil
	}
	object.Version = strconv.FormatUint(set.Revision+1, 10)
	beside := slices.DeleteFunc(slices.Clone(others), func(other servicelevel.Object) bool { return other.Name == object.Name })
	if len(beside) >= servicelevel.MaxObjects {
		return nil, nil, store.Errorf(store.CodeRefused, "there are %d service levels, as many as can be", len(beside)).
			WithHint("sluice slo get lists them, sluice slo delete takes one back.")
	}
	admission := servicelevel.Admit(object, ofStore(beside, object.Store), resources)
	if admission.IsAdmitted && isOneOfSeveral {
		admission.Lines = admission.OwnLines
	}
	return wire.EncodeAdmission(object, admission, true), append(beside, object), nil
}

func ofStore(objects []servicelevel.Object, storeKind string) []servicelevel.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(other servicelevel.Object) bool { return other.Store != storeKind })
}

// checkVersion refuses to change an object that is no longer as whoever asks has seen it.
func checkVersion(object servicelevel.Object, others []servicelevel.Object, place int) error {
	switch {
	case object.Version == "":
		return nil
	case place < 0:
		return store.Errorf(store.CodeRefused, "there is no service level %s any more, of which version %s was to be changed",
			object.Name, object.Version).WithHint("Leave the version out to make it anew.")
	case others[place].Version != object.Version:
		return store.Errorf(store.CodeRefused, "the service level %s is of version %s now, not %s", object.Name,
			others[place].Version, object.Version).WithHint("sluice slo get shows it as it is: change that.")
	}
	return nil
}

// checkScope refuses what another object is about as well.
func checkScope(object servicelevel.Object, others []servicelevel.Object) error {
	for _, other := range others {
		isSame := other.Scope == object.Scope || strings.HasPrefix(other.Scope, object.Scope+"/") ||
			strings.HasPrefix(object.Scope, other.Scope+"/")
		if other.Name != object.Name && other.Store == object.Store && isSame {
			return store.Invalidf("%s is about %s, and %s about %s already", object.Name, object.Scope, other.Name, other.Scope).
				WithHint("Give a table one service level, or one to each of its families.")
		}
	}
	return nil
}

// admitter is a policy that says what there is to promise.
type admitter interface {
	Resources(nodes []policy.Target) servicelevel.Resources
}

// resourcesOf is what the nodes of a store can give, by the policy that decides about its service levels.
func (s *service) resourcesOf(storeKind string) (servicelevel.Resources, error) {
	published := s.controller.published.Load()
	place := slices.IndexFunc(published.config.Policies, func(p Policy) bool {
		return isForLevels(p) && p.Targets.Store == storeKind
	})
	if place < 0 {
		return servicelevel.Resources{}, store.Errorf(store.CodeUnsupported, "no policy decides about service levels of %s", storeKind).
			WithHint("Add one of type %s to the controller's configuration; its parameters say what a read costs.", levelsType)
	}
	config := published.config.Policies[place]
	made, err := policies.New(config.Type, config.Parameters)
	if err != nil {
		return servicelevel.Resources{}, err
	}
	selection := newActivePolicy(config, made)
	targets := selection.selectTargets(published.nodes, []string{""}, s.controller.now(), published.config.Stale())
	answering := slices.DeleteFunc(targets, func(target policy.Target) bool { return !target.Fresh })
	resources := made.(admitter).Resources(answering)
	if resources.Nodes == 0 {
		return resources, store.Errorf(store.CodeRefused, "no instance of %s tells now how much of its cache may be reserved", storeKind).
			WithHint("sluice get nodes says whether they answer; docs/service-levels.md what each store needs for it.")
	}
	return resources, nil
}

// logAdmissions is the record of what was promised, refused or only tried, and to whom. What is admitted beside one that
// is refused is not kept.
func (s *service) logAdmissions(ctx context.Context, response *sluicev1.ApplyServiceLevelsResponse, isDryRun bool) {
	caller := "unknown"
	if identity, err := security.FromContext(ctx); err == nil {
		caller = identity.String()
	}
	isKept := response.GetIsStored()
	for _, admission := range response.GetAdmissions() {
		s.controller.log.Info("service level", "name", admission.GetServiceLevel().GetName(), "caller", caller,
			"admitted", admission.GetIsAdmitted(), "kept", isKept, "changed", isKept && admission.GetIsChanged(),
			"dry_run", isDryRun, "version", admission.GetServiceLevel().GetVersion(), "reason", admission.GetReason())
	}
}

// ExplainServiceLevel shows the arithmetic of one that is kept, with the nodes as they are now.
func (s *service) ExplainServiceLevel(
	ctx context.Context, request *sluicev1.ExplainServiceLevelRequest,
) (*sluicev1.ExplainServiceLevelResponse, error) {
	set, err := s.controller.levels.read(ctx)
	if err != nil {
		return nil, err
	}
	place, err := find(set, request.GetName())
	if err != nil {
		return nil, err
	}
	object := set.Objects[place]
	resources, err := s.resourcesOf(object.Store)
	if err != nil {
		return nil, err
	}
	admission := servicelevel.Admit(object, ofStore(set.Objects, object.Store), resources)
	return &sluicev1.ExplainServiceLevelResponse{
		State: s.stateOf(object), Admission: wire.EncodeAdmission(object, admission, false),
	}, nil
}

func find(set objectstore.Set, name string) (int, error) {
	place := slices.IndexFunc(set.Objects, func(object servicelevel.Object) bool { return object.Name == name })
	if place >= 0 {
		return place, nil
	}
	if len(set.Objects) == 0 {
		return 0, store.Errorf(store.CodeNotFound, "there is no service level %q", name).WithHint("There are none.")
	}
	names := make([]string, len(set.Objects))
	for i, object := range set.Objects {
		names[i] = object.Name
	}
	return 0, store.Errorf(store.CodeNotFound, "there is no service level %q", name).
		WithHint("There are: %s.", strings.Join(names, ", "))
}

// DeleteServiceLevel takes a promise back: its leases are not renewed any more.
func (s *service) DeleteServiceLevel(
	ctx context.Context, request *sluicev1.DeleteServiceLevelRequest,
) (*sluicev1.DeleteServiceLevelResponse, error) {
	for try := 1; ; try++ {
		err := s.deleteOnce(ctx, request)
		if err == nil {
			return &sluicev1.DeleteServiceLevelResponse{}, nil
		}
		if store.CodeOf(err) != store.CodeConflict || try == swapTries {
			return nil, err
		}
	}
}

func (s *service) deleteOnce(ctx context.Context, request *sluicev1.DeleteServiceLevelRequest) error {
	set, err := s.controller.levels.read(ctx)
	if err != nil {
		return err
	}
	place, err := find(set, request.GetName())
	if err != nil {
		return err
	}
	wanted := set.Objects[place]
	if wanted.Version = request.GetVersion(); wanted.Version != "" {
		if err := checkVersion(wanted, set.Objects, place); err != nil {
			return err
		}
	}
	return s.controller.levels.swap(ctx, set, slices.Delete(slices.Clone(set.Objects), place, place+1))
}
