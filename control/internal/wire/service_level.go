package wire

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	sluicev1 "sluice.dev/control/internal/gen/sluice/v1"
	"sluice.dev/control/internal/servicelevel"
)

// EncodeServiceLevel gives a service level as a message.
func EncodeServiceLevel(object servicelevel.Object) *sluicev1.ServiceLevel {
	return &sluicev1.ServiceLevel{
		Name: object.Name, Store: object.Store, Scope: object.Scope, Version: object.Version,
		Profile: &sluicev1.ServiceLevelProfile{
			DataBytes: object.Profile.DataBytes, Locality: string(object.Profile.Locality),
			RowBytes: object.Profile.RowBytes, ReadShare: object.Profile.ReadShare,
		},
		Target: &sluicev1.ServiceLevelTarget{
			Statistic: string(object.Target.Statistic), Seconds: object.Target.Seconds,
			MeasuredAt: string(object.Target.MeasuredAt),
		},
		MostOperationsPerSecond: object.MostOperationsPerSecond, Weight: object.Weight,
	}
}

// DecodeServiceLevel reads a service level, by the rules of the files that people write.
func DecodeServiceLevel(message *sluicev1.ServiceLevel) (servicelevel.Object, error) {
	profile, target := message.GetProfile(), message.GetTarget()
	object := servicelevel.Object{
		Name: message.GetName(), Store: message.GetStore(), Scope: message.GetScope(), Version: message.GetVersion(),
		Profile: servicelevel.Profile{
			DataBytes: profile.GetDataBytes(), Locality: servicelevel.Locality(profile.GetLocality()),
			RowBytes: profile.GetRowBytes(), ReadShare: profile.GetReadShare(),
		},
		Target: servicelevel.Target{
			Statistic: servicelevel.Statistic(target.GetStatistic()), Seconds: target.GetSeconds(),
			MeasuredAt: servicelevel.PlaceOf(servicelevel.Place(target.GetMeasuredAt())),
		},
		MostOperationsPerSecond: message.GetMostOperationsPerSecond(), Weight: message.GetWeight(),
	}
	return object, object.Validate()
}

// EncodeServiceLevelState gives how an object fares as a message; begun is when the clock of its times began.
func EncodeServiceLevelState(
	object servicelevel.Object, status servicelevel.Status, begun time.Time,
) *sluicev1.ServiceLevelState {
	message := &sluicev1.ServiceLevelState{
		ServiceLevel: EncodeServiceLevel(object), State: string(status.State), Reason: sentence(status.Reason),
		IsEstimated: status.IsEstimated, ReservedBytes: status.ReservedBytes, Nodes: uint32(status.Nodes),
		WantedAction: string(status.Wanted),
	}
	if status.IsMeasured {
		message.ActualSeconds, message.OperationsPerSecond = &status.ActualSeconds, &status.OperationsPerSecond
	}
	if status.HasHits {
		message.HitShare = &status.HitShare
	}
	for _, taken := range status.Actions {
		message.Actions = append(message.Actions, &sluicev1.ServiceLevelAction{
			TakenAt: timestamppb.New(begun.Add(taken.At)), Action: string(taken.Action), Reason: sentence(taken.Reason),
		})
	}
	return message
}

// EncodeAdmission gives an admission as a message.
func EncodeAdmission(object servicelevel.Object, admission servicelevel.Admission, isChanged bool) *sluicev1.ServiceLevelAdmission {
	message := &sluicev1.ServiceLevelAdmission{
		ServiceLevel: EncodeServiceLevel(object), IsAdmitted: admission.IsAdmitted, IsChanged: isChanged,
		Reason: sentence(admission.Reason), Nearest: sentence(admission.Nearest),
	}
	for _, line := range admission.Lines {
		message.Lines = append(message.Lines, sentence(line))
	}
	return message
}
