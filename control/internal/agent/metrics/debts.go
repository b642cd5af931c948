package metrics

import "sluice.dev/control/internal/store"

// total is the debt of one kind, over the scopes of a store.
type total struct {
	store.Debt
	// used is the largest share of its hard bound that a scope has used up, negative if none has one.
	used float64
	// ofStore says that the store has told its own total, so that parts are not added to it.
	ofStore bool
}

func totalDebts(debts []store.Debt) map[store.Kind]total {
	totals := make(map[store.Kind]total)
	for _, debt := range debts {
		sum, known := totals[debt.Kind]
		if !known {
			sum = total{Debt: store.Debt{EstimatedRecovery: -1}, used: -1}
		}
		totals[debt.Kind] = sum.plus(debt)
	}
	return totals
}

func (t total) plus(debt store.Debt) total {
	recovery := max(t.EstimatedRecovery, debt.EstimatedRecovery)
	if debt.LimitBytes > 0 {
		t.used = max(t.used, float64(debt.Bytes)/float64(debt.LimitBytes))
	}
	switch {
	case debt.Scope == "":
		t.Debt, t.ofStore = debt, true
	case !t.ofStore:
		t.Bytes += debt.Bytes
		t.TriggerBytes += debt.TriggerBytes
		t.LimitBytes += debt.LimitBytes
		t.Files += debt.Files
	}
	t.EstimatedRecovery = recovery
	return t
}

func (s sink) debt(kind store.Kind, debt total) {
	label := string(kind)
	s.gauge(debtBytes, float64(debt.Bytes), label)
	s.gauge(debtFiles, float64(debt.Files), label)
	if debt.TriggerBytes > 0 {
		s.gauge(debtTrigger, float64(debt.TriggerBytes), label)
	}
	if debt.LimitBytes > 0 {
		s.gauge(debtLimit, float64(debt.LimitBytes), label)
	}
	if debt.used >= 0 {
		s.gauge(debtUsed, debt.used, label)
	}
	if debt.EstimatedRecovery >= 0 {
		s.gauge(debtRecovery, debt.EstimatedRecovery.Seconds(), label)
	}
}
